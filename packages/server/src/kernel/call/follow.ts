/** A computation that yields every value that may be a promise, and gets the settled value back. */
export type Steps<T = unknown> = Generator<unknown, T, unknown>;

/** Runs the steps synchronously until a yielded value is a promise; returns a promise only then. */
export function follow<T>(steps: Steps<T>, step: IteratorResult<unknown, T> = steps.next()): T | Promise<T> {
  while (!step.done) {
    const { value } = step;
    if (value instanceof Promise) {
      return value.then(
        (settled: unknown) => follow(steps, steps.next(settled)),
        (error: unknown) => follow(steps, steps.throw(error)),
      );
    }
    step = steps.next(value);
  }
  return step.value;
}
