import { describe, expect, it } from 'vitest';
import type { Changes } from './changes.ts';
import { createFreshCache } from './fresh-cache.ts';

/** Changes that never come. */
const quiet = { now: () => 1, isFresh: () => true, isTrusted: () => true } as unknown as Changes;

interface Value {
  readonly name: string;
  readonly own: number;
  readonly part?: { readonly bytes: number };
}

describe('a cache of values that differ in size', () => {
  const cacheOf = (most: number) => {
    const cache = createFreshCache<Value>(quiet, 1000, {
      most,
      own: ({ own }) => own,
      shared: ({ part = { bytes: 0 } }) => [part, part.bytes],
    });
    const put = (value: Value) => cache.get(value.name, async () => ({ value, topics: [] }));
    const kept = (...names: string[]) => names.filter((name) => cache.peek(name) !== undefined);
    return { put, kept };
  };

  it('lets go of what was used longest ago when they take too much room', async () => {
    const { put, kept } = cacheOf(100);
    for (const name of ['a', 'b', 'c']) await put({ name, own: 30 });
    expect(kept('b', 'c', 'a')).toEqual(['b', 'c', 'a']);
    await put({ name: 'd', own: 30 });
    expect(kept('a', 'b', 'c', 'd')).toEqual(['a', 'c', 'd']);
    await put({ name: 'e', own: 90 });
    expect(kept('a', 'b', 'c', 'd', 'e')).toEqual(['e']);
  });

  it('keeps nothing that alone takes too much, and answers it all the same', async () => {
    const { put, kept } = cacheOf(100);
    expect(await put({ name: 'a', own: 101 })).toMatchObject({ name: 'a' });
    await put({ name: 'b', own: 100 });
    expect(kept('a', 'b')).toEqual(['b']);
  });

  it('counts what values share once, until the last of them is gone', async () => {
    const { put, kept } = cacheOf(100);
    const part = { bytes: 60 };
    for (const name of ['a', 'b', 'c']) await put({ name, own: 10, part });
    expect(kept('a', 'b', 'c')).toHaveLength(3);
    await put({ name: 'd', own: 10, part: { bytes: 30 } });
    // a, b and c had to go before their part did.
    expect(kept('a', 'b', 'c', 'd')).toEqual(['d']);
    for (const name of ['a', 'b']) await put({ name, own: 10, part: { bytes: 20 } });
    expect(kept('a', 'b', 'd')).toEqual(['a', 'b', 'd']);
  });
});
