import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { HeldPermission } from '@doorward/decision/evaluate';
import type { Executor } from '../../kernel/scoped-db.ts';
import { loadRolePaths, MAX_PATHS } from './role-paths.ts';

/** The paths of the roles of consecutive subjects, `from` included and `to` not. */
interface PathBatch {
  readonly from: number;
  readonly to: number;
  /** Of the roles of all these subjects, in the order of `loadRolePaths`. */
  readonly paths: readonly HeldPermission[];
  /** False for subjects who all have the same roles, and more paths or bytes than the limits; decisions use no more either. */
  readonly complete: boolean;
  /** The number of paths that were read since the previous batch. */
  readonly read: number;
}

/**
 * Reads the paths of many subjects with the limits that apply to each of them, so that every subject gets the paths that a
 * decision about them uses. It reads the roles of all subjects in one statement if they are within the limits, else those
 * of fewer subjects. Yields after each statement: the widest takes long, and the embedded database works on this thread.
 */
export async function* rolePathBatches(
  db: Executor,
  rolesOfEach: readonly (readonly string[])[],
): AsyncGenerator<PathBatch> {
  let read = 0;
  for (let from = 0, size = rolesOfEach.length; from < rolesOfEach.length;) {
    const batch = rolesOfEach.slice(from, from + size);
    const { paths, complete } = await loadRolePaths(db, [...new Set(batch.flat())]);
    await yieldToEventLoop();
    read += complete ? paths.length : MAX_PATHS;
    if (!complete && new Set(batch.map(roleSetKey)).size > 1) {
      size = Math.ceil(batch.length / 4);
      continue;
    }
    const to = from + batch.length;
    yield { from, to, paths, complete, read };
    read = 0;
    from = to;
    // Wide roles may be those of a few subjects only.
    if (paths.length < MAX_PATHS / 4) size *= 2;
  }
}

/** Equal for the same roles, in any order. */
export const roleSetKey = (roleIds: readonly string[]): string => [...new Set(roleIds)].sort().join();
