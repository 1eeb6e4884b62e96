import type { Clock } from './transport.ts';

/**
 * A moment on two clocks, to measure later how long ago it was. One clock is not enough: the monotonic clock can stop
 * while the machine sleeps, and the system clock can be set.
 */
export interface Moment {
  readonly monotonic: number;
  readonly system: number;
}

type Clocks = Pick<Clock, 'now' | 'monotonic'>;

export const momentOf = (clock: Clocks): Moment => ({ monotonic: clock.monotonic(), system: clock.now() });

/**
 * Milliseconds since a moment, by the clock that shows the longer time. So data is refreshed too early rather than used
 * for too long.
 */
export const sinceMs = (clock: Clocks, { monotonic, system }: Moment): number =>
  Math.max(clock.monotonic() - monotonic, clock.now() - system);
