import type { QueryClient } from '@tanstack/react-query';
import { applyExpectation } from './expectation.ts';

export interface RowKey {
  readonly noun: string;
  readonly id: string;
}

/** Invalidates all cached responses, and reads again what the page shows. Resolves when these reads have started. */
export async function refresh(queries: QueryClient): Promise<void> {
  // A first read in flight is canceled, because its response may be older than the change but would count as fresh.
  await queries.cancelQueries({ predicate: ({ state }) => state.data === undefined });
  void queries.invalidateQueries();
}

/** Merges the response to a change into the cached row, so that the page shows it even if it can't read the row. */
export function takeOver(queries: QueryClient, { noun, id }: RowKey, answer: unknown): void {
  if (!isRow(answer, id)) return;
  applyExpectation(queries, ({ rows }) =>
    rows(
      noun,
      (row) => row.id === id,
      (before) => ({ ...before, ...answer }),
    ),
  );
}

/** Resolves when the row has been read, successfully or not. Joins a read that is in progress, else starts one. */
export const untilRowIsRead = (queries: QueryClient, { noun, id }: RowKey): Promise<void> =>
  queries.refetchQueries(
    { queryKey: [noun], type: 'active', predicate: ({ state }) => isRow(state.data, id) },
    { cancelRefetch: false },
  );

const isRow = (data: unknown, id: string): data is { readonly id: string } =>
  typeof data === 'object' && data !== null && 'id' in data && data.id === id;
