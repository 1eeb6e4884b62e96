import type { Parse } from './values.ts';

/** A variable with a fixed default. */
export interface Fixed<T> {
  readonly initial: string;
  readonly parse: Parse<T>;
  readonly meaning: string;
}

/** A variable without a fixed default. */
export interface Optional<T> {
  readonly initial?: never;
  /** Description of the default. */
  readonly defaultText: string;
  readonly parse: Parse<T>;
  readonly meaning: string;
}

/** Declares a variable with a fixed default. */
export const variable = <T>(initial: string, parse: Parse<T>, meaning: string): Fixed<T> => ({
  initial,
  parse,
  meaning,
});

/** Declares a variable without a fixed default. */
export const optional = <T>(parse: Parse<T>, meaning: string, defaultText = 'unset'): Optional<T> => ({
  defaultText,
  parse,
  meaning,
});
