import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importsIn } from './support/imports.ts';

const root = join(import.meta.dirname, '..');

/** The files of a folder that import others. */
const filesOf = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /(?<!\.d)\.(tsx?|mjs)$/.test(path) && !/(^|[\\/])(node_modules|dist)[\\/]/.test(path))
    .map((path) => join(root, folder, path));

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

describe('the imports of files', () => {
  const imports = new Map(files.map((path) => [path, importsOf(path)]));

  it('are read from the sources', () => {
    const composition = imports.get(join(root, 'packages/server/src/main.ts'));
    expect(composition).toContain(join(root, 'packages/server/src/app.ts'));
    expect(files.length).toBeGreaterThan(1500);
  });

  it('form no circle', () => {
    const relative = circlesOf(imports).map((circle) => circle.replaceAll(`${root}/`, ''));
    expect(relative).toEqual([]);
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
