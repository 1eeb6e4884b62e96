/**
 * Writes a value by the JSON Canonicalization Scheme (RFC 8785): members sorted by UTF-16 code units, numbers as in
 * ECMAScript.
 *
 * JavaScript objects keep the order in which members are set, so `JSON.stringify` of a sorted copy is enough; that
 * takes half the time of writing member by member. Objects with names that do not keep the order are written member by
 * member.
 */
export function canonicalJson(value: unknown): string {
  const copy = sorted(value ?? null);
  return copy === undefined ? serialize(value) : JSON.stringify(copy);
}

/**
 * Whether a member of this name may lose its position: array indexes always come first, and `__proto__` sets no member.
 */
const losesOrder = (name: string): boolean => (name >= '0' && name < ':') || name === '__proto__';

/** Returns a copy with sorted members; undefined if an object has a member that cannot keep its position. */
function sorted(value: unknown): unknown {
  if (value === null || typeof value !== 'object' || value instanceof Date) return value;
  if (Array.isArray(value)) return sortedItems(value);
  const from = value as Readonly<Record<string, unknown>>;
  const to: Record<string, unknown> = {};
  for (const name of sortedNames(Object.keys(from))) {
    if (from[name] === undefined) continue;
    const member = losesOrder(name) ? undefined : sorted(from[name]);
    if (member === undefined) return undefined;
    to[name] = member;
  }
  return to;
}

function sortedItems(values: readonly unknown[]): unknown[] | undefined {
  const to = values.map((value) => sorted(value ?? null));
  return to.includes(undefined) ? undefined : to;
}

/** Sorts by UTF-16 code units, like `<` and the default `sort`. Most objects are sorted already. */
function sortedNames(names: string[]): string[] {
  const isSorted = names.every((name, index) => index === 0 || (names[index - 1] as string) < name);
  return isSorted ? names : names.sort();
}

function serialize(value: unknown): string {
  if (value === null || typeof value !== 'object' || value instanceof Date)
    return JSON.stringify(value ?? null);
  if (Array.isArray(value)) return `[${value.map(serialize).join(',')}]`;
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${serialize(member)}`);
  return `{${members.join(',')}}`;
}
