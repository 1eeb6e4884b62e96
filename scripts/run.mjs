/**
 * Builds one entry file with everything of our own in it (libraries stay in node_modules) and runs it in this process.
 * Node 20 does not read TypeScript, and one bundled file starts faster than a hundred.
 *
 *   node scripts/run.mjs [--build-only] <entry.ts> [arguments]
 */
import { build, stop } from 'esbuild';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join, basename, dirname } from 'node:path';
import { pathToFileURL } from 'node:url';

const buildOnly = process.argv[2] === '--build-only';
const [entry, ...args] = process.argv.slice(buildOnly ? 3 : 2);
const root = join(import.meta.dirname, '..');
const outfile = join(root, 'dist', basename(entry).replace(/\.ts$/, '.js'));

const { outputFiles } = await build({
  absWorkingDir: root,
  entryPoints: [entry],
  outfile,
  write: false,
  bundle: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node20',
  sourcemap: true,
  logLevel: 'warning',
});
await stop();
// Several processes may build and start the same entry at once: a file appears under its name when it is whole.
mkdirSync(dirname(outfile), { recursive: true });
for (const { path, contents } of outputFiles) {
  writeFileSync(`${path}.${process.pid}`, contents);
  renameSync(`${path}.${process.pid}`, path);
}
if (!buildOnly) {
  process.setSourceMapsEnabled(true);
  process.argv = [process.argv[0], outfile, ...args];
  await import(pathToFileURL(outfile).href);
}
