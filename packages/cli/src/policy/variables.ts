import { usageFault } from '../fault.ts';
import type { Env } from '../io.ts';

/** `${NAME}` in values is the variable of the environment; `$${` is `${`. Keys stay as they are. */
export function filled(value: unknown, env: Env): unknown {
  if (typeof value === 'string') return fill(value, env);
  if (Array.isArray(value)) return value.map((item) => filled(item, env));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, filled(inner, env)]));
}

const fill = (text: string, env: Env): string =>
  text.replace(/\$\$\{|\$\{(\w+)\}/g, (whole, name: string | undefined) => {
    if (name === undefined) return whole.slice(1);
    const value = env[name];
    if (value === undefined) throw usageFault(`The environment has no ${name}, which the policy names.`);
    return value;
  });
