import { spawn } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Runs the samples of a page as its reader does: the `sh` blocks in their order, in one bash. A `json` or `text` block that
 * follows is what they print. A block that begins with a comment that names a file is that file.
 */
const root = join(import.meta.dirname, '../..');

interface Block {
  readonly language: string;
  readonly text: string;
  /** Where its text begins in the page. */
  readonly at: number;
}

const blocksOf = (page: string): Block[] =>
  [...page.matchAll(/^```(\w*)[^\n]*\n([\s\S]*?)^```$/gm)].map(
    ({ index, 0: all, 1: language = '', 2: text = '' }) => ({
      language,
      text,
      at: index + all.indexOf('\n') + 1,
    }),
  );

const isOutput = ({ language }: Block): boolean => language === 'json' || language === 'text';
const fileOf = ({ text }: Block): string | undefined => /^(?:#|\/\/) ([\w.-]+\.\w+)\n/.exec(text)?.[1];

/** What differs from run to run. */
const changing: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>'],
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>'],
  [/\b[0-9a-f]{64}\b/g, '<hash>'],
  [/\b\d{10}\b/g, '0'],
  // An editor removes spaces at the end of a line.
  [/ +$/gm, ''],
  [/\b(?=[\w-]*\d)[\w-]{40,}/g, '<secret>'],
];

/** The output as a value that is equal for equal runs. */
export function comparable(language: string, text: string): unknown {
  const same = changing.reduce((result, [pattern, word]) => result.replace(pattern, word), text.trim());
  if (language !== 'json') return same;
  try {
    return JSON.parse(same) as unknown;
  } catch {
    return same;
  }
}

interface Sample {
  readonly language: string;
  readonly printed: string;
  readonly actual: string;
}

/** A page whose `sh` blocks come before, up to a heading: their output is not compared. */
export interface EarlierPage {
  readonly page: string;
  readonly until?: string;
}

interface Visit {
  /** Path of the page below the root of the repository. */
  readonly page: string;
  readonly before: readonly EarlierPage[];
  readonly url: string;
  /** What the reader does in a browser after those pages. */
  readonly then?: () => Promise<void>;
  /** The pages that the reader followed after that, in the same shell. */
  readonly after?: readonly EarlierPage[];
}

/** With RECORD=1 the outputs are written into the page. */
export async function runPage({ page, before, url, then, after = [] }: Visit): Promise<Sample[]> {
  const text = await readFile(join(root, page), 'utf8');
  const blocks = blocksOf(text);
  // Below node_modules, so that a program finds our packages.
  const cwd = join(root, 'node_modules/.cache/doorward-samples', page.replace(/\W/g, '-'));
  await rm(cwd, { recursive: true, force: true });
  await mkdir(cwd, { recursive: true });
  for (const block of blocks) {
    const file = fileOf(block);
    if (file !== undefined) await writeFile(join(cwd, file), block.text);
  }
  const start = (await Promise.all(before.map(commandsOf))).flat();
  const env = { DOORWARD: url, DOORWARD_URL: url };
  const names = new Set(start.join('\n').match(/^[A-Z]+(?==)/gm) ?? []);
  const keep = names.size === 0 ? '' : `declare -p ${[...names].join(' ')}\ndeclare -f`;
  const state = await bash(`set -euo pipefail\n${withoutOutput(start)}\n${keep}`, cwd, env);
  await then?.();
  const script = [
    'set -euo pipefail',
    state,
    withoutOutput((await Promise.all(after.map(commandsOf))).flat()),
  ];
  const outputs: (Block | undefined)[] = [];
  blocks.forEach((block, index) => {
    if (block.language !== 'sh') return;
    const next = blocks[index + 1];
    script.push(`printf '\\036'`, block.text);
    outputs.push(next && isOutput(next) ? next : undefined);
  });
  const shown = await bash(script.join('\n'), cwd, env);
  const parts = shown.replaceAll(url, 'http://localhost:4000').split('\u001e').slice(1);
  const samples = outputs.map((output, index) => ({
    language: output?.language ?? 'text',
    printed: output?.text ?? '',
    actual: parts[index] ?? '',
  }));
  if (process.env['RECORD'] === '1') await record(page, text, outputs, samples);
  await rm(cwd, { recursive: true, force: true });
  return samples;
}

async function commandsOf({ page, until = '\0' }: EarlierPage): Promise<string[]> {
  const [text = ''] = (await readFile(join(root, page), 'utf8')).split(until);
  return blocksOf(text).flatMap((block) => (block.language === 'sh' ? [block.text] : []));
}

/** Runs commands with their output on stderr, where it is not compared. */
const withoutOutput = (commands: readonly string[]): string => `{\n:\n${commands.join('\n')}} >&2`;

async function record(
  page: string,
  text: string,
  outputs: readonly (Block | undefined)[],
  samples: readonly Sample[],
): Promise<void> {
  let written = text;
  for (const [index, sample] of [...samples.entries()].reverse()) {
    const output = outputs[index];
    if (!output) continue;
    const { language, printed, actual } = sample;
    if (JSON.stringify(comparable(language, printed)) === JSON.stringify(comparable(language, actual)))
      continue;
    const end = output.at + output.text.length;
    written = `${written.slice(0, output.at)}${actual.trim()}\n${written.slice(end)}`;
  }
  if (written !== text) await writeFile(join(root, page), written);
}

/** The standard output of a script. @throws Error with its standard error when it fails */
function bash(script: string, cwd: string, env: Readonly<Record<string, string>>): Promise<string> {
  const { PATH = '', HOME = '' } = process.env;
  return new Promise((resolve, reject) => {
    const path = `${join(root, 'node_modules/.bin')}:${PATH}`;
    const child = spawn('bash', ['-s'], { cwd, env: { PATH: path, HOME, LANG: 'C.UTF-8', ...env } });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(stdout);
      else
        reject(new Error(`the script ended with ${code}:\n${stderr.slice(-3000)}\n${stdout.slice(-3000)}`));
    });
    child.stdin.end(script);
  });
}
