import type { Changes } from '../db/changes.ts';
import type { WatchCaller } from '../kernel/stages.ts';

/**
 * When a mutation that had to wait must ask about its caller again. What was found out about them holds until it is heard
 * that they themselves, their session or their key changed: they left, were disabled, were signed out. Any change in the
 * tenant may also have changed what their roles hold, but most have not, and where many wait for one tenant there is always
 * one: after such a change the answer holds for half a second more. So whoever lost a right is refused within the second
 * that is promised, and whoever waits in a busy tenant does not ask at every turn.
 */
const HOLDS_MS = 500;

/** What is known of changes, in this process. */
export type Heard = Pick<Changes, 'now' | 'isFresh' | 'isTrusted'>;

export function createCallerWatch(
  changes: Heard,
  /** Milliseconds that no change of the clock moves. */
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
