import type { Clock } from '../calls/transport.ts';
import type { Fetch } from '../contracts/types.ts';

/** `fetch` as it is at the time of the call, so that instrumentation that replaces it later is used. */
export const platformFetch: Fetch = (input, init) => globalThis.fetch(input, init);

export const platformClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  random: () => Math.random(),
};
