import { nearest } from './nearest.ts';

/** A hint about the values that one field accepts: an imperative sentence without the field's path. */
export interface Hint {
  readonly path: string;
  readonly hint: string;
}

const MAX_CHARACTERS = 300;

/**
 * The `fix` of a refused input; undefined without hints. Its length is limited, and it contains no value from the
 * caller.
 */
export function fixOf(hints: readonly Hint[], details: number): string | undefined {
  const [first] = hints;
  if (!first) return undefined;
  // If there are several faults, each hint must name its field.
  const sentences =
    details === 1 ? [sentence(first.hint)] : hints.map(({ path, hint }) => `${path}: ${hint}.`);
  let fix = '';
  for (const item of sentences) {
    if (fix !== '' && fix.length + item.length > MAX_CHARACTERS) break;
    fix += fix === '' ? item : ` ${item}`;
  }
  return fix;
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** Lists the allowed values. If not all fit, lists as many as fit, beginning with the value most similar to `given`. */
export function useOneOf(allowed: readonly string[], given?: unknown): string {
  if (allowed.join(', ').length <= MAX_CHARACTERS) return `use one of: ${allowed.join(', ')}`;
  const near = typeof given === 'string' ? nearest(given, allowed) : undefined;
  const ordered = near === undefined ? allowed : [near, ...allowed.filter((item) => item !== near)];
  const named = ordered.slice(0, 1);
  for (const item of ordered.slice(1)) {
    if ([...named, item].join(', ').length > MAX_CHARACTERS) break;
    named.push(item);
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

/** Names the expected JSON types; undefined if none has a name. */
export function sendOneOf(expected: readonly string[]): string | undefined {
  const named = [...new Set(expected.flatMap((kind) => kinds[kind] ?? []))];
  return named.length === 0 ? undefined : `send ${named.join(' or ')}`;
}
