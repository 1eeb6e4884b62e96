import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

/** What the documents refer to exists: links, files, commands. */

const root = join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

const documents = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name.replaceAll('\\', '/')}`),
];

/** Without code, in which a text may look like a link or heading. */
const prose = (text: string): string => text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '');

/** Targets of links and pictures, without those that leave the repository. */
const linksOf = (text: string): string[] =>
  [...prose(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));

/** Anchors of a page, as GitHub names them. */
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
  it.each(documents)('%s refers to files and headings that exist', (document) => {
    const broken = linksOf(read(document)).filter((target) => {
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? document : join(dirname(document), path);
      if (!existsSync(join(root, file))) return true;
      return anchor !== undefined && file.endsWith('.md') && !anchorsOf(read(file)).has(anchor);
    });
    expect(broken).toEqual([]);
  });
});

/** Repository paths in code spans and blocks; patterns with `*` or `<…>` are not paths, and `dist` exists after a build only. */
const pathsIn = (text: string): string[] =>
  [...text.matchAll(/(?<![\w./-])(?:packages|src|test|scripts|docs|bench|migrations)\/[\w./<>*-]*[\w/>*]/g)]
    .map(([path]) => path)
    // What a build writes is not in the repository.
    .filter((path) => !/[<>*]|\/dist\b/.test(path));

describe('paths', () => {
  /** A superseded decision names files that were removed since. */
  const isSuperseded = (name: string): boolean => /^- Status: superseded by/m.test(read(name));
  const maps = [
    'docs/architecture.md',
    'docs/glossary.md',
    'docs/operating/reliability.md',
    ...documents.filter((name) => name.startsWith('docs/operating/')),
    'CONTRIBUTING.md',
    'SECURITY.md',
    'docs/operating/reliability.md',
    'docs/glossary.md',
    ...documents.filter((name) => name.startsWith('docs/operating/')),
    ...documents.filter((name) => name.startsWith('docs/spec/')),
    ...documents.filter((name) => name.startsWith('docs/decisions/') && !isSuperseded(name)),
  ];
  it.each(maps)('%s names files that exist', (document) => {
    const paths = pathsIn(read(document));
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it('finds the files of the architecture page', () => {
    expect(pathsIn(read('docs/architecture.md'))).toContain('packages/server/src/kernel/invoke.ts');
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

it('the architecture page stays short', () => {
  expect(read('docs/architecture.md').split('\n').length).toBeLessThanOrEqual(200);
});
