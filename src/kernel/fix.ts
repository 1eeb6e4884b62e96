import { nearest } from '../nearest.ts';

/** What one place of the input accepts: a sentence in the imperative, without the place. */
export interface Hint {
  readonly path: string;
  readonly hint: string;
}

const MOST_CHARACTERS = 300;

/** The `fix` of a refused input; undefined when there is nothing to say. Bounded, and without any value of the caller's. */
export function fixOf(hints: readonly Hint[], details: number): string | undefined {
  const [first] = hints;
  if (!first) return undefined;
  // If there are several faults, the text must say which one it means.
  const told = details === 1 ? [sentence(first.hint)] : hints.map(({ path, hint }) => `${path}: ${hint}.`);
  let fix = '';
  for (const one of told) {
    if (fix !== '' && fix.length + one.length > MOST_CHARACTERS) break;
    fix += fix === '' ? one : ` ${one}`;
  }
  return fix;
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/**
 * Lists the allowed values, all of them or as many as fit; in the second case the one nearest to the given value comes
 * first.
 */
export function useOneOf(allowed: readonly string[], given?: unknown): string {
  if (allowed.join(', ').length <= MOST_CHARACTERS) return `use one of: ${allowed.join(', ')}`;
  const near = typeof given === 'string' ? nearest(given, allowed) : undefined;
  const ordered = near === undefined ? allowed : [near, ...allowed.filter((one) => one !== near)];
  const named = ordered.slice(0, 1);
  for (const one of ordered.slice(1)) {
    if ([...named, one].join(', ').length > MOST_CHARACTERS) break;
    named.push(one);
  }
  return `use one of: ${named.join(', ')}, …`;
}

const kinds: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

/** Names the kinds of JSON that are expected, undefined for one that has no name. */
export function sendOneOf(expected: readonly string[]): string | undefined {
  const named = [...new Set(expected.flatMap((kind) => kinds[kind] ?? []))];
  return named.length === 0 ? undefined : `send ${named.join(' or ')}`;
}
