import type { Run } from '../identity/sign-in.ts';

/**
 * Where a known and an unknown address take different work, the time of the answer must not tell them apart. So the
 * answer waits until a whole number of steps has passed since a moment that both reach alike. That moment is the end of
 * the password hash, not its beginning: the time of the hash depends on the load of the machine. If it had almost
 * filled a step, the remaining work would decide in which step the answer falls.
 */
export const STEP_MS = 250;

/** Milliseconds until the next whole step; at least one step in all. */
export const leftOfStep = (elapsedMs: number): number =>
  Math.max(1, Math.ceil(elapsedMs / STEP_MS)) * STEP_MS - elapsedMs;

/** Delays the answer until the next step, once everything is committed. `since`: a time of `performance.now()`. */
export function answerEvenly(ctx: Pick<Run, 'afterCommit'>, since: number): void {
  ctx.afterCommit(() => new Promise((resolve) => setTimeout(resolve, leftOfStep(performance.now() - since))));
}
