import type { QueryClient } from '@tanstack/react-query';

/** What a change will make of rows that were read, shown before the service has answered. */
export interface Expectation {
  /** Changes the rows of a noun, in whatever lists and panels they are. */
  readonly rows: <R extends { readonly id: string }>(
    noun: string,
    isMeant: (row: R) => boolean,
    patch: (row: R) => R,
  ) => void;
  /** Changes one answer, if it was read. */
  readonly answer: <T>(key: readonly unknown[], patch: (before: T) => T) => void;
}

/** Lets the expectation change what was read. Answers how to put everything back. */
export function expect(queries: QueryClient, write: (expectation: Expectation) => void): () => void {
  const before: (readonly [key: readonly unknown[], data: unknown])[] = [];
  const replace = (key: readonly unknown[], patch: (data: unknown) => unknown): void => {
    const data = queries.getQueryData<unknown>(key);
    if (data === undefined) return;
    const next = patch(data);
    if (next === data) return;
    before.push([key, data]);
    queries.setQueryData(key, next);
  };
  write({
    rows: (noun, isMeant, patch) => {
      for (const [key] of queries.getQueriesData({ queryKey: [noun] }))
        replace(key, (data) => mapped(data, isMeant as Meant, patch as Patch));
    },
    answer: (key, patch) => replace(key, patch as Patch),
  });
  return () => {
    for (const [key, data] of before.toReversed()) queries.setQueryData(key, data);
  };
}

type Meant = (row: { readonly id: string }) => boolean;
type Patch = (data: unknown) => unknown;

/** A row, a page of rows, or several pages. */
function mapped(data: unknown, isMeant: Meant, patch: Patch): unknown {
  if (typeof data !== 'object' || data === null) return data;
  if ('pages' in data && Array.isArray(data.pages))
    return { ...data, pages: data.pages.map((page) => mapped(page, isMeant, patch)) };
  if ('items' in data && Array.isArray(data.items))
    return { ...data, items: data.items.map((row) => mapped(row, isMeant, patch)) };
  return 'id' in data && typeof data.id === 'string' && isMeant({ ...data, id: data.id })
    ? patch(data)
    : data;
}
