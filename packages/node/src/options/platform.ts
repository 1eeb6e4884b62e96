import type { Clock } from '../calls/transport.ts';
import type { Fetch } from '../contracts/types.ts';

/** Looks up `fetch` at each call, so that instrumentation that replaces it later is used. */
export const platformFetch: Fetch = (input, init) => globalThis.fetch(input, init);

export const platformClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  random: () => Math.random(),
};
