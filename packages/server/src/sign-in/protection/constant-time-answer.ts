/*
 * Hides differences in response time. If a known and an unknown address cause different work, the response waits until
 * a whole number of steps has passed since a moment that both cases reach in the same way. That moment is the end of
 * the password hash, not its beginning, because the duration of the hash depends on the load of the machine: if it
 * almost filled a step, the remaining work would decide in which step the response falls.
 */

import type { Run } from '../../services.ts';

/** The length of a step in milliseconds. */
export const STEP_MS = 250;

/** Milliseconds until the end of the current step. At zero, the whole first step is left. */
export const remainderOfStep = (elapsedMs: number): number =>
  Math.max(1, Math.ceil(elapsedMs / STEP_MS)) * STEP_MS - elapsedMs;

/** Delays the response until the end of the current step, after the commit. `since`: a time of `performance.now()`. */
export function delayToStep(ctx: Pick<Run, 'afterCommit' | 'services'>, since: number): void {
  ctx.afterCommit(() => ctx.services.delay.wait(remainderOfStep(performance.now() - since)));
}
