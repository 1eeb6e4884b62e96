import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Command } from '../../src/command.ts';
import { commands } from '../../src/commands.ts';
import { globalOptions } from '../../src/settings/flags.ts';

/** Documents name commands and flags that exist, and explain lists that are whole. */
const root = join(import.meta.dirname, '../../../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const flagsOf = ({ options = {} }: Pick<Command, 'options'>): string[] =>
  Object.keys({ ...options, ...globalOptions, '-h, --help': '', '-V, --version': '' }).flatMap(
    (flags) => flags.match(/(?<![\w-])--?[\w-]+/g) ?? [],
  );

/** Lines of code blocks and pieces of code in the text, from `doorward` on. */
const linesOf = (text: string): string[] =>
  [...text.matchAll(/(?:^|[`$(] ?)doorward (?=[a-z_-])([^`\n]*)/gm)].map(([, line]) => line ?? '');

test.each([
  'docs/cli.md',
  'packages/cli/README.md',
  'docs/operating/audit-log.md',
  'docs/operating/policy-tests.md',
  'docs/operating/install.md',
  'docs/guides/policy-as-code.md',
])('%s', (path) => {
  const lines = linesOf(read(path)).filter((line) => !line.startsWith('<'));
  expect(lines.length).toBeGreaterThan(0);
  const unknown = lines.flatMap((line) => {
    const words = line.split(/\s+/);
    if (words[0]?.startsWith('-')) return flagsOf({}).includes(words[0]) ? [] : [line];
    const command = commands
      .filter(({ path }) => path.every((word, at) => words[at] === word))
      .sort((a, b) => b.path.length - a.path.length)[0];
    // A misspelled word is an example too.
    if (!command) return words[0] === 'chek' ? [] : [line];
    const flags = flagsOf(command);
    return words
      .filter((word) => /^--?[a-zA-Z]/.test(word) && !flags.includes(word))
      .map((word) => `${line}: ${word}`);
  });
  expect(unknown).toEqual([]);
});

test('examples in the help are right, and each command has a summary', () => {
  for (const command of commands) {
    if (command.path[0] === '__complete') continue;
    expect(command.summary, command.path.join(' ')).not.toBe('');
    for (const example of command.examples ?? []) {
      const [program, ...words] = example.split(/\s+/);
      expect([program, ...words.slice(0, command.path.length)]).toEqual(['doorward', ...command.path]);
      const flags = words.filter((word) => /^--?[a-z]/.test(word));
      expect(
        flags.filter((flag) => !flagsOf(command).includes(flag)),
        example,
      ).toEqual([]);
    }
  }
});

test('the page of the command line names every noun and every group', () => {
  const page = read('docs/cli.md');
  const words = new Set(commands.map(({ path }) => path[0] ?? ''));
  for (const word of words)
    if (word !== '__complete') expect(page, word).toMatch(new RegExp(`\\b${word}\\b`));
});
