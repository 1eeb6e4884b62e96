import type { QueryClient } from '@tanstack/react-query';

/** Writes the expected result of a change into the cache, before the service has responded. */
export interface Expectation {
  /** Patches the matching rows of a noun, in all cached lists and panels. */
  readonly rows: <R extends { readonly id: string }>(
    noun: string,
    isMeant: (row: R) => boolean,
    patch: (row: R) => R,
  ) => void;
  /** Patches one cached response, if there is one. */
  readonly answer: <T>(key: readonly unknown[], patch: (before: T) => T) => void;
}

/** Lets `write` patch the cache. Returns a function that restores the data from before. */
export function applyExpectation(
  queries: QueryClient,
  write: (expectation: Expectation) => void,
): () => void {
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

/** Patches the matching rows in a single row, a page of rows, or several pages. */
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
