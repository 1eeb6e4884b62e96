/** Other expressions than this literal: an anchor less, a class turned round, a repetition or look-ahead taken away. */
export function regexMutations(literal: string): string[] {
  const end = literal.lastIndexOf('/');
  const [source, flags] = [literal.slice(1, end), literal.slice(end + 1)];
  const mutated = [...source.matchAll(changeable)].map((match) => {
    const [text] = match;
    return source.slice(0, match.index) + replacement(text) + source.slice(match.index + text.length);
  });
  return [...new Set(mutated)].filter((item) => parses(item, flags)).map((item) => `/${item}/${flags}`);
}

/** Escapes that stay come first, so that what they escape is not taken for syntax. */
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
