/**
 * `${NAME}` in a value is for the command line to fill in, and `$${` is a plain `${`. Keys are neither filled in nor escaped.
 * The two functions undo each other.
 */
export const unescaped = <T>(document: T): T =>
  withTexts(document, (text) => text.replaceAll('$${', () => '${'));

export const escaped = <T>(document: T): T =>
  withTexts(document, (text) => text.replaceAll('${', () => '$${'));

function withTexts<T>(value: T, map: (text: string) => string): T {
  if (typeof value === 'string') return map(value) as T;
  if (Array.isArray(value)) return value.map((item) => withTexts<unknown>(item, map)) as T;
  // The input of a caller may hold anything; only what JSON has is looked into.
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, withTexts<unknown>(member, map)]),
  ) as T;
}
