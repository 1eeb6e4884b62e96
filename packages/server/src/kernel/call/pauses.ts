import { setImmediate as nextTurn } from 'node:timers/promises';

/** A response from the database takes several turns of the event loop, each of which may wait this long. */
const LONGEST_BUSY_MS = 10;

/**
 * Returns a function to call between the steps of long work. If the event loop hasn't turned for a while, it returns a pause in
 * which other requests run. The first call in a turn starts the clock.
 */
export function createPauses(longestBusyMs = LONGEST_BUSY_MS): () => Promise<void> | undefined {
  let busySince: number | null = null;
  return () => {
    if (busySince !== null) return performance.now() - busySince > longestBusyMs ? nextTurn() : undefined;
    busySince = performance.now();
    setImmediate(() => (busySince = null));
    return undefined;
  };
}
