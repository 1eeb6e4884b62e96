const unsafe =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * Makes text from the service safe for a terminal by showing unsafe characters as `\u{…}`. Names come from other
 * people: control characters could move the cursor or set colors, and bidirectional ones could disguise a name.
 */
export const visible = (text: string): string =>
  text.replace(unsafe, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);

/** Formats JSON for a terminal. Unsafe characters are escaped, so a parser still reads the same values. */
export const visibleJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(unsafe, (character) =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Formats any value as the text of a cell. Objects become JSON. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object' || item === null))
    return visible(value.join(', '));
  return visible(typeof value === 'object' ? JSON.stringify(value) : `${value as string | number | boolean}`);
}

const segmenter = new Intl.Segmenter();
const wide =
  /\p{Extended_Pictographic}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;

const widthOfGrapheme = (grapheme: string): number => (wide.test(grapheme) ? 2 : 1);

const isPlain = (text: string): boolean => /^[ -~]*$/.test(text);

/** Returns the number of terminal columns that a text takes. */
export function widthOf(text: string): number {
  if (isPlain(text)) return text.length;
  let width = 0;
  for (const { segment } of segmenter.segment(text)) width += widthOfGrapheme(segment);
  return width;
}

/** Cuts a text to a number of columns, and marks the cut with `…`. */
export function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let result = '';
  let width = 1;
  for (const { segment } of segmenter.segment(text)) {
    width += widthOfGrapheme(segment);
    if (width > columns) break;
    result += segment;
  }
  return `${result}…`;
}

/** Pads a text with spaces to a number of columns. */
export const padded = (text: string, columns: number): string =>
  text + ' '.repeat(Math.max(0, columns - widthOf(text)));
