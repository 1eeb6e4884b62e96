/**
 * Limits repetitions, because they multiply the load of a service that fails already: of the calls of the last ten
 * seconds at most 20 % are repetitions, but ten are always allowed.
 */
export class RetryBudget {
  readonly #now: () => number;
  #calls: number[] = [];
  #repetitions: number[] = [];
  #second = 0;

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number) {
    this.#now = now;
  }

  countCall(): void {
    this.#advance();
    this.#calls[0] = (this.#calls[0] ?? 0) + 1;
  }

  /** Whether a repetition is allowed; if so, it counts. */
  take(): boolean {
    this.#advance();
    if (sum(this.#repetitions) >= Math.max(10, sum(this.#calls) * 0.2)) return false;
    this.#repetitions[0] = (this.#repetitions[0] ?? 0) + 1;
    return true;
  }

  /** Position 0 is the current second; counts that are older than ten seconds are dropped. */
  #advance(): void {
    const second = Math.floor(this.#now() / 1000);
    const empty = Array<number>(Math.min(Math.max(second - this.#second, 0), 10)).fill(0);
    this.#calls = [...empty, ...this.#calls].slice(0, 10);
    this.#repetitions = [...empty, ...this.#repetitions].slice(0, 10);
    this.#second = second;
  }
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
