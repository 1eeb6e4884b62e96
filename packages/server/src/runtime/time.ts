import { setTimeout as wait } from 'node:timers/promises';
import type { Clock, Delay } from '../kernel/ports.ts';

/** The system clock. */
export const realClock: Clock = { now: () => new Date() };

/** Real delays, by the timers of Node.js. */
export const realDelay: Delay = { wait: (milliseconds) => wait(milliseconds) };
