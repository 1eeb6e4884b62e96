import { execFile } from 'node:child_process';
import { chmod, mkdtemp, open, rm, rmdir, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A file system of a few megabytes that a test can fill to its last block and free again. */
export interface SmallDisk {
  readonly path: string;
  /** Leaves no block free; returns how many bytes it wrote. */
  fill(): Promise<number>;
  /** Removes what `fill` wrote. */
  makeRoom(): Promise<void>;
  remove(): Promise<void>;
}

const run = promisify(execFile);
const BLOCK = Buffer.alloc(64 * 1024, 1);

/** Null, with a printed reason, where this user may not mount. */
export async function smallDisk(megabytes: number): Promise<SmallDisk | null> {
  const path = await mkdtemp(join(tmpdir(), 'doorward-disk-'));
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=777`, 'tmpfs', path]);
  } catch (error) {
    await rmdir(path);
    process.stdout.write(
      `disk full: left out, for nothing can be mounted here: ${String(error).split('\n')[0]}\n`,
    );
    return null;
  }
  await chmod(path, 0o777);
  const filler = join(path, 'filler');
  return {
    path,
    async fill() {
      const file = await open(filler, 'a', 0o666);
      let taken = 0;
      try {
        for (let size = BLOCK.length; size >= 1;) {
          try {
            taken += (await file.write(BLOCK, 0, size)).bytesWritten;
          } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
            size = Math.floor(size / 2);
          }
        }
      } finally {
        await file.close();
      }
      if ((await statfs(path)).bavail > 0) throw new Error('there is still room');
      return taken;
    },
    makeRoom: () => rm(filler, { force: true }),
    async remove() {
      await run('umount', ['-l', path]);
      await rmdir(path);
    },
  };
}
