import { describe, expect, it } from 'vitest';
import type { Attributes } from './conditions-eval.ts';
import { parseCondition } from './conditions-parse.ts';
import { compileCondition } from './conditions.ts';

const truthOf = (raw: unknown, attributes: Attributes): string => compileCondition(raw).evaluate(attributes);

const isRefused = (raw: unknown): boolean => parseCondition(raw, '').problems.length > 0;

describe('truth', () => {
  const resource = (value: unknown): Attributes => ({
    resource: { value },
    user: { id: 'u1', n: 1, none: '' },
  });
  const op = (operator: string, operand: unknown) => ({ [operator]: { 'resource.value': operand } });

  it.each<[string, unknown, unknown, string]>([
    ['StringIn', 'a', ['a', 'b'], 'true'],
    ['StringIn', 'c', ['a', 'b'], 'false'],
    ['StringIn', null, ['a'], 'unknown'],
    ['StringIn', 1, ['a'], 'unknown'],
    ['StringNotIn', 'c', ['a', 'b'], 'true'],
    ['StringNotIn', 'a', ['a'], 'false'],
    ['StringNotIn', null, ['a'], 'unknown'],
    ['In', null, [null], 'true'],
    ['In', null, ['a'], 'false'],
    ['In', 'a', [1, 'a'], 'true'],
    ['In', 'b', [1, 'a'], 'unknown'],
    ['NotIn', 'b', [1, 'a'], 'unknown'],
    ['In', {}, ['a'], 'unknown'],
    ['Contains', ['a', 1], 'a', 'true'],
    ['Contains', ['a', 1], 'b', 'unknown'],
    ['Contains', ['a', null], 'b', 'false'],
    ['Contains', ['a', {}], 'a', 'unknown'],
    ['Contains', ['a', ['b']], 'a', 'unknown'],
    ['Contains', ['a'], null, 'false'],
    ['Contains', [null], null, 'true'],
    ['Contains', {}, 'a', 'unknown'],
    ['Contains', [], { $ref: 'user.missing' }, 'unknown'],
    ['Contains', ['u1'], '{{user.id}}', 'true'],
    ['StringEquals', 'a', 'a', 'true'],
    ['StringEquals', 'a', 'b', 'false'],
    ['StringEquals', 'a', { $ref: 'user.n' }, 'unknown'],
    ['StringNotEquals', 'a', 'b', 'true'],
    ['StringNotEquals', 'a', 'a', 'false'],
    ['StringNotEquals', 1, 'a', 'unknown'],
    ['Equals', {}, 'a', 'unknown'],
    ['NotEquals', 'b', 'a', 'true'],
    ['NotEquals', {}, null, 'unknown'],
    ['Equals', new Date(0), null, 'unknown'],
    ['Equals', undefined, null, 'unknown'],
    ['Equals', true, 1, 'unknown'],
    ['Equals', 0, false, 'unknown'],
    ['Equals', '\u00e9', 'e\u0301', 'false'],
    ['Equals', '{{user.id}}', { $ref: 'user.id' }, 'false'],
    ['StartsWith', 'abc', 'abc', 'true'],
    ['StartsWith', 'abc', 'ab', 'true'],
    ['StartsWith', 'abc', 'bc', 'false'],
    ['StartsWith', 'abc', { $ref: 'user.none' }, 'unknown'],
    ['StartsWith', '1', { $ref: 'user.n' }, 'unknown'],
    ['EndsWith', 'abc', { $ref: 'user.none' }, 'unknown'],
    ['StartsWith', 'abc', 'abcd', 'false'],
    ['StartsWith', 'abc', 'A', 'false'],
    ['EndsWith', 'abc', 'bc', 'true'],
    ['EndsWith', '', 'a', 'false'],
    ['EndsWith', ['a'], 'a', 'unknown'],
    ['NumericEquals', 1, { $ref: 'user.n' }, 'true'],
    ['NumericEquals', Number.POSITIVE_INFINITY, 1, 'unknown'],
    ['NumericEquals', 2, 1, 'false'],
    ['NumericEquals', 1, '{{resource.value}}', 'true'],
    ['NumericEquals', 1, { $ref: 'user.id' }, 'unknown'],
    ['NumericLessThan', 1, 2, 'true'],
    ['NumericLessThanEquals', 1, 1, 'true'],
    ['NumericLessThanEquals', 1, 2, 'true'],
    ['NumericGreaterThanEquals', 1, 2, 'false'],
    ['NumericGreaterThan', 2, 1, 'true'],
    ['NumericGreaterThan', 1, 1, 'false'],
    ['NumericGreaterThanEquals', 1, 1, 'true'],
    ['NumericLessThan', 1, 1, 'false'],
    ['NumericLessThan', '1', 2, 'unknown'],
    ['NumericLessThanEquals', 2, 1, 'false'],
    ['NumericGreaterThan', null, 1, 'unknown'],
  ])('%s of %j and %j is %s', (operator, value, operand, expected) => {
    expect(isRefused(op(operator, operand))).toBe(false);
    expect(truthOf(op(operator, operand), resource(value))).toBe(expected);
  });

  describe('of whole numbers that JSON may have rounded', () => {
    const most = Number.MAX_SAFE_INTEGER;
    const beyond = most + 1;
    // Two different ids that are the same number after JSON is parsed.
    const twins = JSON.parse('[1142734567890123456, 1142734567890123457]') as [number, number];

    it.each(['Equals', 'NotEquals', 'In', 'NotIn', 'NumericEquals', 'NumericLessThan', 'NumericGreaterThan'])(
      'is unknown: %s',
      (operator) => {
        const isList = operator.endsWith('In');
        const condition = op(operator, { $ref: 'user.value' });
        const truth = (left: unknown, right: unknown) =>
          truthOf(condition, { resource: { value: left }, user: { value: isList ? [right] : right } });
        expect(truth(...twins)).toBe('unknown');
        for (const number of [beyond, -beyond, 1e300]) {
          expect(truth(number, 1)).toBe('unknown');
          expect(truth(1, number)).toBe('unknown');
          expect(truthOf({ Not: op(operator, isList ? [1] : 1) }, resource(number))).toBe('unknown');
        }
        for (const number of [most, -most, 1.5]) expect(truth(number, number)).not.toBe('unknown');
      },
    );

    it('is unknown if any item of a list is such a number', () => {
      const among = { resource: { value: 1 }, user: { list: [1, beyond] } };
      expect(truthOf(op('In', { $ref: 'user.list' }), among)).toBe('unknown');
      expect(truthOf(op('In', [1, { $ref: 'user.number' }]), { ...among, user: { number: -beyond } })).toBe(
        'unknown',
      );
      expect(truthOf(op('Contains', 1), resource([1, beyond]))).toBe('unknown');
      expect(truthOf(op('Contains', 1), resource([1, most]))).toBe('true');
    });
  });

  it('reads the texts of a referenced list as data, not as references', () => {
    const attributes = { resource: { value: 'u1' }, user: { id: 'u1', list: ['{{user.id}}'] } };
    expect(truthOf(op('In', { $ref: 'user.list' }), attributes)).toBe('false');
  });

  it('does not split a surrogate pair', () => {
    const attributes = { resource: { value: '😀', high: '\ud83d', low: '\ude00' } };
    expect(truthOf(op('StartsWith', { $ref: 'resource.high' }), attributes)).toBe('false');
    expect(truthOf(op('EndsWith', { $ref: 'resource.low' }), attributes)).toBe('false');
    expect(truthOf(op('StartsWith', '😀'), attributes)).toBe('true');
  });

  it.each([
    ['\ud800\udc00', '\ud800', 'false'],
    ['\udbff\udfff', '\udbff', 'false'],
    ['\ud7ff\udc00', '\ud7ff', 'true'],
    ['\udc00\udc00', '\udc00', 'true'],
    ['\ud800\udbff', '\ud800', 'true'],
    ['\ud800\ue000', '\ud800', 'true'],
    ['ab', 'a', 'true'],
  ])('tells what is one character: %j, %j', (value, start, expected) => {
    const attributes = { resource: { value, start } };
    expect(truthOf(op('StartsWith', { $ref: 'resource.start' }), attributes)).toBe(expected);
  });

  it('sees own members of plain objects only', () => {
    const inherited: unknown = Object.create({ value: 'a' });
    const instance = new (class {
      readonly value = 'a';
    })();
    const bare = Object.assign(Object.create(null) as object, { value: 'a' });
    const condition = op('Equals', 'a');
    expect(truthOf(condition, { resource: inherited })).toBe('unknown');
    expect(truthOf(condition, { resource: instance })).toBe('unknown');
    expect(truthOf(condition, { resource: bare })).toBe('true');
    for (const root of [null, undefined, 'text', ['a'], 1]) {
      expect(truthOf({ Equals: { 'resource.length': 1 } }, { resource: root })).toBe('unknown');
    }
    const inherits = compileCondition({ Equals: { 'resource.toString': 'x' } });
    expect(inherits.context({ resource: {} })).toEqual({});
  });
});
