import { getRandomValues, randomUUID } from 'node:crypto';
import { v7 } from 'uuid';
import type { Clock, Ids } from '../kernel/ports.ts';

const BYTES = 16;
const IDS_PER_REFILL = 256;

/**
 * Creates UUIDs of version 7, which sort in the order of their creation (RFC 9562 §6.2: a counter with a random start
 * in each millisecond), and of version 4.
 *
 * The library requests random bytes from the system for each id, which takes most of its time. This function requests
 * the bytes of 256 ids in one call.
 */
export function createIds(clock: Clock): Ids {
  const random = new Uint8Array(IDS_PER_REFILL * BYTES);
  const numbers = new DataView(random.buffer);
  let offset = random.length;
  let ms = 0;
  let counter = 0;

  function next(): string {
    if (offset === random.length) {
      getRandomValues(random);
      offset = 0;
    }
    const now = clock.now().getTime();
    if (now > ms) {
      ms = now;
      counter = numbers.getInt32(offset + 6);
    } else {
      counter = (counter + 1) | 0;
      // The counter has overflowed, so the time in the ids runs ahead of the clock. That keeps the ids in order.
      if (counter === 0) ms++;
    }
    return v7({ random: random.subarray(offset, (offset += BYTES)), msecs: ms, seq: counter });
  }

  return { next, random: () => randomUUID() };
}
