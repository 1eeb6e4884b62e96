import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  entriesOf,
  exportsOf,
  publishedManifest,
  publishedPackages,
  type Manifest,
  type PublishedPackage,
} from './package-manifest.ts';
import { writeServicePackage } from './service-package.ts';

/**
 * Builds the packages that are published, each into its `dist`, from where `npm publish` takes it: npm run packages.
 * In this repository packages export their sources; what is published exports JavaScript and types. The service itself is
 * the package `doorward`, in `dist/doorward`.
 */
const root = join(import.meta.dirname, '..');
const folderOf = (name: PublishedPackage): string => join(root, 'packages', name);

async function compile(name: PublishedPackage, manifest: Manifest): Promise<void> {
  const folder = folderOf(name);
  // Types of sibling packages come from what was built of them: their sources would be compiled into this package.
  const siblings = Object.keys(manifest.dependencies ?? {}).filter((library) =>
    library.startsWith('@doorward/'),
  );
  const paths = Object.fromEntries((await Promise.all(siblings.map(typesOf))).flat());
  const isForNode = name === 'node' || name === 'cli';
  const configuration = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      target: 'es2022',
      // Only these may use what browsers lack.
      lib: isForNode ? ['es2022'] : ['es2022', 'dom', 'dom.iterable'],
      types: isForNode ? ['node'] : [],
      jsx: 'react-jsx',
      paths,
      rootDir: folder,
      outDir: join(folder, 'dist'),
      declaration: true,
      stripInternal: true,
      rewriteRelativeImportExtensions: true,
    },
    files: entriesOf(manifest).map((file) => join(folder, file)),
    include: [],
    exclude: [],
  };
  // Beside the sources, because the compiler looks for libraries from here.
  const file = join(folder, 'dist', 'tsconfig.json');
  await writeFile(file, JSON.stringify(configuration));
  await run(['node_modules/@typescript/native/bin/tsc', '-p', file]);
  await rm(file);
}

/** Only what the sibling publishes: an import of anything else ends here, and not where the package is installed. */
async function typesOf(library: string): Promise<[specifier: string, types: string[]][]> {
  const folder = folderOf(library.slice('@doorward/'.length) as PublishedPackage);
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest;
  return exportsOf(manifest).map(([name, file]) => [
    join(library, name),
    [join(folder, 'dist', file.replace(/\.tsx?$/, '.d.ts'))],
  ]);
}

/** Runs a program of this repository. */
async function run(args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
}

async function buildPackage(name: PublishedPackage): Promise<void> {
  const folder = folderOf(name);
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest;
  await rm(join(folder, 'dist'), { recursive: true, force: true });
  await mkdir(join(folder, 'dist'));
  await compile(name, manifest);
  const published = JSON.stringify(publishedManifest(manifest), null, 2);
  await writeFile(join(folder, 'dist', 'package.json'), `${published}\n`);
  await cp(join(folder, 'README.md'), join(folder, 'dist', 'README.md'));
  await cp(join(root, 'LICENSE'), join(folder, 'dist', 'LICENSE'));
}

await run(['scripts/generate-client.mjs']);
for (const name of publishedPackages) await buildPackage(name);
await run(['scripts/run.mjs', '--build-only', 'packages/server/src/main.ts']);
await writeServicePackage(root);
