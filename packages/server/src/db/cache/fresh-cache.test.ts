import { describe, expect, it } from 'vitest';
import type { Changes } from './changes.ts';
import { createFreshCache } from './fresh-cache.ts';

/** No change ever occurs. */
const noChanges = { now: () => 1, isFresh: () => true, isTrusted: () => true } as unknown as Changes;

interface Value {
  readonly name: string;
  readonly own: number;
  readonly part?: { readonly bytes: number };
}

describe('a cache of values that differ in size', () => {
  const cacheOf = (most: number) => {
    const cache = createFreshCache<Value>(noChanges, 1000, {
      maxBytes: most,
      ownBytes: ({ own }) => own,
      sharedPart: ({ part = { bytes: 0 } }) => [part, part.bytes],
    });
    const put = (value: Value) => cache.get(value.name, async () => ({ value, topics: [] }));
    const remaining = (...names: string[]) => names.filter((name) => cache.peek(name) !== undefined);
    return { put, kept: remaining };
  };

  it('evicts the least recently used values when they exceed the size budget', async () => {
    const { put, kept } = cacheOf(100);
    for (const name of ['a', 'b', 'c']) await put({ name, own: 30 });
    expect(kept('b', 'c', 'a')).toEqual(['b', 'c', 'a']);
    await put({ name: 'd', own: 30 });
    expect(kept('a', 'b', 'c', 'd')).toEqual(['a', 'c', 'd']);
    await put({ name: 'e', own: 90 });
    expect(kept('a', 'b', 'c', 'd', 'e')).toEqual(['e']);
  });

  it('does not store a value larger than the budget, but answers it', async () => {
    const { put, kept } = cacheOf(100);
    expect(await put({ name: 'a', own: 101 })).toMatchObject({ name: 'a' });
    await put({ name: 'b', own: 100 });
    expect(kept('a', 'b')).toEqual(['b']);
  });

  it('counts a shared part once, until the last value with it is evicted', async () => {
    const { put, kept } = cacheOf(100);
    const part = { bytes: 60 };
    for (const name of ['a', 'b', 'c']) await put({ name, own: 10, part });
    expect(kept('a', 'b', 'c')).toHaveLength(3);
    await put({ name: 'd', own: 10, part: { bytes: 30 } });
    // The shared part is freed only after a, b and c are evicted.
    expect(kept('a', 'b', 'c', 'd')).toEqual(['d']);
    for (const name of ['a', 'b']) await put({ name, own: 10, part: { bytes: 20 } });
    expect(kept('a', 'b', 'd')).toEqual(['a', 'b', 'd']);
  });
});
