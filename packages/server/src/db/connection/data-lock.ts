import { mkdir, open, readFile, rm, stat } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

/**
 * Thrown if another process uses the data directory. Two processes on one embedded database would silently lose rows.
 */
export class DataDirectoryInUse extends Error {
  override readonly name = 'DataDirectoryInUse';
}

/**
 * Thrown if the data directory cannot be created, read or written. The message is one line: the problem and its fix.
 */
export class DataDirectoryUnusable extends Error {
  override readonly name = 'DataDirectoryUnusable';
}

/**
 * Turns a file system error into one that names the variable, the user and the fix. Returns other errors unchanged.
 *
 * @param variable the configuration variable that `path` comes from
 */
export function fileFault(error: unknown, variable: string, path: string): unknown {
  const { code = '' } = error as NodeJS.ErrnoException;
  const user = process.getuid?.();
  const who = user === undefined ? 'this user' : `user ${user}`;
  const messages: Readonly<Record<string, string>> = {
    EACCES: `${who} cannot read and write there (EACCES). Make it the owner: chown -R ${user ?? '<user>'} ${path}`,
    EPERM: `${who} cannot read and write there (EPERM). Make it the owner, or choose another directory.`,
    EROFS: 'the file system is read-only (EROFS). Mount a writable one there, or choose another directory.',
    ENOTDIR: 'a part of the path is a file (ENOTDIR). Name a directory.',
    EEXIST: 'it is a file (EEXIST). Choose a directory.',
    ENOENT: 'it cannot be created there (ENOENT). Choose a directory on a writable disk.',
    ENOSPC: 'the disk is full (ENOSPC). Free some space, or choose another directory.',
    EDQUOT: `the quota of ${who} is used up (EDQUOT). Free some space, or choose another directory.`,
  };
  const message = messages[code];
  return message === undefined
    ? error
    : new DataDirectoryUnusable(`${variable}: ${path}: ${message}`, { cause: error });
}

/**
 * Creates the directory and its parents. Node's `recursive` hangs if the system does not allow new directories (/proc).
 */
export async function makeDirectory(directory: string): Promise<void> {
  const make = () => mkdir(directory, { mode: 0o700 });
  try {
    await make();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && (await stat(directory)).isDirectory()) return;
    const parent = dirname(directory);
    if (code !== 'ENOENT' || (await stat(parent).catch(() => null))) throw error;
    await makeDirectory(parent);
    await make();
  }
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
    await waitForEnd(directory);
    await rm(path, { force: true });
  }
  throw new DataDirectoryInUse(`${directory} cannot be locked: another process keeps taking ${path}.`);
}

/** How long to wait for a process that was killed, whose supervisor may already be starting the next one. */
const LONGEST_END_MS = 3000;
const END_POLL_MS = 50;

/** Waits for a process that may be ending. @throws DataDirectoryInUse if it is still running after the wait */
async function waitForEnd(directory: string): Promise<void> {
  for (const began = performance.now(); ; await setTimeout(END_POLL_MS)) {
    try {
      return await assertNotInUse(directory);
    } catch (error) {
      if (performance.now() - began > LONGEST_END_MS) throw error;
    }
  }
}

/** Checks the lock without taking it. @throws DataDirectoryInUse if a running process holds it */
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
  // A zombie: the process was killed, and its parent has not collected it yet. It has no open files any more.
  if (statusOf(pid)[0] === 'Z') return false;
  const now = startTime(pid);
  return now === null || started === undefined || started === '-' || started === now;
}

/** Start time in clock ticks since boot (proc(5), field 22); null on systems without /proc. */
const startTime = (pid: number): string | null => statusOf(pid)[19] ?? null;

/** The fields of proc(5) `stat`, starting with the state; empty on systems without /proc. */
function statusOf(pid: number): readonly string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}
