import { setTimeout as wait } from 'node:timers/promises';
import type { Clock, Delay } from '../kernel/ports.ts';

/** The time of this machine. */
export const realClock: Clock = { now: () => new Date() };

/** Waits by the timers of this process. */
export const realDelay: Delay = { wait: (milliseconds) => wait(milliseconds) };
