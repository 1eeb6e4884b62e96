import type { Changes } from '../db/changes.ts';
import type { WatchCaller } from '../kernel/stages.ts';

/**
 * How long an answer about the caller is still used after a change in the tenant.
 *
 * A mutation that had to wait asks about its caller again if the user, their session or their key changed meanwhile:
 * they left, were disabled or were signed out. Any other change in the tenant may also have changed what their roles
 * hold, but most do not, and where many mutations wait for one tenant there is always one. After such a change the
 * earlier answer is used for half a second more. So whoever lost a right is refused within the promised second, and a
 * busy tenant does not ask before every mutation.
 */
const HOLDS_MS = 500;

/** What is known of changes, in this process. */
export type Heard = Pick<Changes, 'now' | 'isFresh' | 'isTrusted'>;

export function createCallerWatch(
  changes: Heard,
  /** Milliseconds of a monotonic clock. */
  elapsed: () => number = () => performance.now(),
): WatchCaller {
  return (isAgain = false) => {
    const [moment, began] = [changes.now(), elapsed()];
    return ({ userId, credentialId }, scope) => {
      if (changes.isTrusted()) {
        const own = [`user:${userId}`, `session:${credentialId}`, `credential:${credentialId}`];
        const isSame = changes.isFresh(moment, own);
        if (!isSame && !isAgain) return true;
        const nodes = [scope?.nodeId, scope?.parentId].flatMap((id) => (id ? [`node:${id}`] : []));
        if (isSame && changes.isFresh(moment, nodes)) return false;
      }
      return elapsed() - began > HOLDS_MS;
    };
  };
}
