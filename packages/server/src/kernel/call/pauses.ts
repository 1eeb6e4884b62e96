import { setImmediate as nextTurn } from 'node:timers/promises';

/** Keep this short: a response from the database takes several ticks, each of which may be delayed by this long. */
const LONGEST_BUSY_MS = 10;

/**
 * Returns a function to call between the steps of long work. If the current tick has lasted too long, the function
 * returns a pause in which other requests run. The first call in a tick starts the clock.
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
