/** An order, as conditions see it under `resource`. A real service has a database here. */
export interface Order {
  readonly id: string;
  readonly region: string;
  readonly amount: number;
  approvedBy: string | null;
}

export const orders = new Map<string, Order>([
  ['1', { id: '1', region: 'eu', amount: 90, approvedBy: null }],
  ['2', { id: '2', region: 'eu', amount: 9000, approvedBy: null }],
  ['3', { id: '3', region: 'us', amount: 70, approvedBy: null }],
]);

export function reopenOrdersApprovedBy(userId: string): void {
  for (const order of orders.values()) if (order.approvedBy === userId) order.approvedBy = null;
}
