import { describe, expect, it } from 'vitest';
import { DoorwardError } from '../errors.ts';
import { createTenantLines } from './tenant-lines.ts';

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
const LONG_MS = 60_000;

describe('mutations of a tenant', () => {
  it('are under way two at a time, in the order in which they came', async () => {
    const { stand } = createTenantLines(LONG_MS);
    const { begun, work, end } = works();
    const all = ['a', 'b', 'c', 'd'].map((name) => stand('tenant', work(name)));
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
    const { stand } = createTenantLines(LONG_MS);
    const { begun, work, end } = works();
    const all = ['a', 'b', 'c'].map((name) => stand(`tenant ${name}`, work(name)));
    await settled();
    expect(begun).toEqual(['a', 'b', 'c']);
    for (const name of begun) await end(name);
    await Promise.all(all);
  });

  it('give their place on however they end', async () => {
    const { stand } = createTenantLines(LONG_MS);
    const { begun, work, end } = works();
    const all = ['a', 'b', 'c', 'd'].map((name) => stand('tenant', work(name)));
    const told = Promise.allSettled(all);
    await end('a', new Error('refused'));
    await end('b', new Error('refused'));
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
    await end('c');
    await end('d');
    expect((await told).map(({ status }) => status)).toEqual([
      'rejected',
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
    // And the line is as new.
    const again = ['e', 'f', 'g'].map((name) => stand('tenant', work(name)));
    await settled();
    expect(begun.slice(4)).toEqual(['e', 'f']);
    for (const name of ['e', 'f', 'g']) await end(name);
    await Promise.all(again);
  });

  it('are told to come again when their turn does not come in time, and did nothing', async () => {
    const { stand } = createTenantLines(1);
    const { begun, work, end } = works();
    const first = ['a', 'b'].map((name) => stand('tenant', work(name)));
    const refused: unknown = await stand('tenant', work('c')).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(DoorwardError);
    expect(refused).toMatchObject({ code: 'UNAVAILABLE', extras: { headers: { 'Retry-After': '1' } } });
    await end('a');
    await end('b');
    await Promise.all(first);
    expect(begun).toEqual(['a', 'b']);
    // Nobody stands in the way of those who come later.
    const later = stand('tenant', work('d'));
    await end('d');
    expect(await later).toBe('d');
  });

  it('are a flood when many of one tenant wait, by how long the next of them did', async () => {
    let now = 0;
    const { stand, wait } = createTenantLines(LONG_MS, () => now);
    const { begun, work, end } = works();
    const all = Array.from({ length: 9 }, (_, n) => stand('tenant', work(`${n}`)));
    now = 100;
    expect(wait()).toBe(0);
    all.push(stand('tenant', work('9')));
    now = 300;
    expect(wait()).toBe(300);
    for (let n = 0; n < 10; n++) await end(`${n}`);
    await Promise.all(all);
    expect(begun).toHaveLength(10);
    expect(wait()).toBe(0);
  });
});
