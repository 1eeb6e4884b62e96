import { slowness } from './slowness.ts';

/** Measures how long a piece of work blocked the event loop. */
interface Toll<T> {
  readonly result: T;
  /** The longest time in which no timer could fire, in milliseconds; at most the processor time of the work. */
  readonly blockedMs: number;
}

const TICK_MS = 5;

/**
 * Does the work and watches the event loop meanwhile. A late timer was delayed by the code that ran before it. On a
 * busy machine the process itself waits too, which the work did not cause: hence the processor time.
 */
async function tollOf<T>(work: () => Promise<T>): Promise<Toll<T>> {
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
 * The least of three measurements, or the first one below a bound: expensive work is expensive each time, and a delay
 * by a busy machine is not repeated. A slow machine may take longer, as it takes longer for known work.
 */
export async function leastToll<T>(mostMs: number, work: () => Promise<T>): Promise<Toll<T>> {
  let least = await tollOf(work);
  for (let again = 0; again < 2 && least.blockedMs >= mostMs; again++) {
    const toll = await tollOf(work);
    const blockedMs = toll.blockedMs / slowness();
    if (blockedMs < least.blockedMs) least = { ...toll, blockedMs };
  }
  return least;
}
