import { LRUCache } from 'lru-cache';
import type { Changes } from './changes.ts';
import { createRoom, type Sizes } from './room.ts';

interface Kept<V> {
  readonly value: V;
  readonly loadedAt: number;
  readonly topics: readonly string[];
  /** The moment at which it was last found fresh: until the next change, whatever it is, it still is. */
  freshAt: number;
}

/**
 * A bounded cache that never answers stale: an entry is used only while the change channel is trusted and none
 * of its topics changed since before it was loaded. Loads of one key that run together share one load.
 */
export interface FreshCache<V> {
  /** The value at once if it is known and fresh, for paths that avoid a promise. */
  peek(key: string): V | undefined;
  /** A load that finds nothing answers null, which is never kept: what does not exist may be made at any time. */
  get(key: string, load: () => Promise<Loaded<V> | null>): Promise<V | null>;
  /** Loads in any case, and keeps what it finds. */
  renew(key: string, load: () => Promise<Loaded<V> | null>): Promise<V | null>;
}

interface Loaded<V> {
  readonly value: V;
  /** What, when it changes, makes the value stale. */
  readonly topics: readonly string[];
}

/** `sizes`: where values are not all about as small, so that their number alone bounds nothing. */
export function createFreshCache<V extends object>(
  changes: Changes,
  max: number,
  sizes?: Sizes<V>,
): FreshCache<V> {
  const room = sizes && createRoom(sizes);
  const entries = new LRUCache<string, Kept<V>>({
    // Not `max`, which takes the room for all of them at once: 5 MB for caches that may never fill.
    maxSize: max,
    sizeCalculation: () => 1,
    ...(room && { dispose: ({ value }: Kept<V>) => room.remove(value) }),
  });

  function keep(key: string, entry: Kept<V>): void {
    room?.add(entry.value);
    entries.set(key, entry);
    while (room?.isOverfull() && entries.size > 0) entries.pop();
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
    if (loaded) keep(key, { value: loaded.value, loadedAt, topics: loaded.topics, freshAt: loadedAt });
    return loaded?.value ?? null;
  };

  return {
    peek,
    renew,
    async get(key, load) {
      const known = peek(key);
      if (known !== undefined) return known;
      const loadedAt = changes.now();
      const running = loading.get(key);
      // A load that began before the last change may have read the state before it: only equals are shared.
      if (running?.startedAt === loadedAt && changes.isTrusted()) return running.result;
      const result = renew(key, load);
      const mine = { startedAt: loadedAt, result };
      loading.set(key, mine);
      try {
        return await result;
      } finally {
        if (loading.get(key) === mine) loading.delete(key);
      }
    },
  };
}
