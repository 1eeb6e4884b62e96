interface SeenTransactions {
  has(transaction: number): boolean;
  /** Marks a transaction as seen: its announcements have arrived. */
  add(transaction: number): void;
  /** Marks all transactions below this number as seen. */
  addBelow(transaction: number): void;
}

/** Forgetting a number is always safe; it only costs a query later. */
const MAX_NUMBERS = 10_000;

/**
 * Creates an empty record of the transactions whose announcements this process has received. Announcements arrive in
 * commit order, and each contains the oldest transaction that was open at that time. All transactions below it have
 * ended, so their announcements have arrived. Only higher numbers are stored individually.
 */
export function createSeenTransactions(): SeenTransactions {
  let allSeenBelow = 0;
  const numbers = new Set<number>();
  return {
    has: (transaction) => transaction < allSeenBelow || numbers.has(transaction),
    add(transaction) {
      numbers.add(transaction);
      const [oldest] = numbers;
      if (numbers.size > MAX_NUMBERS && oldest !== undefined) numbers.delete(oldest);
    },
    addBelow(transaction) {
      if (transaction > allSeenBelow) allSeenBelow = transaction;
    },
  };
}
