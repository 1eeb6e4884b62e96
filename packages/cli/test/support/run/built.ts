import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '../../../../..');

let built: Promise<string> | null = null;

/** The command as JavaScript, in parts that are loaded when they are needed, as the published package is. */
export const builtCommand = (): Promise<string> => (built ??= buildCommand());

async function buildCommand(): Promise<string> {
  // Below node_modules of the package, where its libraries are; one for each worker of the tests.
  const worker = process.env['VITEST_POOL_ID'] ?? '0';
  const folder = join(root, 'packages/cli/node_modules/.cache', `test-${worker}`);
  await mkdir(folder, { recursive: true });
  await build({
    absWorkingDir: root,
    entryPoints: { main: 'packages/cli/src/main.ts' },
    outdir: join(folder, 'src'),
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: ['commander', 'csv-parse', 'jose', 'openapi-fetch', 'standardwebhooks', 'yaml', '#service/*'],
    logLevel: 'warning',
  });
  await cp(join(root, 'packages/cli/package.json'), join(folder, 'package.json'));
  return join(folder, 'src/main.js');
}
