import type { RequestSlot } from '../context.ts';

/**
 * Runs a read after the earlier reads of the request have settled. A request has one slot, which stands for one
 * connection, but the fields of a GraphQL document are resolved concurrently. If each field took a connection, a few
 * requests would hold all connections, and their own fields would time out waiting for a connection.
 */
export function inTurn<T>(slot: RequestSlot, read: () => Promise<T>): Promise<T> {
  const reading = slot.reading ? slot.reading.then(read, read) : read();
  slot.reading = reading;
  return reading;
}
