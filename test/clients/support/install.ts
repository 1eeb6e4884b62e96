import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const folder = join(import.meta.dirname, '..');

const changedAt = async (path: string): Promise<number> =>
  (await stat(join(folder, path)).catch(() => null))?.mtimeMs ?? 0;

/**
 * Installs the clients, where they are not yet. They are no workspace: what they need would move libraries of the service
 * to other places, and their types would reach its sources.
 */
export default async function install(): Promise<void> {
  const installed = await changedAt('node_modules/.package-lock.json');
  if (installed > (await changedAt('package-lock.json'))) return;
  // Settings of the npm that runs the tests are not for this one.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
  await promisify(execFile)('npm', ['ci', '--prefer-offline'], { cwd: folder, env });
}
