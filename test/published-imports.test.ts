import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exportsOf, publishedPackages, type Manifest } from '../scripts/package-manifest.ts';

/**
 * In this repository a package can import every source of another one. Where the packages are installed, it can import
 * what the other one publishes, and what is a dependency of its own.
 */
const folderOf = (name: string): string => join(import.meta.dirname, '../packages', name);
const manifestOf = (name: string): Manifest =>
  JSON.parse(readFileSync(join(folderOf(name), 'package.json'), 'utf8')) as Manifest;

const published = new Set(
  publishedPackages.flatMap((name) => {
    const manifest = manifestOf(name);
    return exportsOf(manifest).map(([entry]) => join(manifest.name, entry));
  }),
);

/** Specifiers of siblings in a source, loaded at once or on demand. */
const siblingsIn = (source: string): string[] =>
  [...source.matchAll(/(?:\bfrom|\bimport\(|^import)\s*'(@doorward\/[^']+)'/gm)].map(
    ([, specifier = '']) => specifier,
  );

test.each(publishedPackages)('%s imports only what its siblings publish', (name) => {
  const { dependencies = {} } = manifestOf(name);
  const files = readdirSync(join(folderOf(name), 'src'), { recursive: true, encoding: 'utf8' });
  const wrong = files
    .filter((path) => /\.tsx?$/.test(path) && !path.includes('.test.'))
    .flatMap((path) =>
      siblingsIn(readFileSync(join(folderOf(name), 'src', path), 'utf8'))
        .filter(
          (specifier) =>
            !published.has(specifier) || !(specifier.split('/').slice(0, 2).join('/') in dependencies),
        )
        .map((specifier) => `${path}: ${specifier}`),
    );
  expect(wrong).toEqual([]);
});
