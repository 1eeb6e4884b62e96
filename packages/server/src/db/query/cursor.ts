import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { fail } from '../../errors.ts';
import type { Clock } from '../../kernel/ports.ts';

/** The position after which a list continues: sort value (in the database's text form) and id of the last row. */
interface Position {
  readonly value: string;
  readonly id: string;
}

/**
 * Cursors are authenticated and bound to operation, scope, filters, sort order and caller (conventions §7). A cursor
 * that was altered, belongs to another list or is older than 24 hours fails with INVALID_CURSOR. An operation may pass
 * a longer `maxAgeMs`.
 */
export interface Cursors {
  seal(position: Position, binding: string): string;
  open(cursor: string, binding: string, maxAgeMs?: number): Position;
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
    open(cursor, binding, maxAgeMs = DAY_MS) {
      const [payload = '', tag = ''] = cursor.split('.');
      const received = Buffer.from(tag, 'base64url');
      const expected = mac(payload, binding);
      if (received.length !== expected.length || !timingSafeEqual(received, expected))
        throw fail('INVALID_CURSOR');
      const [value, id, at] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [
        string,
        string,
        number,
      ];
      if (clock.now().getTime() - at > maxAgeMs) throw fail('INVALID_CURSOR');
      return { value, id };
    },
  };
}
