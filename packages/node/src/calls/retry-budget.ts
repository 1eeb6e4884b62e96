/**
 * Limits retries, because they add load to a service that is already failing. Within ten seconds it allows one retry
 * for every five calls, and at least ten retries.
 */
export class RetryBudget {
  readonly #now: () => number;
  #calls: number[] = [];
  #repetitions: number[] = [];
  #second = 0;

  /** @param now returns milliseconds of a monotonic clock */
  constructor(now: () => number) {
    this.#now = now;
  }

  countCall(): void {
    this.#advance();
    this.#calls[0] = (this.#calls[0] ?? 0) + 1;
  }

  /** Returns whether a retry is allowed, and counts it if so. */
  take(): boolean {
    this.#advance();
    if (sum(this.#repetitions) >= Math.max(10, sum(this.#calls) * 0.2)) return false;
    this.#repetitions[0] = (this.#repetitions[0] ?? 0) + 1;
    return true;
  }

  /** Shifts the counts so that position 0 is the current second, and drops those older than ten seconds. */
  #advance(): void {
    const second = Math.floor(this.#now() / 1000);
    const empty = Array<number>(Math.min(Math.max(second - this.#second, 0), 10)).fill(0);
    this.#calls = [...empty, ...this.#calls].slice(0, 10);
    this.#repetitions = [...empty, ...this.#repetitions].slice(0, 10);
    this.#second = second;
  }
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
