/*
 * Repeated parameters at an OAuth endpoint (RFC 6749 §3.1, §3.2). They are refused even if the parameter is unknown,
 * because two programs that read the request could each use a different value.
 */

type Members = Readonly<Record<string, unknown>>;

/** RFC 8707 §2 allows a client to name several resources. */
const mayRepeat = (name: string): boolean => name === 'resource';

/** The values of a form by name. A parameter that may be repeated, and is, becomes a list. */
export function membersOf(fields: readonly (readonly [string, string])[]): Record<string, string | string[]> {
  const members: Record<string, string | string[]> = Object.fromEntries(fields);
  for (const name of Object.keys(members).filter(mayRepeat)) {
    const values = fields.filter(([other]) => other === name).map(([, value]) => value);
    if (values.length > 1) members[name] = values;
  }
  return members;
}

/** Names that a query contains more than once. */
export const repeatedIn = (query: unknown): string[] =>
  Object.entries(query as Members).flatMap(([name, value]) =>
    Array.isArray(value) && !mayRepeat(name) ? [name] : [],
  );

/** Names that a form contains more than once. */
export const repeatedAmong = (names: readonly string[]): string[] =>
  names.filter((name, index) => names.indexOf(name) !== index && !mayRepeat(name));
