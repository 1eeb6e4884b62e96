import { getRandomValues, randomUUID } from 'node:crypto';
import { v7 } from 'uuid';
import type { Clock, Ids } from './kernel/ports.ts';

const BYTES = 16;
const AT_ONCE = 256;

/**
 * UUIDs of version 7, whose order is that in which they were made (RFC 9562 §6.2: a counter that begins anywhere in each
 * millisecond), and of version 4.
 *
 * The library asks the system for the random bytes of each id, which takes longer than all else about it: here they are
 * asked for 256 at a time.
 */
export function createIds(clock: Clock): Ids {
  const random = new Uint8Array(AT_ONCE * BYTES);
  const numbers = new DataView(random.buffer);
  let used = random.length;
  let ms = 0;
  let counter = 0;

  function next(): string {
    if (used === random.length) {
      getRandomValues(random);
      used = 0;
    }
    const now = clock.now().getTime();
    if (now > ms) {
      ms = now;
      counter = numbers.getInt32(used + 6);
    } else {
      counter = (counter + 1) | 0;
      // Every number was used: it runs ahead of the clock rather than back.
      if (counter === 0) ms++;
    }
    return v7({ random: random.subarray(used, (used += BYTES)), msecs: ms, seq: counter });
  }

  return { next, random: () => randomUUID() };
}
