import fc from 'fast-check';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Slot } from '../../kernel/context.ts';
import { FairQueue, type FairQueueOptions } from './fair-queue.ts';

/** A queue on a clock of its own, and the work that began in it, in order. */
function start(options: Partial<FairQueueOptions> = {}) {
  let now = 0;
  const queue = new FairQueue({
    name: 'test',
    slots: 1,
    maxWaitMs: 5000,
    maxQueue: 10_000,
    onEventLoop: false,
    now: () => now,
    ...options,
  });
  const begun: string[] = [];
  const running: { readonly name: string; readonly slot: Slot }[] = [];
  const refused: string[] = [];
  const gone: string[] = [];
  /** `tenant/credential`. */
  function ask(name: string, onGone?: (listener: () => void) => () => void, bodyLength?: number): void {
    const [tenant = '', credential = ''] = name.split('/');
    const began = (slot: Slot | null): void => {
      if (!slot) return void gone.push(name);
      begun.push(name);
      running.push({ name, slot });
    };
    try {
      const entered = queue.enter({ tenant, credential }, onGone, bodyLength);
      if (entered instanceof Promise) entered.then(began, () => refused.push(name));
      else began(entered);
    } catch (error) {
      expect(error).toMatchObject({ code: 'UNAVAILABLE', extras: { headers: { 'Retry-After': '1' } } });
      refused.push(name);
    }
  }
  /** Ends what began first, after it took so long. */
  async function end(ms = 1): Promise<void> {
    now += ms;
    running.shift()?.slot.release();
    await nextTurn();
  }
  async function endAll(ms: (name: string) => number = () => 1): Promise<void> {
    for (let first = running[0]; first; first = running[0]) await end(ms(first.name));
  }
  return { queue, begun, running, refused, gone, ask, end, endAll };
}

const times = (count: number, work: () => void): void => Array.from({ length: count }).forEach(work);

describe('a fair queue', () => {
  it('lets in at once while a slot is free, and serves one share in the order of arrival', async () => {
    const { queue, begun, ask, endAll } = start({ slots: 2 });
    for (const name of ['a/1', 'a/1', 'a/2', 'a/1']) ask(name);
    expect(begun).toEqual(['a/1', 'a/1']);
    expect([queue.running, queue.waiting]).toEqual([2, 2]);
    await endAll();
    expect(begun).toHaveLength(4);
    expect([queue.running, queue.waiting, queue.refused]).toEqual([0, 0, 0]);
  });

  it('serves tenants in turn, however much one of them has waiting and with how many credentials', async () => {
    const { begun, ask, endAll } = start();
    for (let key = 0; key < 30; key++) ask(`flood/${key}`);
    ask('quiet/1');
    ask('quiet/1');
    await endAll();
    const places = begun.flatMap((name, place) => (name === 'quiet/1' ? [place] : []));
    expect(places[1]).toBeLessThanOrEqual(4);
  });

  it('serves the credentials of a tenant in turn', async () => {
    const { begun, ask, endAll } = start();
    times(30, () => ask('a/flood'));
    ask('a/owner');
    await endAll();
    expect(begun.indexOf('a/owner')).toBeLessThanOrEqual(2);
  });

  it('shares time and not turns: dear work of one tenant does not take it from the others', async () => {
    const { begun, ask, end } = start();
    times(100, () => ask('dear/1'));
    times(100, () => ask('cheap/1'));
    for (let served = 0; served < 60; served++) await end(begun.at(-1) === 'dear/1' ? 50 : 5);
    const dear = begun.filter((name) => name === 'dear/1').length;
    const cheap = begun.filter((name) => name === 'cheap/1').length;
    expect(cheap / dear).toBeGreaterThan(5);
  });

  it('drops whoever went away', async () => {
    const { queue, begun, gone, ask, endAll } = start();
    const leave: (() => void)[] = [];
    ask('a/1');
    ask('a/2', (listener) => {
      leave.push(listener);
      return () => undefined;
    });
    ask('a/3');
    leave.forEach((go) => go());
    expect(queue.waiting).toBe(1);
    await endAll();
    expect(begun).toEqual(['a/1', 'a/3']);
    expect(gone).toEqual(['a/2']);
  });

  it('on the event loop begins one piece of work in each turn of the loop', async () => {
    const { begun, ask } = start({ slots: 4, onEventLoop: true });
    times(3, () => ask('a/1'));
    expect(begun).toHaveLength(0);
    for (const count of [1, 2, 3]) {
      await nextTurn();
      expect(begun).toHaveLength(count);
    }
  });
});

