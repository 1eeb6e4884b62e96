import { describe, expect, it } from 'vitest';
import { createGate, createSharedResults, createSharedRuns } from './shared-runs.ts';

/** Work that ends when the test says so. */
function controlled() {
  const ends: (() => void)[] = [];
  let runs = 0;
  return {
    runs: () => runs,
    work: (begin: () => void) => {
      begin();
      const number = ++runs;
      return new Promise<number>((resolve) => ends.push(() => resolve(number)));
    },
    endNext: () => ends.shift()?.(),
  };
}
/** Lets all callbacks of settled promises run. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('shared runs', () => {
  it('give a caller a run that began after the call, and share it', async () => {
    const { runs, work, endNext } = controlled();
    const join = createSharedRuns(work);
    const first = join();
    const [second, third] = [join(), join()];
    expect(runs()).toBe(1);
    endNext();
    expect(await first).toBe(1);
    await settle();
    expect(runs()).toBe(2);
    endNext();
    expect(await Promise.all([second, third])).toEqual([2, 2]);
    await settle();
    void join();
    expect(runs()).toBe(3);
  });

  it('share a run that waits before it begins', async () => {
    let begins: (() => void) | undefined;
    let runs = 0;
    const join = createSharedRuns(async (begin) => {
      await new Promise<void>((resolve) => (begins = resolve));
      begin();
      return ++runs;
    });
    const calls = [join(), join()];
    begins?.();
    expect(await Promise.all(calls)).toEqual([1, 1]);
  });

  it('go on after a failure', async () => {
    let runs = 0;
    const join = createSharedRuns(async (begin) => {
      begin();
      if (++runs === 1) throw new Error('first');
      return runs;
    });
    const [first, second] = [join(), join()];
    await expect(first).rejects.toThrow('first');
    expect(await second).toBe(2);
  });
});

describe('shared results', () => {
  it('serve a caller that accepts an earlier one', async () => {
    const results = createSharedResults<number>(60_000);
    let runs = 0;
    const work = async (begin: () => void) => {
      begin();
      return ++runs;
    };
    const before = performance.now();
    expect(await results.get('a', before, work)).toBe(1);
    expect(await results.get('a', before, work)).toBe(1);
    expect(await results.get('b', before, work)).toBe(2);
    expect(await results.get('a', performance.now(), work)).toBe(3);
  });
});

describe('a gate', () => {
  it('lets tenants take turns', async () => {
    const gate = createGate(1);
    const order: string[] = [];
    const enter = (tenant: string, name: string) => gate(tenant, async () => void order.push(name));
    await Promise.all([
      enter('a', 'a1'),
      enter('a', 'a2'),
      enter('a', 'a3'),
      enter('b', 'b1'),
      enter('b', 'b2'),
    ]);
    expect(order).toEqual(['a1', 'a2', 'b1', 'a3', 'b2']);
  });

  it('lets the next work run after work that failed', async () => {
    const gate = createGate(1);
    await expect(gate('a', () => Promise.reject(new Error('x')))).rejects.toThrow('x');
    expect(await gate('a', async () => 1)).toBe(1);
  });
});
