import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Manifest } from './package-manifest.ts';

/**
 * The package `doorward`: the service as it is built, with its console, its migrations and the command line. Other libraries
 * than these are in the bundle. Their versions are those of the tests, without later ones.
 */
const beside = [
  '@electric-sql/pglite',
  '@node-rs/argon2',
  '@node-rs/bcrypt',
  '@zxcvbn-ts/language-common',
  'altair-static',
  'nodemailer',
  'redis',
  'swagger-ui-dist',
  'yaml',
];

/** @returns the folder from which it is packed and published */
export async function writeServicePackage(root: string): Promise<string> {
  const server = join(root, 'packages/server');
  const folder = join(root, 'dist/doorward');
  const { name: _name, exports: _exports, ...own } = await read<Manifest>(join(server, 'package.json'));
  const { private: _private, dependencies = {}, ...manifest } = own;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  // Not all of the folder: it also has what former builds wrote.
  const { wrote } = await read<Written>(join(server, 'dist/main.inputs.json'));
  for (const [path] of wrote) await copy(root, path, folder);
  await cp(join(server, 'dist/console'), join(folder, 'dist/console'), { recursive: true });
  await cp(join(server, 'migrations'), join(folder, 'migrations'), { recursive: true });
  await cp(join(server, 'README.md'), join(folder, 'README.md'));
  await cp(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  const published = {
    name: 'doorward',
    ...manifest,
    bin: { doorward: 'dist/doorward.js' },
    exports: { './package.json': './package.json' },
    dependencies: Object.fromEntries(beside.map((library) => [library, versionOf(library, dependencies)])),
    publishConfig: { access: 'public', provenance: true },
  };
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
  return folder;
}

/** What scripts/run.mjs notes of a build. */
interface Written {
  readonly wrote: readonly (readonly [path: string, stamp: string])[];
}

const read = async <T>(path: string): Promise<T> => JSON.parse(await readFile(path, 'utf8')) as T;

async function copy(root: string, path: string, folder: string): Promise<void> {
  const target = join(folder, path.slice('packages/server/'.length));
  await mkdir(dirname(target), { recursive: true });
  await cp(join(root, path), target);
}

function versionOf(library: string, dependencies: Readonly<Record<string, string>>): string {
  const version = dependencies[library];
  if (version === undefined) throw new Error(`${library} is not a dependency of the service`);
  return version;
}
