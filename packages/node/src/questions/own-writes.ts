/** Remembers the revision of this client's last change (packages §5), so that its questions see the change. */
export class OwnWrites {
  readonly #now: () => number;
  #revision: string | null = null;
  #at = -Infinity;
  #onWrite: () => void = () => undefined;

  /** @param now returns milliseconds of a monotonic clock */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** The revision of the last change, however long ago. */
  get revision(): string | null {
    return this.#revision;
  }

  /**
   * The revision that a question must see. Undefined after a minute, because by then every process of the service has
   * the change.
   */
  get recent(): string | undefined {
    return this.#revision !== null && this.#now() - this.#at < 60_000 ? this.#revision : undefined;
  }

  /** Calls the function after each change. */
  observe(onWrite: () => void): void {
    this.#onWrite = onWrite;
  }

  readonly read = (headers: Headers): void => {
    const revision = headers.get('x-doorward-revision');
    if (revision === null || !/^[\w-]{1,128}$/.test(revision)) return;
    this.#revision = revision;
    this.#at = this.#now();
    this.#onWrite();
  };
}
