import { describe, expect, it } from 'vitest';
import { isNeverMet } from './contradiction.ts';

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
    { And: [{ Equals: { 'resource.a': 1 } }, { Equals: { 'resource.b': 2 } }] },
    // It does contradict itself, in a million cases.
    { And: Array.from({ length: 20 }, (_, at) => ({ Or: [amount('Equals', at), amount('Equals', -at)] })) },
  ])('is not %j', (condition) => {
    expect(isNeverMet(condition)).toBe(false);
  });
});
