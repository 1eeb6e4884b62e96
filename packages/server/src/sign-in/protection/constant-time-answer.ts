import type { Run } from '../../services.ts';

/**
 * If a known and an unknown address cause different work, the response time must not reveal the difference. So the
 * answer waits until a whole number of steps has passed since a moment that both reach alike. That moment is the end
 * of the password hash, not its beginning, because the duration of the hash depends on the load of the machine: if
 * it had almost filled a step, the remaining work would decide in which step the answer falls.
 */
export const STEP_MS = 250;

/** Milliseconds until the next whole step; at least one step in total. */
export const remainderOfStep = (elapsedMs: number): number =>
  Math.max(1, Math.ceil(elapsedMs / STEP_MS)) * STEP_MS - elapsedMs;

/** Delays the answer until the next step after commit. `since`: a time of `performance.now()`. */
export function delayToStep(ctx: Pick<Run, 'afterCommit' | 'services'>, since: number): void {
  ctx.afterCommit(() => ctx.services.delay.wait(remainderOfStep(performance.now() - since)));
}
