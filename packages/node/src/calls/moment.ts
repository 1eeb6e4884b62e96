import type { Clock } from './transport.ts';

/**
 * A moment by both clocks, to tell later how long ago it was. The monotonic clock stops while the machine sleeps, and the
 * system clock can be set, so neither is enough alone.
 */
export interface Moment {
  readonly monotonic: number;
  readonly system: number;
}

type Clocks = Pick<Clock, 'now' | 'monotonic'>;

export const momentOf = (clock: Clocks): Moment => ({ monotonic: clock.monotonic(), system: clock.now() });

/**
 * How long ago a moment was in milliseconds, by the clock that says more: what must not be too old is then
 * requested again too early rather than used too long.
 */
export const sinceMs = (clock: Clocks, { monotonic, system }: Moment): number =>
  Math.max(clock.monotonic() - monotonic, clock.now() - system);
