import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  publishedPackages,
  type Manifest,
  type PublishedPackage,
} from '../../../scripts/package-manifest.ts';
import { root } from './installation.ts';

/** A module that a consumer can import. */
interface Entry {
  readonly package: PublishedPackage;
  /** As it is imported: `@doorward/node/express`. */
  readonly specifier: string;
}

const entriesOfPackage = (name: PublishedPackage): Entry[] => {
  const path = join(root, 'packages', name, 'package.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest;
  return Object.keys(manifest.exports ?? {})
    .filter((entry) => !entry.includes('*'))
    .map((entry) => ({ package: name, specifier: join(manifest.name, entry) }));
};

export const entries: readonly Entry[] = publishedPackages.flatMap(entriesOfPackage);
