import { execFile } from 'node:child_process';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';

/**
 * A data directory with an embedded database that is migrated and seeded, and which nobody has used: a service starts on
 * it in a second, where to make one anew takes ten on a busy machine. To be removed by whoever asked for it.
 */
export async function preparedDataDir(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'doorward-data-'));
  const database = join(directory, 'database');
  await mkdir(database, { mode: 0o700 });
  await promisify(execFile)('tar', ['-xf', inject('archive'), '-C', database]);
  return directory;
}
