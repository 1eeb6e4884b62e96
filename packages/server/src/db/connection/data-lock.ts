import { open, readFile, rm } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Another process uses the data directory. Two processes on one embedded database would lose rows silently. */
export class DataDirectoryInUse extends Error {
  override readonly name = 'DataDirectoryInUse';
}

/**
 * Takes the lock file of a data directory. Replaces a lock only if its process has ended, or if its process id belongs
 * to a process with another start time.
 *
 * @returns a function that releases the lock
 * @throws DataDirectoryInUse when a running process holds the lock
 */
export async function lockDataDirectory(directory: string): Promise<() => Promise<void>> {
  const path = join(directory, 'doorward.lock');
  const ownLine = `${process.pid} ${startTime(process.pid) ?? '-'}\n`;
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      const file = await open(path, 'wx', 0o600);
      await file.writeFile(ownLine);
      await file.sync();
      await file.close();
      return () => rm(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    await assertNotInUse(directory);
    await rm(path, { force: true });
  }
  throw new DataDirectoryInUse(`${directory} cannot be locked: another process keeps taking ${path}.`);
}

/** @throws DataDirectoryInUse when a running process holds the lock; takes no lock itself */
export async function assertNotInUse(directory: string): Promise<void> {
  const content = await readFile(join(directory, 'doorward.lock'), 'utf8').catch(() => '');
  const [pid, started] = content.trim().split(' ');
  if (!isAlive(Number(pid), started)) return;
  throw new DataDirectoryInUse(
    `${directory} is in use by process ${pid}. The embedded database serves one process: stop that one, ` +
      `give this one another DATA_DIR, or set DATABASE_URL to run several processes on PostgreSQL.`,
  );
}

function isAlive(pid: number, started: string | undefined): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  const now = startTime(pid);
  return now === null || started === undefined || started === '-' || started === now;
}

/** Start time in clock ticks since boot (proc(5), field 22); null where there is no /proc. */
function startTime(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}
