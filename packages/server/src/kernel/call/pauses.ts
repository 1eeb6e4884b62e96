import { setImmediate as nextTurn } from 'node:timers/promises';

/** An answer from the database takes several turns of the event loop, each of which may have to wait as long. */
const LONGEST_BUSY_MS = 10;

/**
 * Returns a function that long work calls between its steps. It returns a pause, in which other requests run, if the event loop
 * has not turned for a while.
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
