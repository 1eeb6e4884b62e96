import { LRUCache } from 'lru-cache';

/**
 * Cached totals of long lists. `totalCount` is exact, and counting a million rows is slow. Rows that affect permissions
 * never change without a new policy version of their tenant (src/events/record.ts). One statement reads total and
 * version, and a cached total is used only together with rows that were read at the same version. Lists filtered by
 * tags are always counted, because removing a tag does not change the version.
 *
 * Built-in rows have no version, so totals include the built-in rows of a new release only after a minute at most.
 */
export interface Totals {
  /** Returns undefined if the total is not cached. */
  get(list: string): Total | undefined;
  set(list: string, total: Total): void;
}

interface Total {
  readonly count: number;
  /** Policy version of the tenant, as text. */
  readonly version: string;
}

/** Fewer rows are cheaper to count than to cache. */
const MIN_COUNT = 1000;
/** Limits the memory: each key contains the filters of its list, up to a few kilobytes. */
const MAX_TOTALS = 1000;
const MINUTE_MS = 60_000;

export function createTotals(): Totals {
  const totals = new LRUCache<string, Total>({ max: MAX_TOTALS, ttl: MINUTE_MS });
  return {
    get: (list) => totals.get(list),
    set: (list, total) => void (total.count > MIN_COUNT && totals.set(list, total)),
  };
}
