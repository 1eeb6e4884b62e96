import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createIdleMemory } from './idle-memory.ts';

/** Looks at a process that holds so much, `times` times; tells how often everything was collected. */
function watched() {
  const state = { held: 100, collected: 0, letGo: 0, requests: 0 };
  const memory = createIdleMemory(() => void state.letGo++, {
    held: () => state.held,
    collect(done) {
      state.collected++;
      done();
    },
  });
  const look = (requestsEach: number, times: number): number => {
    for (let n = 0; n < times; n++) memory.look((state.requests += requestsEach));
    return state.collected;
  };
  return { state, look };
}

it('collects once after the start, although probes go on', () => {
  const { state, look } = watched();
  expect(look(4, 2)).toBe(0);
  expect(look(4, 1)).toBe(1);
  expect(look(4, 100)).toBe(1);
  expect(state.letGo).toBe(1);
});

it('waits while there is work, and collects again only when it has left something', () => {
  const { state, look } = watched();
  expect(look(0, 3)).toBe(1);
  state.held = 300;
  expect(look(1000, 50)).toBe(1);
  expect(look(0, 2)).toBe(1);
  expect(look(1000, 1)).toBe(1);
  expect(look(0, 3)).toBe(2);
  state.held = 350;
  expect(look(1000, 5)).toBe(2);
  expect(look(0, 50)).toBe(2);
});

it('collects in the real heap, and goes on', async () => {
  const garbage = (() => new WeakRef(Array.from({ length: 200_000 }, (_, n) => ({ n }))))();
  await turn();
  const memory = createIdleMemory(() => undefined);
  for (let n = 0; n < 3; n++) memory.look(0);
  // Ending the debugger's session in its own answer would stop the process here for good.
  for (let n = 0; n < 10; n++) await turn();
  expect(garbage.deref()).toBeUndefined();
});
