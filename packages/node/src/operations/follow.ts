import { DoorwardError } from '../contracts/errors.ts';
import type { Page } from './pages.ts';
import { delay } from '../calls/wait.ts';

interface FollowSettings {
  readonly after: string | null;
  readonly pollMs: number;
  readonly signal: AbortSignal | undefined;
  readonly read: (cursor: string | undefined) => Promise<Page>;
}

const LONGEST_WAIT_MS = 30_000;

/** Reads a feed endlessly: polls for new events, and retries while the service doesn't respond. */
export class FeedStream implements AsyncIterableIterator<unknown> {
  readonly #items: AsyncGenerator<unknown>;
  #cursor: string | null;

  constructor(settings: FollowSettings) {
    this.#cursor = settings.after;
    this.#items = this.#run(settings);
  }

  /** The position to continue from: all events before it have been processed. */
  get cursor(): string | null {
    return this.#cursor;
  }

  next(): Promise<IteratorResult<unknown>> {
    return this.#items.next();
  }

  return(): Promise<IteratorResult<unknown>> {
    return this.#items.return(undefined);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async *#run({ pollMs, signal, read }: FollowSettings): AsyncGenerator<unknown> {
    let failures = 0;
    for (;;) {
      const page = await read(this.#cursor ?? undefined).catch((error: unknown) => {
        if (!(error instanceof DoorwardError && error.retryable)) throw error;
        return error;
      });
      if (page instanceof DoorwardError) {
        const waitMs = Math.max(page.retryAfterMs ?? 0, Math.min(LONGEST_WAIT_MS, 500 * 2 ** failures++));
        await delay(waitMs, signal);
        continue;
      }
      failures = 0;
      yield* page.items;
      this.#cursor = page.nextCursor ?? this.#cursor;
      if (!page.hasNextPage) await delay(pollMs, signal);
    }
  }
}
