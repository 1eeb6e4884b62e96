import { LRUCache } from 'lru-cache';

/**
 * How many rows match a list, remembered where counting them is dear. `totalCount` has to be exact, and a database
 * counts a million rows one by one; but the rows of a tenant that rights are read from never change without another
 * version of its policy (src/events/record.ts). So the number is kept with the version of which it was true, both read
 * by one statement, and it is used only beside rows that were read with the same version. What is asked for by tags is
 * counted each time: a tag can go without another version.
 *
 * Built-in rows have no such version: those of a newer release are counted within a minute.
 */
export interface Totals {
  /** Undefined: unknown, and to be counted. */
  get(list: string): Total | undefined;
  set(list: string, total: Total): void;
}

export interface Total {
  readonly count: number;
  /** Of the tenant's policy, as text. */
  readonly version: string;
}

/** Fewer are counted faster than remembered. */
const MANY = 1000;
/** Each with the filters of its list, some kilobytes at most. */
const REMEMBERED = 1000;
const MINUTE_MS = 60_000;

export function createTotals(): Totals {
  const totals = new LRUCache<string, Total>({ max: REMEMBERED, ttl: MINUTE_MS });
  return {
    get: (list) => totals.get(list),
    set: (list, total) => void (total.count > MANY && totals.set(list, total)),
  };
}
