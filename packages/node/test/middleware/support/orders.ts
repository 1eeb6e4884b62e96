import type { Context } from '../../../src/contracts/types.ts';

/** What the guarded applications of the tests sell. */
const orders = new Map([
  ['1', { id: '1', region: 'eu' }],
  ['2', { id: '2', region: 'us' }],
]);

export class OrdersAreDown extends Error {
  override readonly name = 'OrdersAreDown';
}

/** The context of `order:read`; `missing` is no order, `broken` fails as a database would. */
export async function contextOf(id: string | undefined): Promise<Context | null> {
  if (id === 'broken') throw new OrdersAreDown('the table of orders is locked');
  if (id === 'missing') return null;
  return { resource: orders.get(id ?? '') };
}
