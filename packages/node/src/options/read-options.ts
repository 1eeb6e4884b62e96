import { ConfigError } from '../contracts/errors.ts';

type Rule<T> = (value: unknown, name: string) => T;

/**
 * Reads options strictly: checks each option by its rule, and refuses options without a rule. Undefined options get
 * their default. Errors name the option and never show a value.
 */
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

/** An integer from `least` to `most`. */
export function integer(least: number, most: number, byDefault: number): Rule<number> {
  return (value = byDefault, name) => {
    if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most)
      throw new ConfigError(`\`${name}\` must be an integer from ${least} to ${most}.`, [name]);
    return value;
  };
}

/** One of the given values. */
export function choice<T extends string>(choices: readonly T[], byDefault: T): Rule<T> {
  return (value = byDefault, name) => {
    if (!choices.includes(value as T))
      throw new ConfigError(`\`${name}\` must be ${choices.map((item) => `'${item}'`).join(' or ')}.`, [
        name,
      ]);
    return value as T;
  };
}

/** True or false; false by default. */
export const flag: Rule<boolean> = (value = false, name) => {
  if (typeof value !== 'boolean') throw new ConfigError(`\`${name}\` must be true or false.`, [name]);
  return value;
};

/** Undefined, or a value that `holds` accepts; `what` describes such values in the error. */
export function optional<T>(what: string, holds: (value: unknown) => boolean): Rule<T | undefined> {
  return (value, name) => {
    if (value !== undefined && !holds(value)) throw new ConfigError(`\`${name}\` must be ${what}.`, [name]);
    return value as T | undefined;
  };
}

/** Whether the value is a function. */
export const isFunction = (value: unknown): boolean => typeof value === 'function';
/** Whether the value is an object other than an array. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
