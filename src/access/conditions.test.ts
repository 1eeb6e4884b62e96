import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DoorwardError } from '../errors.ts';
import type { Attributes } from './conditions-eval.ts';
import { operators } from './conditions-parse.ts';
import { assertCondition, canonicalCondition, compileCondition } from './conditions.ts';

const truthOf = (raw: unknown, attributes: Attributes): string => compileCondition(raw).evaluate(attributes);

function isRefused(raw: unknown): boolean {
  try {
    assertCondition(raw);
    return false;
  } catch (error) {
    if (error instanceof DoorwardError && error.code === 'INVALID_CONDITION') return true;
    throw error;
  }
}

describe('compileCondition', () => {
  it('knows every path and reference once, and their values', () => {
    const compiled = compileCondition({
      Equals: { 'resource.ownerId': '{{user.id}}', 'resource.missing': 1 },
      Or: [{ Not: { In: { 'user.id': ['a', { $ref: 'scope.id' }] } } }],
    });
    const attributes = { user: { id: 'u1' }, scope: { id: 's1' }, resource: { ownerId: null } };
    expect(compiled.paths).toEqual(['resource.ownerId', 'user.id', 'resource.missing', 'scope.id']);
    expect(compiled.context(attributes)).toEqual({
      'resource.ownerId': null,
      'user.id': 'u1',
      'scope.id': 's1',
    });
  });

  it('is unconditional for null and {} only', () => {
    expect([null, {}].map((raw) => compileCondition(raw).unconditional)).toEqual([true, true]);
    for (const raw of [undefined, [], '', 0, false, 'null', { And: [] }]) {
      const compiled = compileCondition(raw);
      expect([compiled.unconditional, compiled.evaluate({})]).toEqual([false, 'unknown']);
    }
  });

  it('returns null for null and {} from assertCondition', () => {
    expect([null, {}].map((raw) => assertCondition(raw))).toEqual([null, null]);
  });
});

describe('canonicalCondition', () => {
  const same = (left: unknown, right: unknown) => canonicalCondition(left) === canonicalCondition(right);

  it('ignores order of members, spelling of references, and null against {}', () => {
    expect(same(null, {})).toBe(true);
    expect(
      same(
        { In: { 'user.id': ['{{user.name}}'] }, Equals: { 'user.b': 1, 'user.a': { $ref: 'role.id' } } },
        { Equals: { 'user.a': '{{role.id}}', 'user.b': 1 }, In: { 'user.id': [{ $ref: 'user.name' }] } },
      ),
    ).toBe(true);
  });

  it('tells the rest apart', () => {
    const all = [
      null,
      undefined,
      [],
      { Not: {} },
      { Equals: { 'user.id': 'a' } },
      { Equals: { 'user.id': 1 } },
      { Equals: { 'user.id': '1' } },
      { Equals: { 'user.id': 'user.id' } },
      { Equals: { 'user.id': '{{user.id}}' } },
      { Equals: { 'user.id': '{{user}}' } },
      { Equals: { 'user.id': { $ref: '{{user.id}}' } } },
      { NotEquals: { 'user.id': 'a' } },
      { In: { 'user.id': ['a', 'b'] } },
      { In: { 'user.id': ['b', 'a'] } },
    ];
    expect(new Set(all.map(canonicalCondition)).size).toBe(all.length);
  });
});

