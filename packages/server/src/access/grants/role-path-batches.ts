import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { HeldPermission } from '@doorward/decision/evaluate';
import type { Executor } from '../../kernel/scoped-db.ts';
import { loadRolePaths, MAX_PATHS } from './role-paths.ts';

/** The paths of the roles of consecutive subjects, from index `from` up to but excluding `to`. */
interface PathBatch {
  readonly from: number;
  readonly to: number;
  /** The paths of the roles of all these subjects, in the order of `loadRolePaths`. */
  readonly paths: readonly HeldPermission[];
  /**
   * False if these subjects, who then all have the same roles, have more paths or bytes than the limits. Decisions
   * about them are limited to these paths too.
   */
  readonly complete: boolean;
  /** The number of paths that were read since the previous batch. */
  readonly read: number;
}

/**
 * Reads the paths of many subjects within the limits that apply to each, so that every subject gets the same paths as
 * in a decision about them. It reads the roles of all subjects in one statement if they stay within the limits, else
 * those of fewer subjects at a time. It yields after each statement, because a statement for wide roles takes long, and
 * the embedded database runs on this thread.
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
    // Perhaps only a few of the subjects had wide roles, so the next batch may be larger.
    if (paths.length < MAX_PATHS / 4) size *= 2;
  }
}

/** A text that is equal for equal sets of roles, in any order. */
export const roleSetKey = (roleIds: readonly string[]): string => [...new Set(roleIds)].sort().join();
