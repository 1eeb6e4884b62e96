import { describe, expect, it } from 'vitest';
import { CONTRADICTION_STEPS, isNeverMet } from './contradiction.ts';
import { Work } from './work.ts';

const amount = (operator: string, value: unknown) => ({ [operator]: { 'resource.amount': value } });

describe('a condition that contradicts itself', () => {
  it.each([
    { And: [amount('Equals', 1), amount('Equals', 2)] },
    { ...amount('Equals', 1), ...amount('StringEquals', '1') },
    { ...amount('In', [1, 2]), ...amount('NotIn', [2, 1, 3]) },
    { ...amount('In', ['a', 'b']), ...amount('StartsWith', 'c') },
    { ...amount('Equals', 5), Not: amount('Equals', 5) },
    { ...amount('NumericGreaterThan', 100), ...amount('NumericLessThan', 50) },
    { ...amount('NumericGreaterThan', 100), ...amount('NumericLessThanEquals', 100) },
    { ...amount('NumericGreaterThanEquals', 5), Not: amount('NumericGreaterThan', 4) },
    { ...amount('NumericEquals', 5), ...amount('NumericGreaterThan', 5) },
    { ...amount('NumericGreaterThan', 1), ...amount('Contains', 1) },
    { ...amount('StartsWith', 'a'), ...amount('NumericLessThan', 1) },
    { And: [amount('StartsWith', 'ab'), amount('StartsWith', 'b')] },
    { And: [amount('EndsWith', 'ab'), amount('EndsWith', 'a')] },
    {
      Or: [
        { And: [amount('Equals', 1), amount('Equals', 2)] },
        { Not: { Or: [amount('Equals', 1), amount('NotEquals', 1)] } },
      ],
    },
    { ...amount('Equals', 3), Or: [amount('Equals', 1), amount('NumericLessThan', 3)] },
    { And: [amount('StringNotEquals', 'a'), amount('NotEquals', true), amount('Equals', true)] },
    { ...amount('In', [1, 2]), ...amount('Equals', 3) },
    // The narrowest bounds count, in any order.
    { And: [amount('NumericGreaterThan', 5), amount('NumericGreaterThan', 3), amount('NumericLessThan', 4)] },
    { And: [amount('NumericLessThan', 4), amount('NumericLessThan', 9), amount('NumericGreaterThan', 4)] },
    {
      And: [
        amount('NumericGreaterThanEquals', 5),
        amount('NumericGreaterThan', 5),
        amount('NumericLessThanEquals', 5),
      ],
    },
    {
      And: [
        amount('NumericLessThanEquals', 5),
        amount('NumericLessThan', 5),
        amount('NumericGreaterThanEquals', 5),
      ],
    },
    { And: [amount('Equals', 1), amount('Equals', 2), { Equals: { 'resource.other': 1 } }] },
    { And: [amount('StartsWith', 'a'), amount('Contains', 'a')] },
  ])('%j', (condition) => {
    expect(isNeverMet(condition)).toBe(true);
  });

  it.each([
    null,
    {},
    { Nonsense: 1 },
    amount('Equals', 1),
    { ...amount('NumericGreaterThanEquals', 5), ...amount('NumericLessThanEquals', 5) },
    { ...amount('NotEquals', 1), ...amount('NotIn', [2, 'a', null]) },
    { And: [amount('StartsWith', 'a'), amount('StartsWith', 'ab'), amount('EndsWith', 'b')] },
    { Or: [amount('Equals', 1), { And: [amount('Equals', 1), amount('Equals', 2)] }] },
    { And: [amount('Equals', '{{user.id}}'), amount('Equals', 1)] },
    { And: [amount('In', [1, '{{user.metadata.limit}}']), amount('Equals', 2)] },
    { And: [amount('Contains', 1), amount('Contains', 2)] },
    { ...amount('In', [1, 2]), ...amount('Equals', 2) },
    { ...amount('In', [1, 3]), Not: amount('Equals', 3) },
    { And: [amount('Equals', 1), amount('Equals', 2)], Nonsense: 1 },
    { And: [amount('NumericGreaterThan', 3), amount('NumericGreaterThan', 5), amount('NumericLessThan', 6)] },
    { And: [amount('NumericLessThan', 9), amount('NumericLessThan', 7), amount('NumericGreaterThan', 6)] },
    { And: [amount('NumericGreaterThanEquals', 5), amount('NumericGreaterThan', 4), amount('Equals', 5)] },
    {
      And: [
        amount('NumericGreaterThan', 4),
        amount('NumericGreaterThanEquals', 5),
        amount('NumericLessThanEquals', 5),
      ],
    },
    {
      And: [
        amount('NumericLessThan', 6),
        amount('NumericLessThanEquals', 5),
        amount('NumericGreaterThanEquals', 5),
      ],
    },
    { And: [{ Equals: { 'resource.a': 1 } }, { Equals: { 'resource.b': 2 } }] },
    // It does contradict itself, in a million cases.
    { And: Array.from({ length: 20 }, (_, at) => ({ Or: [amount('Equals', at), amount('Equals', -at)] })) },
  ])('is not %j', (condition) => {
    expect(isNeverMet(condition)).toBe(false);
  });
});

describe('the search for a contradiction', () => {
  const stepsOf = (condition: object) => {
    const work = new Work(CONTRADICTION_STEPS);
    isNeverMet(condition, work);
    return work.spent;
  };

  it('counts each case with its demands and facts, and each value with the facts about it', () => {
    // One demand; one fact, about one path, with one value.
    expect(stepsOf(amount('Equals', 1))).toBe(2 + (2 + 1) + 1);
    const both = { And: [amount('In', [1, 2]), { NotEquals: { 'resource.b': 1 } }] };
    // `And`; its two leaves; a leaf and a fact; two facts about two paths, the first with two values.
    expect(stepsOf(both)).toBe(2 + 3 + 3 + (3 + 4) + 2);
  });
});
