import { describe, expect, it } from 'vitest';
import { createTenantQueues } from './tenant-queues.ts';

/** Mutations that end when the test ends them. */
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
/** Waits until all pending promises have settled. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('mutations of a tenant', () => {
  it('run two at a time, in the order of arrival', async () => {
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

  it('do not wait for mutations of another tenant', async () => {
    const { run } = createTenantQueues();
    const { begun, work, end } = works();
    const all = ['a', 'b', 'c'].map((name) => run(`tenant ${name}`, work(name)));
    await settled();
    expect(begun).toEqual(['a', 'b', 'c']);
    for (const name of begun) await end(name);
    await Promise.all(all);
  });

  it('release their slot after success and failure', async () => {
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
    // The queue is empty again.
    const again = ['e', 'f', 'g'].map((name) => run('tenant', work(name)));
    await settled();
    expect(begun.slice(4)).toEqual(['e', 'f']);
    for (const name of ['e', 'f', 'g']) await end(name);
    await Promise.all(again);
  });
});
