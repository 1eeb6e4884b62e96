import { expect, it } from 'vitest';
import type { Effective } from '../grants/effective.ts';
import { difference, Impact } from './impact.ts';

const held = (action: string, terms = '', conditional = terms !== ''): Effective => ({
  ...{ resource: 'invoice', action, conditional, terms },
});
const shown = (action: string, conditional = false) => ({ resource: 'invoice', action, conditional });

it('a permission in one list only is gained or lost, in the order of the lists', () => {
  const [before, after] = [
    [held('a'), held('b'), held('c')],
    [held('b'), held('d'), held('e')],
  ];
  expect(difference(before, after)).toEqual({
    gains: [shown('d'), shown('e')],
    loses: [shown('a'), shown('c')],
    changes: [],
  });
  expect(difference(before, before)).toEqual({ gains: [], loses: [], changes: [] });
});

it('a permission in both lists under other terms is changed, and shown without its terms', () => {
  expect(difference([held('a', 'x'), held('b', 'x')], [held('a', 'y'), held('b', 'x')])).toEqual({
    gains: [],
    loses: [],
    changes: [shown('a', true)],
  });
});

it('a conditional and an unconditional permission are different', () => {
  expect(difference([held('a', 'x')], [held('a')])).toEqual({
    gains: [shown('a')],
    loses: [shown('a', true)],
    changes: [],
  });
});

it('another resource is another permission', () => {
  const other = { ...held('a'), resource: 'order' };
  expect(difference([held('a')], [other]).gains).toEqual([{ ...shown('a'), resource: 'order' }]);
});

it('the answer is a list by scope and subject', () => {
  const id = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
  const affected = [
    {
      subject: { type: 'apiKey' as const, id },
      scope: { tenant: 'organization' as const, id },
      gains: [shown('a')],
      loses: [],
      changes: [],
    },
  ];
  const impact = { dryRun: true as const, affected, truncated: false };
  expect(Impact.parse(impact)).toEqual(impact);
  const user = { ...impact, affected: [{ ...affected[0], subject: { type: 'user', id } }] };
  expect(Impact.parse(user)).toEqual(user);
  expect(Impact.safeParse({ ...impact, dryRun: false }).success).toBe(false);
  expect(Impact.safeParse({ dryRun: true }).success).toBe(false);
  const role = { ...affected[0], subject: { type: 'role', id } };
  expect(Impact.safeParse({ ...impact, affected: [role] }).success).toBe(false);
  expect(Impact.safeParse({ ...impact, affected: [{ subject: { type: 'user', id } }] }).success).toBe(false);
});
