/** How long promise callbacks may run before timers and sockets get a chance to. */
const LONGEST_BUSY_MS = 20;

/**
 * Returns a function to call before work that awaits only promises, never timers or I/O. If such work has blocked the
 * event loop for too long, the function returns a promise to await first. Without that pause, a loop over `await can()`
 * would block the application's timers and this client's polls.
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

/** Runs `work` after the current tick. Uses `setTimeout` in runtimes without `setImmediate`. */
function afterThisTurn(work: () => void): void {
  if (typeof setImmediate === 'function') setImmediate(work);
  else setTimeout(work, 0);
}
