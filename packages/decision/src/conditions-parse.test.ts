import { describe, expect, it } from 'vitest';
import { parseCondition, type ConditionProblem } from './conditions-parse.ts';
import { canonicalCondition, compileCondition } from './conditions.ts';

const problemsOf = (raw: unknown, path = 'condition'): readonly ConditionProblem[] =>
  parseCondition(raw, path).problems;

/** A stored invalid condition is unknown, although it would be true without the invalid part. */
const truthOf = (raw: unknown): string => compileCondition(raw).evaluate({ user: { id: 'u1' } });

describe('refused conditions', () => {
  const at = (path: string, code: string): ConditionProblem[] => [
    { path: `condition${path}`, code } as ConditionProblem,
  ];
  const leaf = (operator: string, operand: unknown) => ({ [operator]: { 'user.id': operand } });

  it.each<[unknown, ConditionProblem[]]>([
    ['text', at('', 'type')],
    [[], at('', 'type')],
    [true, at('', 'type')],
    [undefined, at('', 'type')],
    [new Date(0), at('', 'type')],
    [{ Matches: { 'user.id': 'x' } }, at('.Matches', 'operator')],
    [{ equals: { 'user.id': 'x' } }, at('.equals', 'operator')],
    [{ and: [] }, at('.and', 'operator')],
    [{ constructor: {} }, at('.constructor', 'operator')],
    [JSON.parse('{"__proto__":{"user.id":"x"}}'), at('.__proto__', 'operator')],
    [{ Equals: null }, at('.Equals', 'type')],
    [{ Equals: [] }, at('.Equals', 'type')],
    [{ Equals: {} }, at('.Equals', 'empty')],
    [{ And: [] }, at('.And', 'empty')],
    [{ Or: {} }, at('.Or', 'type')],
    [{ Or: [{}] }, at('.Or.0', 'empty')],
    [{ Or: [null] }, at('.Or.0', 'type')],
    [{ Not: {} }, at('.Not', 'empty')],
    [{ Not: null }, at('.Not', 'type')],
    [{ Not: [leaf('Equals', 'x')] }, at('.Not', 'type')],
    [leaf('In', []), at('.In.user.id', 'empty')],
    [leaf('In', 'x'), at('.In.user.id', 'operand')],
    [leaf('In', [['x']]), at('.In.user.id.0', 'operand')],
    [leaf('In', ['x', {}]), at('.In.user.id.1', 'operand')],
    [leaf('In', ['x', '{{user.id}} ']), at('.In.user.id.1', 'operand')],
    [leaf('In', Array(101).fill('x')), at('.In.user.id', 'limit')],
    [leaf('StringIn', ['x', 1]), at('.StringIn.user.id.1', 'operand')],
    [leaf('StringNotIn', [null]), at('.StringNotIn.user.id.0', 'operand')],
    [leaf('Equals', ['x']), at('.Equals.user.id', 'operand')],
    [leaf('Equals', { a: 1 }), at('.Equals.user.id', 'operand')],
    [leaf('Equals', { $ref: 'user.id', also: 1 }), at('.Equals.user.id', 'operand')],
    [leaf('Equals', { $ref: 'user' }), at('.Equals.user.id.$ref', 'path')],
    [leaf('Equals', { $ref: 7 }), at('.Equals.user.id.$ref', 'path')],
    [leaf('Equals', { $ref: '{{user.id}}' }), at('.Equals.user.id.$ref', 'path')],
    [leaf('Equals', '{{ user.id }}'), at('.Equals.user.id', 'path')],
    [leaf('Equals', '{{env.HOME}}'), at('.Equals.user.id', 'path')],
    [leaf('Equals', '{{}}'), at('.Equals.user.id', 'path')],
    [leaf('Equals', '{{user.id'), at('.Equals.user.id', 'operand')],
    [leaf('Equals', 'x{{user.id}}'), at('.Equals.user.id', 'operand')],
    [leaf('Equals', 'x{{}}'), at('.Equals.user.id', 'operand')],
    [leaf('Equals', '{{user.id}}{{user.id}}'), at('.Equals.user.id', 'operand')],
    [leaf('Equals', undefined), at('.Equals.user.id', 'operand')],
    [leaf('Equals', Number.NaN), at('.Equals.user.id', 'operand')],
    [leaf('Equals', 'a\0b'), at('.Equals.user.id', 'operand')],
    [leaf('Equals', '\ud83d'), at('.Equals.user.id', 'operand')],
    [leaf('Contains', ['x']), at('.Contains.user.id', 'operand')],
    [leaf('StringEquals', 1), at('.StringEquals.user.id', 'operand')],
    [leaf('StringNotEquals', null), at('.StringNotEquals.user.id', 'operand')],
    [leaf('StartsWith', ''), at('.StartsWith.user.id', 'empty')],
    [leaf('EndsWith', ''), at('.EndsWith.user.id', 'empty')],
    [leaf('EndsWith', 1), at('.EndsWith.user.id', 'operand')],
    [leaf('NumericEquals', '1'), at('.NumericEquals.user.id', 'operand')],
    [leaf('NumericLessThan', null), at('.NumericLessThan.user.id', 'operand')],
  ])('%j', (raw, problems) => {
    expect(problemsOf(raw)).toEqual(problems);
    expect(truthOf(raw)).toBe('unknown');
  });

  it.each([
    'user',
    'user.',
    '.id',
    'user..id',
    'xuser.id',
    'userx.id',
    'User.id',
    'env.id',
    'user.a b',
    'user.é',
    'user.__proto__',
    'resource.constructor.name',
    'resource.a.prototype',
    'user.id\n',
    '',
    'user.a.b.c.d.e.f.g.h',
    `user.${'a'.repeat(65)}`,
  ])('the path %j', (path) => {
    expect(problemsOf({ Equals: { [path]: 'x' } })).toEqual(at(`.Equals.${path}`, 'path'));
  });

  it.each([
    'user.id',
    'user.a.b.c.d.e.f.g',
    `user.${'a'.repeat(64)}`,
    'scope.A_z-9',
    'resource.labels.0',
    'user.constructors',
    'user.prototyped',
  ])('but not the path %j', (path) => {
    expect(problemsOf({ Equals: { [path]: { $ref: path } } })).toEqual([]);
  });

  it.each([
    [9_007_199_254_740_992, 'too_big'],
    [1e300, 'too_big'],
    [-9_007_199_254_740_992, 'too_small'],
  ] as const)('the whole number %d, which may have been another', (number, code) => {
    expect(problemsOf({ Equals: { 'user.id': number } })).toEqual(at('.Equals.user.id', code));
    expect(problemsOf({ NumericLessThan: { 'user.id': number } })).toEqual(
      at('.NumericLessThan.user.id', code),
    );
    expect(problemsOf({ In: { 'user.id': [1, number] } })).toEqual(at('.In.user.id.1', code));
    expect(problemsOf({ StringEquals: { 'user.id': number } })).toEqual(
      at('.StringEquals.user.id', 'operand'),
    );
    expect(truthOf({ Not: { Equals: { 'user.id': number } } })).toBe('unknown');
  });

  it('do not include whole numbers up to 2^53−1 and fractions', () => {
    for (const number of [9_007_199_254_740_991, -9_007_199_254_740_991, 0.5, 1e-300]) {
      expect(problemsOf({ Equals: { 'user.id': number } })).toEqual([]);
    }
  });

  it('report every problem, twenty at most, below the given path', () => {
    const raw = { Equals: { nope: 'x', 'user.id': {} }, Or: [{ Nope: 1 }] };
    expect(problemsOf(raw, 'input.condition')).toEqual([
      { path: 'input.condition.Equals.nope', code: 'path' },
      { path: 'input.condition.Equals.user.id', code: 'operand' },
      { path: 'input.condition.Or.0.Nope', code: 'operator' },
    ]);
    expect(problemsOf({ And: Array(500).fill(1) })).toHaveLength(20);
    expect(problemsOf({ And: Array(19).fill(1) })).toHaveLength(19);
  });
});

