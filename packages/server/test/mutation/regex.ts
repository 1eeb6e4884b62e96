/** Other expressions than this literal: an anchor less, a class turned round, a repetition or look-ahead taken away. */
export function regexMutations(literal: string): string[] {
  const end = literal.lastIndexOf('/');
  const [source, flags] = [literal.slice(1, end), literal.slice(end + 1)];
  const mutated = [...source.matchAll(changeable)].flatMap((match) => {
    const [text] = match;
    if (source.charAt(match.index - 1) === '\\' && !text.startsWith('\\')) return [];
    return source.slice(0, match.index) + replacement(text) + source.slice(match.index + text.length);
  });
  return [...new Set(mutated)].filter((item) => parses(item, flags)).map((item) => `/${item}/${flags}`);
}

/** An escaped character matches too, so that it is not taken for syntax; it stays as it is. */
const changeable = /\\[dDwWsS]|(?<=\\)[^]|\[\^?|\(\?[!=]|[\^$+*]|\{\d+(?:,\d*)?\}/g;

function replacement(text: string): string {
  if (text.startsWith('\\')) {
    const letter = text.charAt(1);
    return `\\${letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()}`;
  }
  if (text === '[') return '[^';
  if (text === '[^') return '[';
  if (text === '(?!') return '(?=';
  if (text === '(?=') return '(?!';
  return '';
}

function parses(source: string, flags: string): boolean {
  try {
    return source !== '' && new RegExp(source, flags) instanceof RegExp;
  } catch {
    return false;
  }
}
