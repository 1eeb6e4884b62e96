import { DoorwardError } from '@doorward/node/client';

/** The row of a list that was asked for one id: some rows are read by no operation of their own. */
export function onlyRow<R>({ items: [row] }: { readonly items: readonly R[] }): R {
  if (row) return row;
  throw new DoorwardError('NOT_FOUND', 'NOT_FOUND', { status: 404 });
}
