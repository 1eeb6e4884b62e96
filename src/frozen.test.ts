import { expect, it } from 'vitest';
import { frozen, onceForFrozen } from './frozen.ts';

it('freezes a value with everything in it', () => {
  const value = frozen({ list: [{ deep: { deeper: 1 } }], nothing: null, text: 'a' });
  for (const part of [value, value.list, value.list[0], value.list[0]?.deep]) {
    expect(Object.isFrozen(part)).toBe(true);
  }
});

it('makes something of a frozen value once, and of any other each time', () => {
  let made = 0;
  const doubled = onceForFrozen(({ n }: { n: number }) => ({ n: n * 2, made: ++made }));
  const shared = Object.freeze({ n: 1 });
  expect(doubled(shared)).toBe(doubled(shared));
  expect(made).toBe(1);
  const changing = { n: 2 };
  expect(doubled(changing).n).toBe(4);
  changing.n = 3;
  expect(doubled(changing).n).toBe(6);
  expect(made).toBe(3);
  expect(doubled(Object.freeze({ n: 1 })).made).toBe(4);
});
