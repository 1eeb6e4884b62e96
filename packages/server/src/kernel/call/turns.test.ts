import { expect, it } from 'vitest';
import type { RequestSlot } from '../context.ts';
import { inTurn } from './turns.ts';

const newSlot = (): RequestSlot => ({
  taken: null,
  reading: null,
  bodyLength: 0,
  onGone: () => () => undefined,
});

it('reads one after the other, also after a failure', async () => {
  const slot = newSlot();
  const steps: string[] = [];
  const read = (name: string) => async () => {
    steps.push(`${name} begins`);
    await new Promise(setImmediate);
    steps.push(`${name} ends`);
    if (name === 'b') throw new Error(name);
    return name;
  };
  const reads = await Promise.allSettled(['a', 'b', 'c'].map((name) => inTurn(slot, read(name))));
  expect(reads.map((result) => (result.status === 'fulfilled' ? result.value : 'failed'))).toEqual([
    'a',
    'failed',
    'c',
  ]);
  expect(steps).toEqual(['a', 'b', 'c'].flatMap((name) => [`${name} begins`, `${name} ends`]));
});

it('starts the first read immediately, and requests do not wait for each other', () => {
  const begun: number[] = [];
  for (const number of [1, 2]) void inTurn(newSlot(), async () => void begun.push(number));
  expect(begun).toEqual([1, 2]);
});