describe('refusals', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());
  const MAX_WAIT_MS = 5000;

  it('are none for a thousand that come at once, however long they wait', () => {
    const { queue, refused, ask } = start();
    times(1001, () => ask('flood/1'));
    vi.advanceTimersByTime(100 * MAX_WAIT_MS);
    expect([queue.waiting, refused]).toEqual([1000, []]);
  });

  it('come to those behind a thousand others whose turn has not come in time', async () => {
    const { queue, refused, begun, ask, end } = start();
    times(1003, () => ask('flood/1'));
    // A share that has nothing waiting is served next, long before that.
    ask('quiet/1');
    await end();
    expect(begun.at(-1)).toBe('quiet/1');
    vi.advanceTimersByTime(MAX_WAIT_MS - 1);
    expect(refused).toEqual([]);
    vi.advanceTimersByTime(1);
    await nextTurn();
    expect(refused).toEqual(['flood/1', 'flood/1']);
    expect([queue.waiting, queue.refused]).toEqual([1000, 2]);
  });

  it('do not come to those who were served, or went away, before', async () => {
    const { queue, refused, gone, ask, endAll } = start();
    let leave = (): void => undefined;
    times(1002, () => ask('flood/1'));
    ask('flood/2', (listener) => {
      leave = listener;
      return () => undefined;
    });
    leave();
    await endAll();
    vi.advanceTimersByTime(2 * MAX_WAIT_MS);
    expect([queue.waiting, queue.refused, refused, gone]).toEqual([0, 0, [], ['flood/2']]);
  });

  it('of a full queue go to the newest of whoever has most waiting', async () => {
    const { queue, refused, begun, ask, endAll } = start({ maxQueue: 10 });
    times(10, () => ask('flood/1'));
    ask('other/1');
    expect(queue.waiting).toBe(10);
    ask('quiet/1');
    await nextTurn();
    expect(refused).toEqual(['flood/1']);
    ask('flood/1');
    expect(refused).toEqual(['flood/1', 'flood/1']);
    await endAll();
    expect(begun).toContain('quiet/1');
    expect(queue.refused).toBe(2);
  });
});

it('counts a large body like many requests: what waits keeps a bounded room in memory', async () => {
  const { queue, refused, ask, endAll } = start({ maxQueue: 1000 });
  const mebibyte = 1024 * 1024;
  times(9, () => ask('large/1', undefined, mebibyte));
  expect([queue.waiting, refused.length]).toEqual([7, 1]);
  // A request of another credential is admitted, and a large one is refused for it.
  times(200, () => ask('small/1'));
  await nextTurn();
  expect(refused).toEqual(['large/1', 'large/1']);
  await endAll();
  expect([queue.waiting, queue.running]).toEqual([0, 0]);
});

it('lets no large body take the place of many who wait for little', async () => {
  const { queue, refused, ask, endAll } = start({ maxQueue: 1000 });
  for (let credential = 0; credential < 1001; credential++) ask(`small/${credential}`);
  ask('large/1', undefined, 1024 * 1024);
  expect(refused).toEqual(['large/1']);
  ask('quiet/1');
  await nextTurn();
  expect([queue.waiting, refused.length]).toEqual([1000, 2]);
  await endAll();
});

it('loses nobody and gives every slot back, whatever comes', async () => {
  const act = fc.oneof(
    fc.record({ tenant: fc.integer({ min: 0, max: 3 }), credential: fc.integer({ min: 0, max: 3 }) }),
    fc.record({ endAfterMs: fc.integer({ min: 0, max: 50 }) }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(act, { maxLength: 80 }),
      fc.integer({ min: 1, max: 4 }),
      async (acts, slots) => {
        const { queue, begun, refused, ask, end, endAll } = start({ slots, maxQueue: 12 });
        let requested = 0;
        for (const act of acts) {
          if ('endAfterMs' in act) await end(act.endAfterMs);
          else {
            ask(`${act.tenant}/${act.credential}`);
            requested++;
          }
          expect(queue.running).toBeLessThanOrEqual(slots);
          // No request waits while a slot is free.
          expect(queue.waiting === 0 || queue.running === slots).toBe(true);
        }
        await endAll();
        expect(begun.length + refused.length).toBe(requested);
        expect([queue.running, queue.waiting]).toEqual([0, 0]);
      },
    ),
    { numRuns: 100 },
  );
});
