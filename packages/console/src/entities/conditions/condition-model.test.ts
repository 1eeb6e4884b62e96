import { canonicalCondition, compileCondition } from '@doorward/decision';
import { operators as operatorsOfService } from '@doorward/decision/conditions-parse';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  operators,
  readCondition,
  writeCondition,
  writeNode,
  type Clauses,
  type Comparison,
} from './condition-model.ts';
import { problemsOf } from './condition-problems.ts';

const comparison = (changes: Partial<Comparison>): Comparison => ({
  kind: 'comparison',
  operator: 'Equals',
  path: 'user.id',
  type: 'text',
  text: 'u1',
  ...changes,
});
const all = (...nodes: Clauses['nodes']): Clauses => ({ kind: 'all', nodes });
const rewritten = (condition: unknown): unknown => {
  const root = readCondition(condition);
  return root ? writeCondition(root) : 'no tree';
};

describe('readCondition', () => {
  it('knows every operator of the service', () => {
    expect([...operators].sort()).toEqual([...operatorsOfService].sort());
  });

  it.each([null, undefined, {}])('reads %j as a group without members', (condition) => {
    expect(readCondition(condition)).toEqual(all());
  });

  // None of these conditions is ever met. As an empty or shorter tree they would look more permissive than they are.
  it.each<{ readonly condition: unknown }>(
    [
      { And: [] },
      { Or: [] },
      { Or: [{}] },
      { Not: {} },
      { Not: null },
      { Equals: {} },
      { Equals: null },
      { Equals: { 'user.id': {} } },
      { Equals: { 'user.id': { $ref: 'user.name', other: 1 } } },
      { Equals: { 'user.id': { $ref: 7 } } },
      { In: { 'user.id': [['a']] } },
      { And: { Equals: { 'user.id': 'u1' } } },
      { Equals: { 'user.id': 'u1' }, Matches: { 'user.name': '.*' } },
      { Or: [{ Equals: { 'user.id': 'u1' } }, { equals: { 'user.id': 'u2' } }] },
      { toString: { 'user.id': 'u1' } },
      JSON.parse('{"__proto__":{"user.id":"u1"}}'),
      [],
      'Equals',
      0,
    ].map((condition: unknown) => ({ condition })),
  )('has no tree for $condition', ({ condition }) => {
    expect(readCondition(condition)).toBeNull();
    expect(compileCondition(condition).evaluate({ user: { id: 'u1' } })).toBe('unknown');
  });

  it('keeps a path that is the name of an inherited member, for the service to refuse', () => {
    const condition: unknown = JSON.parse('{"Equals":{"__proto__":"a","constructor":"b"}}');
    expect(JSON.stringify(rewritten(condition))).toBe(JSON.stringify(condition));
    expect(problemsOf(rewritten(condition))).toHaveLength(2);
  });
});

describe('writeCondition', () => {
  it('keeps comparisons of the same attribute apart', () => {
    const first = comparison({ operator: 'NotEquals', text: 'a' });
    const second = comparison({ operator: 'NotEquals', text: 'b' });
    expect(writeCondition(all(first, second))).toEqual({
      And: [{ NotEquals: { 'user.id': 'a' } }, { NotEquals: { 'user.id': 'b' } }],
    });
  });

  it('keeps two negated groups and two alternatives apart, also without a common operator', () => {
    const [first, second] = [comparison({}), comparison({ operator: 'StartsWith' })];
    for (const kind of ['none', 'any'] as const) {
      const pair = all({ kind, nodes: [first] }, { kind, nodes: [second] });
      expect(writeCondition(pair)).toEqual({ And: pair.nodes.map(writeNode) });
    }
  });

  it('lets the service refuse an inner group without members, which must not be unconditional', () => {
    for (const kind of ['all', 'any', 'none'] as const) {
      const condition = writeCondition(all(comparison({}), { kind, nodes: [] }));
      expect([kind, compileCondition(condition).evaluate({ user: { id: 'u1' } })]).toEqual([kind, 'unknown']);
    }
  });

  // JSON writes NaN and Infinity as null, and the service would accept a comparison with null.
  it.each(['', ' ', '-', '1,5', '1 000', 'NaN', 'Infinity', '-Infinity', '1e999'])(
    'lets the service refuse %j as a number',
    (text) => {
      const condition = JSON.stringify(writeCondition(all(comparison({ type: 'number', text }))));
      expect(problemsOf(JSON.parse(condition)).map(({ code }) => code)).toEqual(['operand']);
    },
  );

  it('reads each line of a list as an item, and blank lines as none', () => {
    const node = comparison({ operator: 'In', type: 'list', text: ' a \n\n7\r\n"7"\n{{user.name}}\n""\n{' });
    expect(writeNode(node)).toEqual({ In: { 'user.id': ['a', 7, '7', '{{user.name}}', '', '{'] } });
  });

  it('reads a number that is too large for JSON as text, also in a list', () => {
    const node = comparison({ operator: 'In', type: 'list', text: '1e999\n-1e999' });
    expect(writeNode(node)).toEqual({ In: { 'user.id': ['1e999', '-1e999'] } });
  });

  it('takes a number in a list for text where the operator compares texts only', () => {
    const node = comparison({ operator: 'StringIn', type: 'list', text: '007\n1\nnull\n"1"' });
    expect(writeNode(node)).toEqual({ StringIn: { 'user.id': ['007', '1', 'null', '1'] } });
  });
});

