/** How long promises may run before timers and sockets get a turn. */
const LONGEST_BUSY_MS = 20;

/**
 * Returns a function to call before work that waits only for promises. If such work has kept the event loop busy for
 * too long, the function returns a pause. Without it, a loop over `await can()` would stop the timers of the
 * application, and the polls of this client.
 */
export function createPauses(monotonic: () => number): () => Promise<void> | undefined {
  let busySince: number | null = null;
  return () => {
    if (busySince !== null)
      return monotonic() - busySince > LONGEST_BUSY_MS ? new Promise(afterThisTurn) : undefined;
    busySince = monotonic();
    afterThisTurn(() => (busySince = null));
    return undefined;
  };
}

/** Not every runtime has `setImmediate`. */
function afterThisTurn(work: () => void): void {
  if (typeof setImmediate === 'function') setImmediate(work);
  else setTimeout(work, 0);
}
