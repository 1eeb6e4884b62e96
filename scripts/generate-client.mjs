/** Generates packages/node/src/client/generated unless it is current: npm run client. With --table only what programs run. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, stop } from 'esbuild';
import {
  areCurrent,
  clientFiles,
  clientFolder,
  clientTable,
  hashOf,
  record,
  root,
} from './generated-client.mjs';

const files = process.argv.includes('--table') ? [clientTable] : clientFiles;
const dist = join(root, 'dist');
const bundle = join(dist, `generate-client.${process.pid}.mjs`);

/** What decides the result besides the sources: this program, the installed libraries, and where a package has its sources. */
const always = [
  'scripts/generate-client.mjs',
  'node_modules/.package-lock.json',
  'packages/decision/package.json',
];
const read = Object.fromEntries(always.map((path) => [path, hashOf(readFileSync(join(root, path)))]));

/** Hashes what esbuild reads as it reads it: a file that changes in the meantime makes the result outdated. */
const readSources = {
  name: 'sources',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^[^./#]/ }, ({ path, kind }) =>
      kind === 'entry-point' || path.startsWith('@doorward/') ? undefined : { path, external: true },
    );
    onLoad({ filter: /./, namespace: 'file' }, ({ path }) => {
      const contents = readFileSync(path);
      read[relative(root, path).replaceAll('\\', '/')] = hashOf(contents);
      return { contents, loader: 'default' };
    });
  },
};

/** The program that renders the files, from the sources as they are now. */
async function load() {
  await build({
    absWorkingDir: root,
    entryPoints: ['scripts/client.ts'],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: 'inline',
    logLevel: 'warning',
    plugins: [readSources],
  });
  await stop();
  process.setSourceMapsEnabled(true);
  try {
    return await import(pathToFileURL(bundle).href);
  } finally {
    rmSync(bundle);
  }
}

/** Another process may read the file, or write it too: it appears when it is whole. */
function write(path, text) {
  const draft = join(dist, `${basename(path)}.${process.pid}`);
  writeFileSync(draft, text);
  renameSync(draft, path);
}

/** A file that stays the same keeps its time, by which builds see that nothing changed for them. */
function update(path, text) {
  if (!existsSync(path) || readFileSync(path, 'utf8') !== text) write(path, text);
}

if (!areCurrent(files)) {
  console.error('Generating the client …');
  mkdirSync(dist, { recursive: true });
  mkdirSync(join(root, clientFolder), { recursive: true });
  const { clientFiles: texts } = await load();
  const wrote = {};
  for (const path of files) {
    const text = await texts[basename(path)]();
    update(join(root, path), text);
    wrote[path] = hashOf(text);
  }
  write(record, JSON.stringify({ read, wrote }));
}
