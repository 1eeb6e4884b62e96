import type { QueryClient } from '@tanstack/react-query';
import { expect } from './expectation.ts';

export interface RowKey {
  readonly noun: string;
  readonly id: string;
}

/** Marks every answer as old, and reads again those that the page shows. Resolves when the reads have begun. */
export async function refresh(queries: QueryClient): Promise<void> {
  // A first answer that is on its way may be older than the change, and would count as new.
  await queries.cancelQueries({ predicate: ({ state }) => state.data === undefined });
  void queries.invalidateQueries();
}

/** Takes the row over from the answer to its change: the page has that even if it cannot read the row again. */
export function takeOver(queries: QueryClient, { noun, id }: RowKey, answer: unknown): void {
  if (!isRow(answer, id)) return;
  expect(queries, ({ rows }) =>
    rows(
      noun,
      (row) => row.id === id,
      (before) => ({ ...before, ...answer }),
    ),
  );
}

/** Resolves when the read of a row that has begun is over, also if it failed. */
export const untilRowIsRead = (queries: QueryClient, { noun, id }: RowKey): Promise<void> =>
  queries.refetchQueries(
    { queryKey: [noun], type: 'active', predicate: ({ state }) => isRow(state.data, id) },
    { cancelRefetch: false },
  );

const isRow = (data: unknown, id: string): data is { readonly id: string } =>
  typeof data === 'object' && data !== null && 'id' in data && data.id === id;
