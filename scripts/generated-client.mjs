/**
 * The client of packages/node is generated from the operations of the service and isn't committed. What compiles or
 * analyzes its types calls `ensureClient` first. What runs it calls `ensureTable`, which takes half the time.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..');
export const clientFolder = 'packages/node/src/client/generated';
/** The only generated file with values. The others contain types, and bundlers drop imports of types. */
export const clientTable = `${clientFolder}/table.ts`;
export const clientFiles = ['api.ts', 'openapi.ts', 'table.ts'].map((name) => `${clientFolder}/${name}`);
/** The hash of each file that the last generation read and wrote, by its path. */
export const record = join(root, 'dist/generated-client.json');

export const hashOf = (content) => createHash('sha256').update(content).digest('base64');

/** Whether these files belong to the sources. By hashes: a checkout or a copy can leave other content with an older time. */
export function areCurrent(files) {
  try {
    const { read, wrote } = JSON.parse(readFileSync(record, 'utf8'));
    return (
      files.every((path) => path in wrote) &&
      Object.entries({ ...read, ...wrote }).every(
        ([path, hash]) => hashOf(readFileSync(join(root, path))) === hash,
      )
    );
  } catch {
    return false;
  }
}

const ensured = new Map();
/** Compares the sources once per process. */
const ensure = (files, ...args) => {
  const key = args.join();
  if (!ensured.has(key)) ensured.set(key, areCurrent(files) ? Promise.resolve() : generate(args));
  return ensured.get(key);
};
export const ensureClient = () => ensure(clientFiles);
export const ensureTable = () => ensure([clientTable], '--table');

/** In a process of its own: the operations would stay in the memory of a service that this process runs. */
async function generate(args) {
  const child = spawn(process.execPath, [join(root, 'scripts/generate-client.mjs'), ...args], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error('The client of packages/node could not be generated: see above.');
}

/** For esbuild: generates the table if a program bundles it. */
export const clientForEsbuild = {
  name: 'generated-client',
  setup({ onResolve }) {
    onResolve({ filter: /\/generated\/table\.ts$/ }, async () => {
      await ensureTable();
      return undefined;
    });
  },
};

/** For Vitest, as a `globalSetup`: tests import the client, bundle it, and start programs that do. */
export default async function setup(project) {
  await ensureTable();
  project.onTestsRerun(() => {
    ensured.clear();
    return ensureTable();
  });
}
