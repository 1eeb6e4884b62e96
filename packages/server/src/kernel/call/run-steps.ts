/** A computation that yields values that may be promises, and gets back the settled value of each. */
export type Steps<T = unknown> = Generator<unknown, T, unknown>;

/** Runs the steps synchronously until a yielded value is a promise. Returns a promise only in that case. */
export function runSteps<T>(
  steps: Steps<T>,
  step: IteratorResult<unknown, T> = steps.next(),
): T | Promise<T> {
  while (!step.done) {
    const { value } = step;
    if (value instanceof Promise) {
      return value.then(
        (settled: unknown) => runSteps(steps, steps.next(settled)),
        (error: unknown) => runSteps(steps, steps.throw(error)),
      );
    }
    step = steps.next(value);
  }
  return step.value;
}
