/** How long a piece of work kept everybody else waiting. */
export interface Toll<T> {
  readonly result: T;
  /** The longest stretch in which no timer could fire, in milliseconds; never more than the processor time it took. */
  readonly blockedMs: number;
}

const TICK_MS = 5;

/**
 * Does the work and watches the event loop meanwhile. A timer that comes late was kept waiting by whatever ran before
 * it. On a busy machine the process itself waits too, and that is no fault of the work: hence the processor time.
 */
export async function tollOf<T>(work: () => Promise<T>): Promise<Toll<T>> {
  let last = performance.now();
  let lastCpu = process.cpuUsage();
  let blockedMs = 0;
  const tick = (): void => {
    const now = performance.now();
    const { user, system } = process.cpuUsage(lastCpu);
    blockedMs = Math.max(blockedMs, Math.min(now - last - TICK_MS, (user + system) / 1000));
    last = now;
    lastCpu = process.cpuUsage();
  };
  const timer = setInterval(tick, TICK_MS);
  try {
    const result = await work();
    tick();
    return { result, blockedMs };
  } finally {
    clearInterval(timer);
  }
}

/**
 * The least of three tolls, or the first that is below a bound: what is dear by itself is dear each time, and what a busy
 * machine added is not.
 */
export async function leastToll<T>(mostMs: number, work: () => Promise<T>): Promise<Toll<T>> {
  let least = await tollOf(work);
  for (let again = 0; again < 2 && least.blockedMs >= mostMs; again++) {
    const toll = await tollOf(work);
    if (toll.blockedMs < least.blockedMs) least = toll;
  }
  return least;
}
