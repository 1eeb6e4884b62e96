import type { Run } from '../identity/sign-in.ts';

/**
 * Where a known and an unknown address take different work, the answer is given at a moment that does not tell which it
 * was: a whole number of steps after a moment that both reach alike. That is the end of the hash, not its beginning:
 * hashing takes as long as the machine is busy, and a step that it had almost used up would leave the rest of the work
 * to decide in which one the answer falls.
 */
export const STEP_MS = 250;

/** What is left until the next whole step, of which there is at least one. */
export const leftOfStep = (elapsedMs: number): number =>
  Math.max(1, Math.ceil(elapsedMs / STEP_MS)) * STEP_MS - elapsedMs;

/** Lets the answer wait for its moment, once everything is committed. `since`: by `performance.now()`. */
export function answerEvenly(ctx: Pick<Run, 'afterCommit'>, since: number): void {
  ctx.afterCommit(() => new Promise((resolve) => setTimeout(resolve, leftOfStep(performance.now() - since))));
}
