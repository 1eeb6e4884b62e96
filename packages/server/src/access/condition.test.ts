import { expect, it } from 'vitest';
import { DoorwardError } from '../errors.ts';
import { assertCondition } from './condition.ts';

it('returns its argument, and null for an unconditional one', () => {
  expect([null, {}].map((raw) => assertCondition(raw))).toEqual([null, null]);
  const written = { Equals: { 'user.id': 'u1' } };
  expect(assertCondition(written)).toBe(written);
});

it('refuses with a detail for each problem and a hint', () => {
  const refused = (raw: unknown): DoorwardError => {
    try {
      assertCondition(raw);
    } catch (error) {
      if (error instanceof DoorwardError) return error;
    }
    throw new Error('it was not refused');
  };
  const { code, extras } = refused({ Equal: { 'user.id': 'u1' }, Equals: { nope: 1 } });
  expect(code).toBe('INVALID_CONDITION');
  expect(extras.details).toEqual([
    { path: 'condition.Equal', code: 'operator' },
    { path: 'condition.Equals.nope', code: 'path' },
  ]);
  expect(extras.fix).toContain('condition.Equal: use one of: And, Or, Not, Equals');
  // The two hints together would be longer than a `fix` may be.
  expect(refused({ Equals: { nope: 1 } }).extras.fix).toContain('Begin with user.');
});
