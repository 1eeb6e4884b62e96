import { usageFault } from '../fault.ts';
import type { Env } from '../environment/io.ts';

type PlaceOf = (path: string) => string | undefined;

/**
 * Replaces `${NAME}` in values with the environment variable. Keys and `$${` stay unchanged. The service reads `$${`
 * as `${` and refuses a plain `${NAME}`, so it never applies a document whose variables weren't filled in.
 */
export function withVariables(value: unknown, env: Env, placeOf: PlaceOf, path = 'policy'): unknown {
  if (typeof value === 'string') return fill(value, env, () => placeOf(path));
  if (typeof value !== 'object' || value === null) return value;
  const at = (key: string | number) => `${path}.${key}`;
  if (Array.isArray(value)) return value.map((item, index) => withVariables(item, env, placeOf, at(index)));
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, withVariables(inner, env, placeOf, at(key))]),
  );
}

const fill = (text: string, env: Env, place: () => string | undefined): string =>
  text.replace(/\$\$\{|\$\{(\w+)\}/g, (whole, name: string | undefined) => {
    if (name === undefined) return whole;
    const value = env[name];
    if (value === undefined)
      throw usageFault(
        `${place() ?? ''} The environment variable ${name} isn't set, but the policy uses it.`.trimStart(),
        `set ${name}, or write $\${${name}} for the text itself`,
      );
    // The value of a variable is plain text: `${` in it is escaped, so that it isn't taken for another variable.
    return value.replaceAll('${', () => '$${');
  });
