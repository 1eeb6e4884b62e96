import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { fail } from '../errors.ts';
import type { Clock } from '../kernel/ports.ts';

/** Where a list goes on: the sort value (as the database writes it) and the id of the last row shown. */
export interface Position {
  readonly value: string;
  readonly id: string;
}

/**
 * Cursors are authenticated and bound to operation, scope, filters, sort and caller (conventions §7): one that
 * was altered, made elsewhere or is older than 24 hours is INVALID_CURSOR. Whoever keeps longer what a cursor leads to
 * says for how long it is good.
 */
export interface Cursors {
  seal(position: Position, binding: string): string;
  open(cursor: string, binding: string, goodForMs?: number): Position;
}

const DAY_MS = 24 * 3600 * 1000;

export function createCursors(key: Buffer, clock: Clock): Cursors {
  const mac = (payload: string, binding: string): Buffer =>
    createHmac('sha256', key)
      .update(createHash('sha256').update(binding).digest())
      .update(payload)
      .digest()
      .subarray(0, 16);
  return {
    seal({ value, id }, binding) {
      const payload = Buffer.from(JSON.stringify([value, id, clock.now().getTime()])).toString('base64url');
      return `${payload}.${mac(payload, binding).toString('base64url')}`;
    },
    open(cursor, binding, goodForMs = DAY_MS) {
      const [payload = '', tag = ''] = cursor.split('.');
      const given = Buffer.from(tag, 'base64url');
      const expected = mac(payload, binding);
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw fail('INVALID_CURSOR');
      const [value, id, at] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [
        string,
        string,
        number,
      ];
      if (clock.now().getTime() - at > goodForMs) throw fail('INVALID_CURSOR');
      return { value, id };
    },
  };
}
