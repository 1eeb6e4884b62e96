import { ConfigError } from '../contracts/errors.ts';

/**
 * Reads options strictly: it checks each by its rule, and refuses those without a rule. Errors name options, and
 * never show a value.
 */

type Rule<T> = (value: unknown, name: string) => T;

/** The checked value of each option; an undefined one has its default. */
export function readOptions<R extends Record<string, Rule<unknown>>>(
  options: unknown,
  rules: R,
): { readonly [K in keyof R]: ReturnType<R[K]> } {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new ConfigError('The options must be an object.', []);
  const unknown = Object.keys(options).filter((name) => !Object.hasOwn(rules, name));
  if (unknown.length > 0) {
    const fix = `The options are ${Object.keys(rules).join(', ')}.`;
    throw new ConfigError(`No such option: ${unknown.map(quoted).join(', ')}.`, unknown, fix);
  }
  const given = options as Record<string, unknown>;
  return Object.fromEntries(Object.entries(rules).map(([name, rule]) => [name, rule(given[name], name)])) as {
    [K in keyof R]: ReturnType<R[K]>;
  };
}

const quoted = (name: string): string => `\`${name.slice(0, 64)}\``;

export function integer(least: number, most: number, byDefault: number): Rule<number> {
  return (value = byDefault, name) => {
    if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most)
      throw new ConfigError(`\`${name}\` must be an integer from ${least} to ${most}.`, [name]);
    return value;
  };
}

export function choice<T extends string>(choices: readonly T[], byDefault: T): Rule<T> {
  return (value = byDefault, name) => {
    if (!choices.includes(value as T))
      throw new ConfigError(`\`${name}\` must be ${choices.map((item) => `'${item}'`).join(' or ')}.`, [
        name,
      ]);
    return value as T;
  };
}

export const flag: Rule<boolean> = (value = false, name) => {
  if (typeof value !== 'boolean') throw new ConfigError(`\`${name}\` must be true or false.`, [name]);
  return value;
};

export function optional<T>(what: string, holds: (value: unknown) => boolean): Rule<T | undefined> {
  return (value, name) => {
    if (value !== undefined && !holds(value)) throw new ConfigError(`\`${name}\` must be ${what}.`, [name]);
    return value as T | undefined;
  };
}

export const isFunction = (value: unknown): boolean => typeof value === 'function';
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
