import { DoorwardError } from '@doorward/node/client';

/** Returns the row of a list that was filtered by id. Some kinds of rows have no operation that reads one row. */
export function onlyRow<R>({ items: [row] }: { readonly items: readonly R[] }): R {
  if (row) return row;
  throw new DoorwardError('NOT_FOUND', 'NOT_FOUND', { status: 404 });
}
