import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importsIn } from './support/imports.ts';

const root = join(import.meta.dirname, '..');

/** The files of a folder that import others. */
const filesOf = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /(?<!\.d)\.(tsx?|mjs)$/.test(path) && !/(^|[\\/])(node_modules|dist)[\\/]/.test(path))
    .map((path) => join(root, folder, path));

const packages = readdirSync(join(root, 'packages'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

const files = ['packages', 'test', 'scripts', 'bench', 'examples'].flatMap(filesOf);

/** The files that a file loads. Types are erased, and may refer to each other. */
const importsOf = (path: string): string[] =>
  importsIn(readFileSync(path, 'utf8'))
    .filter(({ typeOnly }) => !typeOnly)
    .map(({ from }) => join(dirname(path), from));

/** One way around for each circle that a search from every file meets. */
function circlesOf(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const circles: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, way: readonly string[]): void => {
    const start = way.indexOf(path);
    if (start >= 0) circles.push([...way.slice(start), path].join(' → '));
    if (start >= 0 || done.has(path)) return;
    for (const next of imports.get(path) ?? []) visit(next, [...way, path]);
    done.add(path);
  };
  for (const path of imports.keys()) visit(path, []);
  return circles;
}

/** The folders that a package's files import from, also types only. A folder and those inside it count as one. */
function foldersOf(source: string): Map<string, string[]> {
  const base = join(root, source);
  const folderOf = (path: string): string => {
    const inside = relative(base, path);
    return inside.includes('/') ? dirname(inside) : inside;
  };
  const isNested = (a: string, b: string): boolean => a.startsWith(`${b}/`) || b.startsWith(`${a}/`);
  const folders = new Map<string, string[]>();
  for (const path of filesOf(source).filter((name) => !/\.test\.tsx?$/.test(name))) {
    const from = folderOf(path);
    const to = importsIn(readFileSync(path, 'utf8')).map((target) =>
      folderOf(join(dirname(path), target.from)),
    );
    const outside = to.filter((name) => name !== from && !isNested(from, name));
    folders.set(from, [...(folders.get(from) ?? []), ...outside]);
  }
  return folders;
}

describe('the imports of files', () => {
  const imports = new Map(files.map((path) => [path, importsOf(path)]));

  it('are read from the sources', () => {
    const composition = imports.get(join(root, 'packages/server/src/main.ts'));
    expect(composition).toContain(join(root, 'packages/server/src/app.ts'));
    expect(files.length).toBeGreaterThan(1500);
  });

  it('form no circle', () => {
    const circles = circlesOf(imports).map((circle) => circle.replaceAll(`${root}/`, ''));
    expect(circles).toEqual([]);
  });

  it.each(packages)('form no circle between folders of %s, with those of types', (name) => {
    expect(circlesOf(foldersOf(`packages/${name}/src`))).toEqual([]);
  });

  it('would be found in a circle', () => {
    const circle = new Map([
      ['a', ['b']],
      ['b', ['c', 'd']],
      ['c', []],
      ['d', ['a']],
    ]);
    expect(circlesOf(circle)).toEqual(['a → b → d → a']);
  });
});
