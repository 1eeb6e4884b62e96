import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

/** What the documents point at exists: links, files on the map, commands. */

const root = join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

const documents = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name.replaceAll('\\', '/')}`),
];

/** Code is no prose: what looks like a link or heading in it is none. */
const prose = (text: string): string => text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '');

/** Targets of links and pictures, without those that leave the repository. */
const linksOf = (text: string): string[] =>
  [...prose(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));

/** Places in a page that a link can lead to, as GitHub names them. */
function anchorsOf(text: string): Set<string> {
  const headings = [...text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set([...headings, ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id)]);
}

describe('links', () => {
  it.each(documents)('%s leads to files and headings that exist', (document) => {
    const broken = linksOf(read(document)).filter((target) => {
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? document : join(dirname(document), path);
      if (!existsSync(join(root, file))) return true;
      return anchor !== undefined && file.endsWith('.md') && !anchorsOf(read(file)).has(anchor);
    });
    expect(broken).toEqual([]);
  });
});

/** Repository paths in code spans and blocks; patterns with `*` or `<…>` are no paths. */
const pathsIn = (text: string): string[] =>
  [...text.matchAll(/(?<![\w./-])(?:src|test|scripts|docs|bench|migrations)\/[\w./<>*-]*[\w/>*]/g)]
    .map(([path]) => path)
    .filter((path) => !/[<>*]/.test(path));

describe('paths', () => {
  /** What a superseded decision decided is no longer in the tree. */
  const isSuperseded = (name: string): boolean => /^Status: superseded by/m.test(read(name));
  const maps = [
    'docs/architecture.md',
    'docs/spec-gaps.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    ...documents.filter((name) => name.startsWith('docs/decisions/') && !isSuperseded(name)),
  ];
  it.each(maps)('%s names files that exist', (document) => {
    const paths = pathsIn(read(document));
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it('finds the files on the map', () => {
    expect(pathsIn(read('docs/architecture.md'))).toContain('src/kernel/invoke.ts');
  });
});

describe('commands', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const hand = documents.filter((name) => !name.startsWith('docs/reference/'));
  it.each(hand)('%s names npm scripts that exist', (document) => {
    const named = [...read(document).matchAll(/\bnpm (?:run (?:-s )?([\w:-]+)|(start|test)\b)/g)].map(
      ([, script, short]) => script ?? short ?? '',
    );
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });
});

it('the map stays short', () => {
  expect(read('docs/architecture.md').split('\n').length).toBeLessThanOrEqual(200);
});