describe('a condition that was read and written again', () => {
  const path = fc.constantFrom('user.id', 'user.name', 'resource.a', 'resource.b.c');
  // Texts that look like JSON, or that would be split into lines.
  const text = fc.oneof(
    fc.string().filter((value) => !value.includes('{{')),
    fc.constantFrom('', ' a', 'a\nb', 'a\r\nb', '7', 'true', 'null', '"', '"a"', '[1]', '{}', '𝄞', '}}'),
  );
  const scalar = fc.oneof(text, fc.double({ noNaN: true }), fc.boolean(), fc.constant(null));
  const reference = path.chain((to) => fc.constantFrom<unknown[]>(`{{${to}}}`, { $ref: to }));
  const operand = fc.oneof(
    scalar,
    reference,
    fc.array(fc.oneof(scalar, reference), { minLength: 1, maxLength: 4 }),
  );
  const { expression } = fc.letrec<{ readonly expression: Readonly<Record<string, unknown>> }>((tie) => {
    const parts = fc.array(tie('expression'), { minLength: 1, maxLength: 3 });
    const leaf = fc
      .tuple(
        fc.constantFrom(...operators),
        fc.dictionary(path, operand, { minKeys: 1, maxKeys: 3, noNullPrototype: true }),
      )
      .map(([operator, comparisons]) => ({ [operator]: comparisons }));
    const group = fc.oneof(
      parts.map((And) => ({ And })),
      parts.map((Or) => ({ Or })),
      tie('expression').map((Not) => ({ Not })),
    );
    const several = fc.tuple(leaf, group, leaf).map((members) => Object.assign({}, ...members) as object);
    return { expression: fc.oneof({ maxDepth: 2 }, leaf, group, several) as typeof group };
  });
  const valid = expression.filter((condition) => problemsOf(condition).length === 0);

  it('is met by the same attributes', () => {
    const thing = fc.record({ a: scalar, b: fc.record({ c: scalar }) }, { requiredKeys: [] });
    const user = fc.record({ id: scalar, name: scalar }, { requiredKeys: ['id'] });
    fc.assert(
      fc.property(valid, fc.array(fc.record({ user, resource: thing })), (condition, cases) => {
        const after = rewritten(condition);
        expect(problemsOf(after)).toEqual([]);
        for (const attributes of cases)
          expect(compileCondition(after).evaluate(attributes)).toBe(
            compileCondition(condition).evaluate(attributes),
          );
      }),
    );
  });

  it('does not change any more', () => {
    fc.assert(
      fc.property(valid, (condition) => {
        const once = rewritten(condition);
        expect(canonicalCondition(rewritten(once))).toBe(canonicalCondition(once));
      }),
    );
  });

  it('keeps every item of a list, and its type', () => {
    fc.assert(
      fc.property(fc.constantFrom('In', 'NotIn'), fc.array(scalar, { minLength: 1 }), (operator, items) => {
        const condition = { [operator]: { 'user.id': items } };
        fc.pre(problemsOf(condition).length === 0);
        // Compared as JSON, because JSON has no negative zero.
        expect(JSON.stringify(rewritten(condition))).toBe(JSON.stringify(condition));
      }),
    );
  });
});
