import { LRUCache } from 'lru-cache';
import type { Changes } from './changes.ts';
import { createSizeBudget, type SizeOptions } from './size-budget.ts';

interface Entry<V> {
  readonly value: V;
  readonly loadedAt: number;
  readonly topics: readonly string[];
  /** Logical time of the last freshness check. The entry stays fresh until any topic changes. */
  freshAt: number;
}

/**
 * A bounded cache that never returns stale values: it uses an entry only while the change channel is trusted and none
 * of the entry's topics has changed since before the load. Concurrent loads of one key share one load.
 */
interface FreshCache<V> {
  /** Returns the value if it is cached and fresh. For code that avoids a promise. */
  peek(key: string): V | undefined;
  /**
   * Returns the cached value, or loads it. A null result is never cached, because the entity may be created at any
   * time.
   */
  get(key: string, load: () => Promise<Loaded<V> | null>): Promise<V | null>;
  /** Loads the value even if a fresh one is cached, and caches it. */
  renew(key: string, load: () => Promise<Loaded<V> | null>): Promise<V | null>;
}

interface Loaded<V> {
  readonly value: V;
  /** Topics whose change makes the value stale. */
  readonly topics: readonly string[];
}

/** Pass `sizes` if the values differ in size, so that their number alone does not limit the memory. */
export function createFreshCache<V extends object>(
  changes: Changes,
  max: number,
  sizes?: SizeOptions<V>,
): FreshCache<V> {
  const budget = sizes && createSizeBudget(sizes);
  const entries = new LRUCache<string, Entry<V>>({
    // `max` would allocate memory for all entries in advance: 5 MB for caches that may never fill.
    maxSize: max,
    sizeCalculation: () => 1,
    ...(budget && { dispose: ({ value }: Entry<V>) => budget.remove(value) }),
  });

  function store(key: string, entry: Entry<V>): void {
    budget?.add(entry.value);
    entries.set(key, entry);
    while (budget?.isExceeded() && entries.size > 0) entries.pop();
  }

  const loading = new Map<string, { startedAt: number; result: Promise<V | null> }>();

  function peek(key: string): V | undefined {
    if (!changes.isTrusted()) return undefined;
    const entry = entries.get(key);
    if (entry === undefined) return undefined;
    const now = changes.now();
    if (entry.freshAt !== now) {
      if (!changes.isFresh(entry.loadedAt, entry.topics)) return undefined;
      entry.freshAt = now;
    }
    return entry.value;
  }

  const renew: FreshCache<V>['renew'] = async (key, load) => {
    const loadedAt = changes.now();
    const loaded = await load();
    if (loaded) store(key, { value: loaded.value, loadedAt, topics: loaded.topics, freshAt: loadedAt });
    return loaded?.value ?? null;
  };

  return {
    peek,
    renew,
    async get(key, load) {
      const cached = peek(key);
      if (cached !== undefined) return cached;
      const loadedAt = changes.now();
      const running = loading.get(key);
      // A load that started before the last change may have read the state before the change, so it is not shared.
      if (running?.startedAt === loadedAt && changes.isTrusted()) return running.result;
      const result = renew(key, load);
      const current = { startedAt: loadedAt, result };
      loading.set(key, current);
      try {
        return await result;
      } finally {
        if (loading.get(key) === current) loading.delete(key);
      }
    },
  };
}
