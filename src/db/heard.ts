/**
 * Which transactions a process has heard of, by their numbers. Announcements arrive in the order of commits, and each
 * tells the oldest transaction that was still open when it was made: all below that were over, so what they had to
 * announce has arrived. Only the numbers above it need to be remembered one by one.
 */
export interface Heard {
  has(transaction: number): boolean;
  /** Its announcements, and all that were committed before it, have arrived. */
  add(transaction: number): void;
  /** So have those of all transactions below this number. */
  addBelow(transaction: number): void;
}

/** One that is forgotten is asked for again, which is slower and never wrong. */
const REMEMBERED = 10_000;

export function createHeard(): Heard {
  let below = 0;
  const numbers = new Set<number>();
  return {
    has: (transaction) => transaction < below || numbers.has(transaction),
    add(transaction) {
      numbers.add(transaction);
      const [oldest] = numbers;
      if (numbers.size > REMEMBERED && oldest !== undefined) numbers.delete(oldest);
    },
    addBelow(transaction) {
      if (transaction > below) below = transaction;
    },
  };
}
