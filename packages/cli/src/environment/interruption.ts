import { setTimeout as pause } from 'node:timers/promises';

const LONGEST_WAIT_MS = 2000;

/** Lets work finish after Ctrl-C. If a refresh token were used and the new one not stored, the session would end. */
export type Protect = <T>(work: Promise<T>) => Promise<T>;

/** Interrupts one run on Ctrl-C, after waiting up to two seconds for protected work. */
export class Interruption {
  readonly #first = new AbortController();
  readonly #second = new AbortController();
  readonly #protected = new Set<Promise<unknown>>();

  /** Aborted by the first Ctrl-C. */
  get signal(): AbortSignal {
    return this.#first.signal;
  }

  readonly interrupt = (): void => (this.signal.aborted ? this.#second : this.#first).abort();

  readonly protect: Protect = (work) => {
    this.#protected.add(work);
    return work.finally(() => this.#protected.delete(work));
  };

  /** Resolves when an interrupted run can end. @returns false after a second Ctrl-C, which ends the run immediately */
  async settled(): Promise<boolean> {
    await aborted(this.signal);
    await Promise.race([
      Promise.allSettled(this.#protected),
      pause(LONGEST_WAIT_MS, undefined, { ref: false }),
      aborted(this.#second.signal),
    ]);
    return !this.#second.signal.aborted;
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
