import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { backends, say } from './measure.ts';

/**
 * One core for what serves: the service, its connections of PostgreSQL, and what they are held against; the others for who
 * asks. Elsewhere nobody asks from the cores that answer, and what asking costs is then nothing that the service could
 * have done.
 */
export interface Apart {
  /** For `taskset`. */
  readonly servingCore: string;
  /** Holds there too what has been opened since. */
  readonly hold: () => Promise<void>;
  /** Everything may run anywhere again. */
  readonly end: () => Promise<void>;
}

const SERVING = '0';

/**
 * From now on, those that serve on one core, with their connections of the database, and this process on the others, with
 * whatever it starts. Null where there is one core, or nobody may say where processes run.
 */
export async function standApart(pids: readonly number[], database?: string): Promise<Apart | null> {
  const cores = availableParallelism();
  const put = (pid: number, where: string) =>
    promisify(execFile)('taskset', ['--all-tasks', '--cpu-list', '--pid', where, String(pid)]);
  const held = new Set<number>();
  async function hold(): Promise<void> {
    for (const pid of [...pids, ...(database === undefined ? [] : await backends(database))]) {
      await put(pid, SERVING);
      held.add(pid);
    }
  }
  async function end(): Promise<void> {
    // A connection that was closed meanwhile has no place.
    for (const pid of [...held, process.pid]) await put(pid, `0-${cores - 1}`).catch(() => undefined);
  }
  try {
    if (cores < 2) throw new Error('there is one core');
    await hold();
    await put(process.pid, `1-${cores - 1}`);
    return { servingCore: SERVING, hold, end };
  } catch (error) {
    await end();
    say(`Nobody is kept apart: ${(error as Error).message.split('\n')[0]}`);
    return null;
  }
}
