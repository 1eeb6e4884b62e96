import { readFile, writeFile } from 'node:fs/promises';

/** Outputs of commands in a page: blocks with lines `$ doorward …`, each followed by what the terminal showed. */

const block = /^```\n(\$ doorward [\s\S]*?)^```$/gm;
const id = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** What differs from run to run. */
const changing: readonly (readonly [RegExp, string])[] = [
  [id, '<id>'],
  [/\b[0-9a-f]{64}\b/g, '<hash>'],
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>'],
  [/\bnow\b|\b(?:a|\d+) \w+ ago\b/g, '<ago>'],
  [/\(in \d+ \w+\)/g, '<in>'],
  [/\b\d+ ms\b/g, '<ms>'],
  // Columns are as wide as their values.
  [/ {2,}/g, '  '],
];

const compared = (text: string): string =>
  changing.reduce((result, [pattern, word]) => result.replace(pattern, word), text);

/** A line of the page as words; quotes keep spaces. */
const wordsOf = (line: string): string[] =>
  (line.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? []).map((word) => word.replace(/['"]/g, ''));

/** Without what a terminal adds: carriage returns and the spinner. */
const shown = (text: string): string =>
  text
    .replace(/\r+\n/g, '\n')
    .replace(/\r[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g, '')
    .replaceAll('\r\u001b[K', '')
    .replace(/\u001b\[[\d;]*[A-Za-z]/g, '')
    .trimEnd();

interface Replay {
  readonly path: string;
  /** Ids for those that the commands of the page name, in their order. */
  readonly ids: readonly string[];
  /** Runs one command, and answers what the terminal showed. Null: it is not replayed. */
  readonly run: (words: readonly string[]) => Promise<string | null>;
}

/**
 * Runs the commands of a page in their order.
 *
 * @returns the page as it is and as it should be, without what differs from run to run. With RECORD=1 the page is written.
 */
export async function replay({ path, ids, run }: Replay): Promise<{ page: string; replayed: string }> {
  const page = await readFile(path, 'utf8');
  const real = new Map<string, string>();
  const withIds = (line: string): string =>
    line.replace(id, (written) => {
      const actual = real.get(written) ?? ids[real.size] ?? written;
      real.set(written, actual);
      return actual;
    });
  let replayed = page;
  for (const [, text = ''] of page.matchAll(block)) {
    const parts: string[] = [];
    for (const part of text.split(/^\$ /m).slice(1)) {
      const line = withIds(part.split('\n')[0] ?? '');
      const output = await run(wordsOf(line).slice(1));
      parts.push(output === null ? `$ ${part.trimEnd()}` : `$ ${line}\n${shown(output)}`.trimEnd());
    }
    const fresh = `${parts.join('\n\n')}\n`;
    if (compared(fresh) !== compared(text)) replayed = replayed.replace(text, () => fresh);
  }
  if (process.env['RECORD'] === '1' && replayed !== page) await writeFile(path, replayed);
  return { page: compared(page), replayed: compared(replayed) };
}
