import type { NamedOperation } from '../kernel/operation.ts';

/**
 * What stands in line together. Each lane has a bound of its own for what is under way, so that a flood of one kind takes
 * no room from another: whoever lists a million rows does not keep a decision waiting.
 */
export const laneNames = ['checks', 'exchange', 'signIn', 'graphql', 'lists', 'plain'] as const;
export type LaneName = (typeof laneNames)[number];

/** Read from the declaration; null: never refused for lack of room. */
export function laneOf({ rate, limit, access, sharesCommit, input }: NamedOperation): LaneName | null {
  if (rate === 'exempt') return null;
  if (rate !== undefined) return 'checks';
  if (sharesCommit || limit?.class === 'refresh') return 'exchange';
  if (access === 'public' || limit?.class === 'auth') return 'signIn';
  return 'cursor' in input || limit?.class === 'export' ? 'lists' : 'plain';
}

/** So many of a lane are always let in: a page that asks for a few things at once is no flood, on a slow machine either. */
const FEWEST = 8;
/** So many at once are a burst and no overload, until they were seen to wait. */
const BURST = 128;

/**
 * How many of one kind may be under way. The bound follows what they wait for: it is cut in proportion while the wait is
 * above its target, once for each load that was let in under it, and grows by a tenth while there is no wait and what
 * is allowed is made use of. By Little's law what is under way is the wait times what is served, so the bound settles
 * where everybody who is let in waits about as long as the target, however fast the work of the day is.
 */
export class Lane {
  readonly name: LaneName;
  /** Requests that were refused since the start. */
  shed = 0;
  /** Requests under way, or that ended in this turn of the event loop. */
  inFlight = 0;
  limit: number;
  readonly #most: number;
  readonly #fewest: number;
  readonly #burst: number;
  #peak = 0;

  /** @param most never more are under way; `adapts`: the bound follows what is waited for */
  constructor(name: LaneName, { most, adapts }: { readonly most: number; readonly adapts: boolean }) {
    this.name = name;
    this.#most = most;
    this.#fewest = Math.min(FEWEST, most);
    // A decision takes microseconds, so many of them are nothing.
    this.#burst = adapts && name !== 'checks' ? Math.min(BURST, most) : most;
    this.limit = this.#burst;
  }

  get isFull(): boolean {
    return this.inFlight >= this.limit;
  }

  /** Whether as many are under way as are always let in. */
  get isBusy(): boolean {
    return this.inFlight >= this.#fewest;
  }

  enter(): void {
    if (++this.inFlight > this.#peak) this.#peak = this.inFlight;
  }

  leave(count: number): void {
    this.inFlight -= count;
  }

  /** `pressure`: what was waited by what may be; above 1 there is too much under way. */
  adapt(pressure: number): void {
    const peak = this.#peak;
    this.#peak = this.inFlight;
    if (pressure > 1) {
      // Those whom the last cut was meant to keep out are still leaving.
      if (peak > this.limit) return;
      this.limit = Math.max(this.#fewest, Math.floor(peak * Math.max(0.5, 1 / pressure)));
    } else if (this.limit < this.#burst || peak * 2 > this.limit) {
      this.limit = Math.min(this.#most, Math.ceil(this.limit * 1.1));
    } else {
      this.limit = Math.max(this.#burst, Math.floor(this.limit * 0.99));
    }
  }
}
