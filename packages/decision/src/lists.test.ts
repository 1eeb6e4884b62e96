import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileCondition } from './conditions.ts';
import { Lists, listOf } from './lists.ts';
import { Work, WorkExceeded } from './work.ts';

const scalar = fc.constantFrom<string | number | boolean | null>(
  'a',
  'b',
  '',
  0,
  -0,
  1,
  2.5,
  true,
  false,
  null,
);
const item = fc.oneof(scalar, fc.constantFrom<unknown>({}, [], undefined, 2 ** 60, Number.NaN));

/** Item by item, as the contract says (authorization §7.2). */
function includes(items: readonly unknown[], value: unknown): string {
  let result = 'false';
  for (const other of items) {
    const isScalar = other === null || ['string', 'boolean'].includes(typeof other) || Number.isFinite(other);
    if (isScalar && other === value) return 'true';
    const areComparable = isScalar && (other === null || value === null || typeof other === typeof value);
    if (!areComparable) result = 'unknown';
  }
  return result;
}

describe('a list', () => {
  it('gives the same result at any length as item by item', () => {
    // Every kind of list above and below the length from which a set is made.
    const lengths = { minLength: 0, maxLength: 40, size: 'max' } as const;
    const long = { minLength: 17, maxLength: 40 };
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(item, lengths),
          fc.array(scalar, lengths),
          fc.array(fc.constantFrom<unknown>('a', '', null), long),
          fc.array(fc.constantFrom<unknown>(1, 0, 2 ** 60), long),
          fc.array(fc.constantFrom<unknown>(null), long),
          fc.array(fc.constantFrom<unknown>(true, 2.5), long),
          fc.array(fc.constantFrom<unknown>('b', {}), long),
        ),
        scalar,
        (items, value) => {
          for (const list of [listOf(items), new Lists().of(items)]) {
            expect(list.includes(value)).toBe(includes(items, value));
            expect(list.hasOnlyScalars).toBe(items.every((other) => includes([other], null) !== 'unknown'));
            expect(list.isInexact).toBe(items.includes(2 ** 60));
          }
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('is read once in a decision, however often it is compared', () => {
    const work = new Work(Infinity);
    const lists = new Lists(work);
    const [long, other] = [Array.from({ length: 17 }, String), Array.from({ length: 40 }, String)];
    for (let round = 0; round < 3; round++) expect([lists.of(long), lists.of(other)]).toHaveLength(2);
    expect(work.spent).toBe(57);
    lists.of(Array.from({ length: 16 }, String));
    expect(work.spent).toBe(57);
  });

  it('that its owner changes between two decisions is read again', () => {
    const teams = Array.from({ length: 20 }, String);
    const condition = compileCondition({ Contains: { 'resource.teams': 'new' } });
    expect(condition.evaluate({ resource: { teams } })).toBe('false');
    teams.push('new');
    expect(condition.evaluate({ resource: { teams } })).toBe('true');
  });
});

describe('the work of a condition', () => {
  const stepsOf = (condition: object, resource: object) => {
    const work = new Work(Infinity);
    compileCondition(condition).evaluate({ resource }, new Lists(work));
    return work.spent;
  };

  it.each<[string, object, object, number]>([
    ['its paths and comparisons', { Equals: { 'resource.a': 1, 'resource.b': 2 } }, { a: 1, b: 2 }, 4],
    ['its references', { In: { 'resource.a': ['{{resource.b}}', '{{resource.c}}', 3] } }, { a: 1 }, 6],
    ['no literal of a list', { Not: { In: { 'resource.a': Array.from('abcdefgh') } } }, { a: 'z' }, 2],
    ['long texts', { StringEquals: { 'resource.a': '{{resource.b}}' } }, { a: 'x'.repeat(640), b: 'y' }, 13],
    [
      'and those of equality',
      { Equals: { 'resource.a': '{{resource.b}}' } },
      { a: 'x'.repeat(65), b: 'y' },
      5,
    ],
    ['but no short ones', { Equals: { 'resource.a': 'y' } }, { a: 'x'.repeat(64) }, 2],
  ])('counts %s', (_, condition, resource, steps) => {
    expect(stepsOf(condition, resource)).toBe(steps);
  });

  it('ends beyond its budget, and names what took the most', () => {
    const work = new Work(20);
    work.charge('paths', 9);
    work.charge('items', 11);
    expect(work.spent).toBe(20);
    expect(() => work.charge('paths', 1)).toThrow(new WorkExceeded('items', 20));
    expect(() => work.charge('cases', 0)).toThrow(WorkExceeded);
  });
});
