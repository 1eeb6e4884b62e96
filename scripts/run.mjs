/**
 * Builds one entry file and runs it in this process. Node 20 does not read TypeScript.
 *
 *   node scripts/run.mjs [--build-only] <entry.ts> [arguments]
 *
 * The bundle of the service includes its libraries: Node reads one file instead of six hundred, without unused exports,
 * which saves half of the start time and a third of the memory. If no input changed since the last build, it is reused.
 */
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { clientForEsbuild, clientTable, ensureTable } from './generated-client.mjs';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `Doorward needs Node 20.19 or newer, but this is ${process.version}. Install a newer one: https://nodejs.org`,
  );
  process.exit(1);
}

const buildOnly = process.argv[2] === '--build-only';
const [entry, ...args] = process.argv.slice(buildOnly ? 3 : 2);
const root = join(import.meta.dirname, '..');
const service = 'packages/server/src/main.ts';
const isService = entry === service;
// The service finds its migrations and its version in the folder above what is built.
const outdir = join(root, isService ? 'packages/server/dist' : 'dist');
const name = basename(entry).replace(/\.ts$/, '');
const outfile = join(outdir, `${name}.js`);
const record = join(outdir, `${name}.inputs.json`);

const common = {
  absWorkingDir: root,
  entryPoints: [entry],
  outdir,
  write: false,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  sourcemap: 'linked',
  metafile: true,
  plugins: [clientForEsbuild],
  logLevel: 'warning',
  // Libraries in CommonJS ask for Node's modules in this way.
  banner: {
    js: "import{createRequire as requireFor$}from'node:module';const require=requireFor$(import.meta.url);",
  },
};
const withLibraries = {
  ...common,
  // These stay in node_modules: what finds files beside itself, and what in CommonJS is imported only when it is needed,
  // since of such a file esbuild knows no names.
  external: [
    '@electric-sql/pglite',
    '@node-rs/argon2',
    '@node-rs/bcrypt',
    'pg-native',
    '@zxcvbn-ts/language-common',
    'nodemailer',
    'redis',
    'yaml',
  ],
  splitting: true,
  chunkNames: '[name]-[hash]',
  sourcesContent: false,
  // White space and comments are a third of the text, which V8 keeps. Names stay, for profiles and traces.
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 200,
};

/** Beside the service: what the command line does on its machine, and the command line itself. */
const serviceEntries = {
  main: 'packages/server/src/entry.ts',
  programs: 'packages/server/src/programs/programs.ts',
  doorward: 'packages/cli/src/main.ts',
};

/** Libraries stay outside. Our own packages do not: Node 20 cannot read their TypeScript. */
const librariesOf = (path) => {
  const { dependencies = {}, devDependencies = {} } = JSON.parse(readFileSync(join(root, path), 'utf8'));
  return Object.keys({ ...dependencies, ...devDependencies }).filter(
    (name) => !name.startsWith('@doorward/'),
  );
};
const manifests = ['package.json', 'packages/server/package.json'];
/** The command line imports the service when it needs it, from where its package says. */
const installed = '#service/*';
const options = isService
  ? { ...withLibraries, entryPoints: serviceEntries, external: [...withLibraries.external, installed] }
  : { ...common, external: [...manifests.flatMap(librariesOf), installed] };

/** Of each file that a build reads: its time and size. A library changes with the lock file of the installation. */
const stampsOf = (paths) =>
  paths.map((path) => {
    const stats = statSync(join(root, path), { throwIfNoEntry: false });
    return [path, stats ? `${stats.mtimeMs} ${stats.size}` : null];
  });
const always = ['scripts/run.mjs', ...manifests, 'node_modules/.package-lock.json'];

/** Whether what the last build wrote is what this one would write. */
async function isCurrent() {
  try {
    const known = JSON.parse(readFileSync(record, 'utf8'));
    const isSame = () =>
      [known.read, known.wrote].every(
        (stamps) => JSON.stringify(stampsOf(stamps.map(([path]) => path))) === JSON.stringify(stamps),
      );
    if (!isSame()) return false;
    if (known.read.some(([path]) => path === clientTable)) await ensureTable();
    return isSame();
  } catch {
    return false;
  }
}

/** Several processes may build and start the same entry at once: a file appears under its name when it is whole. */
function write(path, contents) {
  writeFileSync(`${path}.${process.pid}`, contents);
  renameSync(`${path}.${process.pid}`, path);
}

async function buildEntry() {
  const { build, stop } = await import('esbuild');
  const { outputFiles, metafile } = await build(options);
  await stop();
  mkdirSync(outdir, { recursive: true });
  // The entry is written last, so that a process that reads it finds the files that it imports.
  for (const { path, contents } of outputFiles.sort((a) => (a.path === outfile ? 1 : -1)))
    write(path, contents);
  const own = Object.keys(metafile.inputs).filter((path) => !path.includes('node_modules'));
  const written = outputFiles.map(({ path }) => relative(root, path));
  write(record, JSON.stringify({ read: stampsOf([...always, ...own]), wrote: stampsOf(written) }));
}

if (!(await isCurrent())) {
  // A build takes seconds, and half a minute on a busy machine.
  if (isService) console.error('Building the service …');
  await buildEntry();
}
if (isService) await (await import('./console.mjs')).buildConsole();
if (!buildOnly) {
  // Stack traces show positions in the sources.
  process.setSourceMapsEnabled(true);
  process.argv = [process.argv[0], outfile, ...args];
  await import(pathToFileURL(outfile).href);
}
