/*
 * Escapes and unescapes `${` in the values of a document; `unescaped` undoes `escaped`. The command line replaces
 * `${NAME}` in a value with an environment variable, and `$${` stands for a literal `${`. Keys are left as they are.
 */

export const unescaped = <T>(document: T): T =>
  withTexts(document, (text) => text.replaceAll('$${', () => '${'));

export const escaped = <T>(document: T): T =>
  withTexts(document, (text) => text.replaceAll('${', () => '$${'));

function withTexts<T>(value: T, map: (text: string) => string): T {
  if (typeof value === 'string') return map(value) as T;
  if (Array.isArray(value)) return value.map((item) => withTexts<unknown>(item, map)) as T;
  // A caller may pass any value; only members of objects and items of arrays are visited.
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, withTexts<unknown>(member, map)]),
  ) as T;
}
