import { validate, version } from 'uuid';
import { describe, expect, it } from 'vitest';
import { createIds } from './ids.ts';

const millisecondOf = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);

describe('ids of new rows', () => {
  it('are UUIDs of version 7, each made once, in their order', () => {
    const ids = createIds({ now: () => new Date() });
    // Far more ids than the random bytes of one refill suffice for.
    const made = Array.from({ length: 20_000 }, () => ids.next());
    expect(new Set(made).size).toBe(made.length);
    expect(made).toEqual(made.toSorted());
    expect(made.every((id) => validate(id) && version(id) === 7)).toBe(true);
  });

  it('tell the millisecond, and keep their order when the clock steps back', () => {
    let now = 1_800_000_000_000;
    const ids = createIds({ now: () => new Date(now) });
    const first = ids.next();
    now -= 60_000;
    const second = ids.next();
    now += 60_001;
    const third = ids.next();
    expect([first, second, third].map(millisecondOf)).toEqual([
      1_800_000_000_000, 1_800_000_000_000, 1_800_000_000_001,
    ]);
    expect([first, second, third]).toEqual([first, second, third].toSorted());
  });
});

it('gives random ids of version 4', () => {
  expect(version(createIds({ now: () => new Date() }).random())).toBe(4);
});
