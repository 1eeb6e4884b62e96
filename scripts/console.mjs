/** Builds the admin console into the folder from which the service serves it, unless that is current. */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { clientFolder, clientTable, ensureTable } from './generated-client.mjs';

const root = join(import.meta.dirname, '..');
export const consoleFolder = join(root, 'packages/server/dist/console');
const record = join(root, 'packages/server/dist/console.inputs.json');
/** The sources of the console, and of our packages that it bundles. */
const folders = [
  'packages/console',
  'packages/node/src',
  'packages/decision/src',
  'packages/server/src/html',
];

function stamps() {
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      // The other files of the client are types, which change more often than the console.
      .filter((path) => path === join(root, clientTable) || dirname(path) !== join(root, clientFolder)),
  );
  const read = [...files, join(root, 'scripts/console.mjs'), join(root, 'node_modules/.package-lock.json')];
  return JSON.stringify(
    read.sort().map((path) => {
      const { mtimeMs, size } = statSync(path);
      return [relative(root, path), `${mtimeMs} ${size}`];
    }),
  );
}

function isCurrent(now) {
  try {
    return readFileSync(record, 'utf8') === now && statSync(join(consoleFolder, 'index.html')).isFile();
  } catch {
    return false;
  }
}

/**
 * Moves what was built into the folder of the service. Another build of the same sources, and a service that it started,
 * may be using that: names contain hashes, so a file of the same name has the same content, and the page that names them
 * comes last.
 */
function publish(made) {
  const assets = join(consoleFolder, 'assets');
  mkdirSync(assets, { recursive: true });
  const names = readdirSync(join(made, 'assets'));
  for (const name of names) renameSync(join(made, 'assets', name), join(assets, name));
  for (const name of readdirSync(made))
    if (name !== 'assets') renameSync(join(made, name), join(consoleFolder, name));
  for (const name of readdirSync(assets))
    if (!names.includes(name)) rmSync(join(assets, name), { force: true });
}

export async function buildConsole() {
  await ensureTable();
  const now = stamps();
  if (isCurrent(now)) return;
  console.error('Building the console …');
  const { build } = await import('vite');
  const { NODE_ENV: environment } = process.env;
  const made = `${consoleFolder}.${process.pid}`;
  try {
    await build({
      configFile: join(root, 'packages/console/vite.config.ts'),
      build: { outDir: made, emptyOutDir: true },
    });
    publish(made);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
  // Vite sets it to production, and the service that starts in this process afterwards would believe it.
  if (environment === undefined) delete process.env.NODE_ENV;
  else process.env.NODE_ENV = environment;
  mkdirSync(join(root, 'packages/server/dist'), { recursive: true });
  writeFileSync(record, now);
}
