/* Iterates over the items of pages, reading at most one page ahead. */

export interface Page<T = unknown> {
  readonly items: readonly T[];
  /** Absent for `whoCan`, where only the cursor says whether more items follow. A feed has a cursor even at its end. */
  readonly hasNextPage?: boolean;
  readonly nextCursor: string | null;
}

/** Iterates over the items of all pages. @param read returns the page at a cursor, or the first page for undefined */
export async function* eachItem<T>(
  read: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<T>>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T> {
  const ended = new AbortController();
  const end = (): void => ended.abort();
  if (signal?.aborted) end();
  signal?.addEventListener('abort', end);
  const start = (cursor: string | undefined): Promise<Page<T>> => {
    const page = read(cursor, ended.signal);
    // The loop gets the error when it awaits this page. If the loop ends earlier, the error must not stay unhandled.
    page.catch(() => undefined);
    return page;
  };
  try {
    for (let next: Promise<Page<T>> | null = start(undefined); next;) {
      const { items, hasNextPage = true, nextCursor }: Page<T> = await next;
      next = hasNextPage && nextCursor !== null ? start(nextCursor) : null;
      yield* items;
    }
  } finally {
    signal?.removeEventListener('abort', end);
    end();
  }
}