describe('limits', () => {
  const item = { Equals: { 'user.id': 'u1' } };
  const nest = (levels: number): unknown => {
    let raw: Record<string, unknown> = item;
    for (let level = 1; level < levels; level += 1) raw = level % 2 ? { And: [raw] } : { Not: { Not: raw } };
    return raw;
  };
  const nots = (levels: number): unknown => (levels === 1 ? item : { Not: nots(levels - 1) });
  const leaves = (size: number) =>
    Object.fromEntries(Array.from({ length: size }, (_, at) => [`user.a${at}`, 1]));
  const sized = (bytes: number) => {
    const raw = { Equals: { 'user.id': '' } };
    raw.Equals['user.id'] = 'x'.repeat(bytes - JSON.stringify(raw).length);
    return raw;
  };

  it.each<[string, unknown, string[]]>([
    ['8 levels', nots(8), []],
    ['9 levels', nots(9), ['limit']],
    ['mixed levels', nest(5), []],
    ['64 paths', { Equals: leaves(64) }, []],
    ['65 paths', { Equals: leaves(65) }, ['limit']],
    ['65 paths, and then a bad one', { Equals: { ...leaves(65), nope: 1 } }, ['limit']],
    ['64 paths, one of them bad', { Equals: { ...leaves(63), nope: 1 } }, ['path']],
    ['an empty text', { Equals: { 'user.id': '' }, In: { 'user.id': [''] } }, []],
    ['200 paths', { Equals: leaves(200) }, ['limit']],
    ['63 paths in an And', { And: [{ Equals: leaves(63) }] }, []],
    ['64 paths in an And', { And: [{ Equals: leaves(64) }] }, ['limit']],
    ['32 Nots of a path', { Or: Array(31).fill({ Not: item }) }, []],
    ['33 Nots of a path', { Or: Array(32).fill({ Not: item }) }, ['limit']],
    ['100 items', { In: { 'user.id': Array(100).fill('x') } }, []],
    ['8192 bytes', sized(8192), []],
    ['8193 bytes', sized(8193), ['limit']],
    ['8 KB of characters in more bytes', { Equals: { 'user.id': 'é'.repeat(5000) } }, ['limit']],
    ['a nesting that no stack holds', { And: deep(50_000) }, ['limit']],
  ])('%s', (_, raw, codes) => {
    expect(problemsOf(raw).map(({ code }) => code)).toEqual(codes);
    if (codes.length > 0) expect(truthOf(raw)).toBe('unknown');
  });

  function deep(levels: number): unknown {
    let raw: unknown = [];
    for (let level = 0; level < levels; level += 1) raw = [raw];
    return raw;
  }

  it('hold for values that JSON cannot contain', () => {
    const cyclic: Record<string, unknown> = {};
    cyclic['Not'] = cyclic;
    const trap = Object.defineProperty({}, 'Not', {
      enumerable: true,
      get: () => {
        throw new Error('trap');
      },
    });
    for (const raw of [cyclic, trap, { Equals: { 'user.id': 1n } }, Number.NaN, undefined]) {
      expect(truthOf(raw)).toBe('unknown');
      expect(canonicalCondition(raw)).toBe('unreadable');
    }
  });
});
