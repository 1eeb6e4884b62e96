import { usageFault } from '../fault.ts';
import type { Env } from '../environment/io.ts';

type PlaceOf = (path: string) => string | undefined;

/**
 * `${NAME}` in values is the variable of the environment. Keys stay as they are, and so does `$${`, which the service reads as
 * `${`: it refuses a plain `${NAME}`, so a document that no command line has filled in is never applied.
 */
export function filled(value: unknown, env: Env, placeOf: PlaceOf, path = 'policy'): unknown {
  if (typeof value === 'string') return fill(value, env, () => placeOf(path));
  if (typeof value !== 'object' || value === null) return value;
  const at = (key: string | number) => `${path}.${key}`;
  if (Array.isArray(value)) return value.map((item, index) => filled(item, env, placeOf, at(index)));
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, filled(inner, env, placeOf, at(key))]),
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
    // A variable is text: what looks like another one in it stays as it is.
    return value.replaceAll('${', () => '$${');
  });
