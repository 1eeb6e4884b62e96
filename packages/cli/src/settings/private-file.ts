import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { usageFault } from '../fault.ts';

/* Configuration files. A private file is refused if other users can read it, except on Windows. Writes are atomic. */

const OTHERS = 0o077;
const isWindows = process.platform === 'win32';

/**
 * Reads a private JSON file; undefined if there is none.
 * @throws Fault if others may read it, or it isn't valid JSON
 */
export async function readPrivate(path: string): Promise<unknown> {
  await assertPrivate(path);
  return readJson(path);
}

/** Reads a JSON file; undefined if it doesn't exist. @throws Fault if it can't be read, or isn't valid JSON */
export async function readJson(path: string): Promise<unknown> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw usageFault(`${path} cannot be read (${error.code ?? error.name}).`);
  });
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw usageFault(`${path} is not valid JSON.`, 'correct it, or delete it and sign in again');
  }
}

async function assertPrivate(path: string): Promise<void> {
  const stats = await stat(path).catch(() => undefined);
  if (!stats || isWindows || (stats.mode & OTHERS) === 0) return;
  throw usageFault(`Others may read ${path}, which has secrets.`, `chmod 600 ${path}`);
}

/** Writes a temporary file and renames it, so that readers find either the old file or the new one. */
export async function writePrivate(path: string, value: unknown): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const beside = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    const file = await open(beside, 'wx', 0o600);
    await file.writeFile(`${JSON.stringify(value, null, 2)}\n`);
    await file.sync();
    await file.close();
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true });
    throw usageFault(`${path} cannot be written (${(error as NodeJS.ErrnoException).code ?? 'unknown'}).`);
  }
}
