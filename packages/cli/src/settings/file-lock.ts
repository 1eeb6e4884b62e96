import { mkdir, open, readFile, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { exitCodes } from '../exit-codes.ts';
import { Fault, usageFault } from '../fault.ts';

const LONGEST_WAIT_MS = 15_000;
/** No process holds the lock longer than this, so an older lock is from a process that was killed. */
const STALE_MS = 60_000;

/** Runs work while holding a lock file, so that no other process does the same work at the same time. */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch(cannotWrite(path));
  const deadline = performance.now() + LONGEST_WAIT_MS;
  while (!(await take(path))) {
    if (performance.now() > deadline)
      throw new Fault(
        exitCodes.notReached,
        'LOCKED',
        'Another run holds the sign-in.',
        `if there is none, delete ${path}`,
      );
    await sleep(20);
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function take(path: string): Promise<boolean> {
  const file = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') return undefined;
    return cannotWrite(path)(error);
  });
  if (!file) {
    if (await isStale(path)) await rm(path, { force: true });
    return false;
  }
  await file.writeFile(String(process.pid));
  await file.close();
  return true;
}

async function isStale(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  if (!stats) return false;
  if (Date.now() - stats.mtimeMs > STALE_MS) return true;
  const pid = Number(await readFile(path, 'utf8').catch(() => ''));
  // Without a process id the file is still being written.
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

const cannotWrite =
  (path: string) =>
  (error: NodeJS.ErrnoException): never => {
    throw usageFault(`${path} cannot be written (${error.code ?? error.name}).`);
  };
