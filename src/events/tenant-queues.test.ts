import { describe, expect, it } from 'vitest';
import { createTenantQueues } from './tenant-queues.ts';

/** Works that end when they are told to. */
function works() {
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const work = (name: string) => () =>
    new Promise<string>((resolve, reject) => {
      begun.push(name);
      ends.set(name, (error) => (error ? reject(error) : resolve(name)));
    });
  const end = async (name: string, error?: Error): Promise<void> => {
    ends.get(name)?.(error);
    await settled();
  };
  return { begun, work, end };
}
/** Until nothing goes on by itself. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('mutations of a tenant', () => {
  it('are under way two at a time, in the order in which they came', async () => {
    const { run } = createTenantQueues();
    const { begun, work, end } = works();
    const all = ['a', 'b', 'c', 'd'].map((name) => run('tenant', work(name)));
    await settled();
    expect(begun).toEqual(['a', 'b']);
    await end('b');
    expect(begun).toEqual(['a', 'b', 'c']);
    await end('c');
    await end('a');
    await end('d');
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('wait for nobody of another tenant', async () => {
    const { run } = createTenantQueues();
    const { begun, work, end } = works();
    const all = ['a', 'b', 'c'].map((name) => run(`tenant ${name}`, work(name)));
    await settled();
    expect(begun).toEqual(['a', 'b', 'c']);
    for (const name of begun) await end(name);
    await Promise.all(all);
  });

  it('hand over however they end', async () => {
    const { run } = createTenantQueues();
    const { begun, work, end } = works();
    const all = ['a', 'b', 'c', 'd'].map((name) => run('tenant', work(name)));
    const ended = Promise.allSettled(all);
    await end('a', new Error('refused'));
    await end('b', new Error('refused'));
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
    await end('c');
    await end('d');
    expect((await ended).map(({ status }) => status)).toEqual([
      'rejected',
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
    // And the queue is as new.
    const again = ['e', 'f', 'g'].map((name) => run('tenant', work(name)));
    await settled();
    expect(begun.slice(4)).toEqual(['e', 'f']);
    for (const name of ['e', 'f', 'g']) await end(name);
    await Promise.all(again);
  });
});
