import type { Changes } from '../db/cache/changes.ts';
import type { WatchCaller } from '../kernel/stages.ts';

/**
 * How long the check of a caller stays valid after a change in the tenant.
 *
 * A mutation that had to wait checks its caller again if the user, their session or their key changed in the meantime,
 * because the user may have left, been disabled or signed out. Any other change in the tenant may have changed the
 * permissions of their roles. Most do not, and a busy tenant changes all the time, so after such a change the earlier
 * check stays valid for half a second. A caller who loses a right is thus refused within the promised second, without a
 * check before every mutation.
 */
const GRACE_MS = 500;

/** The members of `Changes` that tell which changes this process has seen. */
export type WatchedChanges = Pick<Changes, 'now' | 'isFresh' | 'isTrusted'>;

export function createCallerWatch(
  changes: WatchedChanges,
  /** A monotonic clock, in milliseconds. */
  elapsed: () => number = () => performance.now(),
): WatchCaller {
  return (isAgain = false) => {
    const [version, began] = [changes.now(), elapsed()];
    return ({ userId, credentialId }, scope) => {
      if (changes.isTrusted()) {
        const own = [`user:${userId}`, `session:${credentialId}`, `credential:${credentialId}`];
        const isUnchanged = changes.isFresh(version, own);
        if (!isUnchanged && !isAgain) return true;
        const nodes = [scope?.nodeId, scope?.parentId].flatMap((id) => (id ? [`node:${id}`] : []));
        if (isUnchanged && changes.isFresh(version, nodes)) return false;
      }
      return elapsed() - began > GRACE_MS;
    };
  };
}
