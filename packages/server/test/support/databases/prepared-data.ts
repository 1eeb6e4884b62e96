import { execFile } from 'node:child_process';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';

/**
 * A data directory with an embedded database that is migrated, seeded and unused: a service starts on it in a second,
 * where creating one takes ten on a busy machine. The caller has to remove it.
 */
export async function preparedDataDir(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'doorward-data-'));
  const database = join(directory, 'database');
  await mkdir(database, { mode: 0o700 });
  await promisify(execFile)('tar', ['-xf', inject('archive'), '-C', database]);
  return directory;
}