describe('properties', () => {
  const path = fc.constantFrom('user.id', 'resource.a', 'resource.b', 'resource.c.d', 'role.metadata.x');
  const scalar = fc.oneof(fc.constantFrom('a', 'b', '', 0, 1, true, false), fc.constant(null));
  const reference = fc.oneof(
    path.map((text): unknown => `{{${text}}}`),
    path.map((text): unknown => ({ $ref: text })),
  );
  const item = fc.oneof(scalar, reference);
  const operand = fc.oneof(item, fc.array(item, { maxLength: 3 }));
  const leaf = fc
    .tuple(fc.constantFrom(...operators), path, operand)
    .map(([operator, text, value]): Record<string, unknown> => ({ [operator]: { [text]: value } }))
    .filter((raw) => !isRefused(raw));
  const condition = fc.letrec<{ expr: Record<string, unknown> }>((tie) => ({
    expr: fc.oneof(
      { maxDepth: 2, withCrossShrink: true },
      leaf,
      fc.array(tie('expr'), { minLength: 1, maxLength: 3 }).map((And) => ({ And })),
      fc.array(tie('expr'), { minLength: 1, maxLength: 3 }).map((Or) => ({ Or })),
      tie('expr').map((Not) => ({ Not })),
    ),
  })).expr;
  const value = fc.oneof(
    scalar,
    fc.array(scalar, { maxLength: 2 }),
    fc.constant({ d: 'a' }),
    fc.constant([{}]),
  );
  const attributes: fc.Arbitrary<Attributes> = fc.record(
    {
      user: fc.record({ id: value }, { requiredKeys: [] }),
      role: fc.record({ metadata: fc.record({ x: value }) }),
      resource: fc.record({ a: value, b: value, c: value }, { requiredKeys: [] }),
    },
    { requiredKeys: [] },
  );
  /** JSON that looks like a condition but often is none. */
  const almost = fc.letrec<{ any: unknown }>((tie) => ({
    any: fc.oneof(
      { maxDepth: 4 },
      fc.jsonValue(),
      condition,
      reference,
      fc.array(tie('any'), { maxLength: 4 }),
      fc.dictionary(
        fc.oneof(fc.constantFrom('And', 'Or', 'Not', '$ref', '__proto__', ...operators), path, fc.string()),
        tie('any'),
        { maxKeys: 4 },
      ),
    ),
  })).any;

  it('never throws for any JSON, and refuses exactly what is never met', () => {
    fc.assert(
      fc.property(almost, fc.jsonValue(), (raw, any) => {
        const compiled = compileCondition(raw);
        const everywhere = { user: any, role: any, group: any, scope: any, resource: any };
        const truth = compiled.evaluate(everywhere);
        if (isRefused(raw)) expect([truth, compiled.unconditional]).toEqual(['unknown', false]);
        expect(Object.keys(compiled.context(everywhere)).every((key) => compiled.paths.includes(key))).toBe(
          true,
        );
        expect(canonicalCondition(raw)).toBe(canonicalCondition(structuredClone(raw)));
      }),
      { numRuns: 5000 },
    );
  });

  it('obeys Kleene: double negation, De Morgan, order and idempotence', () => {
    fc.assert(
      fc.property(condition, condition, attributes, (a, b, given) => {
        const truth = (raw: unknown) => truthOf(raw, given);
        expect(truth({ Not: { Not: a } })).toBe(truth(a));
        expect(truth({ Not: { And: [a, b] } })).toBe(truth({ Or: [{ Not: a }, { Not: b }] }));
        expect(truth({ Not: { Or: [a, b] } })).toBe(truth({ And: [{ Not: a }, { Not: b }] }));
        expect(truth({ And: [a, b] })).toBe(truth({ And: [b, a] }));
        expect(truth({ Or: [a, b] })).toBe(truth({ Or: [b, a] }));
        expect(truth({ And: [a, a] })).toBe(truth(a));
        expect(truth({ Or: [a, { And: [a, b] }] })).toBe(truth(a));
      }),
      { numRuns: 3000 },
    );
  });

  it('obeys the tables of And and Or', () => {
    const rank = { false: 0, unknown: 1, true: 2 } as const;
    const rankOf = (raw: unknown, given: Attributes) => rank[compileCondition(raw).evaluate(given)];
    fc.assert(
      fc.property(condition, condition, attributes, (a, b, given) => {
        const [left, right] = [rankOf(a, given), rankOf(b, given)];
        expect(rankOf({ And: [a, b] }, given)).toBe(Math.min(left, right));
        expect(rankOf({ Or: [a, b] }, given)).toBe(Math.max(left, right));
      }),
      { numRuns: 2000 },
    );
  });

  it('never becomes met by leaving attributes out where it was false', () => {
    fc.assert(
      fc.property(condition, attributes, (raw, given) => {
        const before = truthOf(raw, given);
        const after = truthOf(raw, { ...given, resource: null });
        // Less knowledge may turn an answer into unknown, never into its opposite.
        if (before !== 'unknown') expect(['unknown', before]).toContain(after);
      }),
      { numRuns: 2000 },
    );
  });

  it('has one canonical form for one meaning', () => {
    const reversed = (raw: unknown): unknown => {
      if (Array.isArray(raw)) return raw.map(reversed);
      if (typeof raw !== 'object' || raw === null) return raw;
      return Object.fromEntries(
        Object.entries(raw)
          .reverse()
          .map(([key, inner]) => [key, reversed(inner)]),
      );
    };
    fc.assert(
      fc.property(condition, condition, attributes, (a, b, given) => {
        expect(canonicalCondition(reversed({ ...a, ...b }))).toBe(canonicalCondition({ ...a, ...b }));
        if (canonicalCondition(a) === canonicalCondition(b))
          expect(truthOf(a, given)).toBe(truthOf(b, given));
      }),
      { numRuns: 2000 },
    );
  });
});
