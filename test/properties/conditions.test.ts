import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Attributes, Truth } from '../../src/access/conditions-eval.ts';
import { operators } from '../../src/access/conditions-parse.ts';
import { assertCondition, canonicalCondition, compileCondition } from '../../src/access/conditions.ts';
import { evaluate, indexPermissions, type Grants, type HeldPermission } from '../../src/access/evaluate.ts';
import { DoorwardError } from '../../src/errors.ts';

/**
 * Laws of conditions and decisions, on random ones: CONDITION_CASES of them in all, 100,000 if it is not said. To make
 * conditions takes longer than to judge them, so each run makes a few and takes them in all combinations.
 */
const total = Number(process.env['CONDITION_CASES'] ?? 100_000);
const share = (percent: number, casesOfRun: number) => ({
  numRuns: Math.ceil((total * percent) / 100 / casesOfRun),
});
const few = <T>(arbitrary: fc.Arbitrary<T>) => fc.array(arbitrary, { minLength: 4, maxLength: 4 });
const pairsOf = <T>(some: readonly T[]) =>
  some.flatMap((a, index) => some.slice(index + 1).map((b) => [a, b] as const));

const truthOf = (raw: unknown) => {
  const compiled = compileCondition(raw);
  return (given: Attributes): Truth => compiled.evaluate(given);
};

function isRefused(raw: unknown): boolean {
  try {
    assertCondition(raw);
    return false;
  } catch (error) {
    if (error instanceof DoorwardError && error.code === 'INVALID_CONDITION') return true;
    throw error;
  }
}

const path = fc.constantFrom('user.id', 'resource.a', 'resource.b', 'resource.c.d', 'role.metadata.x');
const scalar = fc.constantFrom<unknown[]>('a', 'b', '', 0, 1, true, false, null);
const reference = fc
  .tuple(path, fc.boolean())
  .map(([text, short]): unknown => (short ? `{{${text}}}` : { $ref: text }));
const item = fc.oneof(scalar, reference);
const operand = fc.oneof(item, fc.array(item, { maxLength: 3 }));
const leaf = fc
  .tuple(fc.constantFrom(...operators), path, operand)
  .map(([operator, text, value]): Record<string, unknown> => ({ [operator]: { [text]: value } }))
  .filter((raw) => !isRefused(raw));
const condition = fc.letrec<{ expr: Record<string, unknown> }>((tie) => ({
  expr: fc.oneof(
    { maxDepth: 2 },
    leaf,
    fc.array(tie('expr'), { minLength: 1, maxLength: 3 }).map((And) => ({ And })),
    fc.array(tie('expr'), { minLength: 1, maxLength: 3 }).map((Or) => ({ Or })),
    tie('expr').map((Not) => ({ Not })),
  ),
})).expr;

const value = fc.oneof(
  scalar,
  fc.constantFrom<unknown[]>([], ['a'], ['a', 1], [null], [{}], { d: 'a' }, { d: 1 }),
);
const attributes: fc.Arbitrary<Attributes> = fc.record(
  {
    user: fc.record({ id: value }, { requiredKeys: [] }),
    role: fc.record({ metadata: fc.record({ x: value }) }),
    resource: fc.record({ a: value, b: value, c: value }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
);

/** What JSON can bring that a careless reader trips over. */
const nasty = fc.constantFrom<unknown[]>(
  '__proto__',
  'constructor',
  '\ud800',
  'a\udc00b',
  '\u0000',
  '{{user.id}}',
  '{{',
  1e308,
  -1e308,
  5e-324,
  -0,
  Number.MAX_SAFE_INTEGER + 2,
  JSON.parse('{"__proto__": {"a": 1}}'),
  JSON.parse('{"constructor": {"prototype": {"a": 1}}, "toString": 1, "hasOwnProperty": 2}'),
  nested(12, 'list'),
  nested(12, 'object'),
  nested(5000, 'list'),
  nested(5000, 'object'),
);
function nested(depth: number, kind: 'list' | 'object'): unknown {
  let made: unknown = 'a';
  for (let i = 0; i < depth; i++) made = kind === 'list' ? [made] : { Not: made, a: made };
  return made;
}
const anything = fc.oneof(nasty, value, fc.jsonValue({ maxDepth: 3 }));
/** JSON that looks like a condition but often is none. */
const almost = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    anything,
    leaf,
    reference,
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(
      fc.oneof(
        fc.constantFrom('And', 'Or', 'Not', '$ref', '__proto__', 'constructor', 'resource.__proto__.a'),
        fc.constantFrom(...operators),
        path,
      ),
      tie('any'),
      { maxKeys: 3 },
    ),
  ),
})).any;

describe('conditions', () => {
  it('obey Kleene: double negation, De Morgan, order, idempotence, absorption, the unknown', () => {
    const lawsOf = ([a, b]: readonly [unknown, unknown]) => {
      const [plain, negated] = [truthOf(a), truthOf({ Not: a })];
      const same = [
        [a, { Not: { Not: a } }],
        [a, { And: [a, a] }],
        [a, { Or: [a, { And: [a, b] }] }],
        [{ Not: { And: [a, b] } }, { Or: [{ Not: a }, { Not: b }] }],
        [{ Not: { Or: [a, b] } }, { And: [{ Not: a }, { Not: b }] }],
        [{ And: [a, b] }, { And: [b, a] }],
        [{ Or: [a, b] }, { Or: [b, a] }],
      ].map(([one, other]) => [truthOf(one), truthOf(other)] as const);
      return (given: Attributes) => {
        const [truth, opposite] = [plain(given), negated(given)];
        const turned =
          truth === 'unknown' ? opposite === 'unknown' : opposite !== 'unknown' && opposite !== truth;
        return turned && same.every(([one, other]) => one(given) === other(given));
      };
    };
    fc.assert(
      fc.property(few(condition), few(attributes), (some, all) =>
        pairsOf(some)
          .map(lawsOf)
          .every((law) => all.every(law)),
      ),
      share(25, 24),
    );
  });

  it('obey the tables of And and Or', () => {
    const rank = { false: 0, unknown: 1, true: 2 } as const;
    fc.assert(
      fc.property(few(condition), few(attributes), (some, all) =>
        pairsOf(some).every(([a, b]) => {
          const [left, right, and, or] = [a, b, { And: [a, b] }, { Or: [a, b] }]
            .map(truthOf)
            .map((truth) => (given: Attributes) => rank[truth(given)]) as [Rank, Rank, Rank, Rank];
          return all.every(
            (given) =>
              and(given) === Math.min(left(given), right(given)) &&
              or(given) === Math.max(left(given), right(given)),
          );
        }),
      ),
      share(20, 24),
    );
    type Rank = (given: Attributes) => number;
  });

  it('never throw for any JSON as condition or attribute, and what is refused is never met', () => {
    fc.assert(
      fc.property(few(almost), few(anything), (some, values) =>
        some.every((raw) => {
          const compiled = compileCondition(raw);
          const refused = isRefused(raw);
          return pairsOf(values).every(([one, other]) => {
            const given = {
              user: { id: one, metadata: other },
              role: { metadata: one },
              group: other,
              scope: one,
              resource: { a: one, b: other, c: one },
            };
            const truth = compiled.evaluate(given);
            const read = Object.keys(compiled.context(given));
            const never = truth === 'unknown' && !compiled.unconditional;
            return (never || !refused) && read.every((key) => compiled.paths.includes(key));
          });
        }),
      ),
      share(25, 24),
    );
    // Nothing that was read has become anybody's prototype.
    expect(({} as Record<string, unknown>)['a']).toBeUndefined();
  });

  it('mean the same after a round trip through JSON', () => {
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
      fc.property(few(condition), few(attributes), (some, all) => {
        const told = JSON.parse(JSON.stringify(all)) as Attributes[];
        return pairsOf(some).every(([a, b]) => {
          const raw = { ...a, ...b };
          const truth = truthOf(raw);
          // A database may order members as it likes, so the other order has to mean the same as well.
          return [JSON.parse(JSON.stringify(raw)), reversed(raw)].every((one) => {
            const back = truthOf(one);
            const same = (given: Attributes, index: number) =>
              back(given) === truth(given) && back(told[index] ?? {}) === truth(given);
            return all.every(same) && canonicalCondition(one) === canonicalCondition(raw);
          });
        });
      }),
      share(15, 24),
    );
  });

  it('are not turned round by leaving attributes out', () => {
    fc.assert(
      fc.property(few(condition), few(attributes), (some, all) =>
        some.map(truthOf).every((truth) =>
          all.every((given) => {
            const [before, after] = [truth(given), truth({ ...given, resource: null })];
            // Less knowledge may turn an answer into unknown, never into its opposite.
            return before === 'unknown' || after === 'unknown' || after === before;
          }),
        ),
      ),
      share(5, 16),
    );
  });

  it('of one canonical form have one truth', () => {
    fc.assert(
      fc.property(few(leaf), few(attributes), (some, all) =>
        pairsOf(some).every(
          ([a, b]) =>
            canonicalCondition(a) !== canonicalCondition(b) ||
            all.every((given) => truthOf(a)(given) === truthOf(b)(given)),
        ),
      ),
      share(5, 24),
    );
  });
});

describe('decisions', () => {
  const nouns = new Set(['Project', 'ApiKey']);
  const names = ['invoice:read', 'invoice:write', 'project:query', 'Project:Query', 'ApiKey:Revoke'];
  const carrier = (id: string) =>
    fc
      .tuple(fc.integer({ min: 1, max: 3 }), anything)
      .map(([number, x]) => ({ id: `${id}${number}`, name: id, metadata: { x } }));
  const heldOne: fc.Arbitrary<HeldPermission> = fc
    .record({
      name: fc.constantFrom(...names),
      condition: fc.oneof(fc.constant(null), condition, anything),
      role: carrier('r'),
      group: carrier('g'),
    })
    .map(({ name, condition: stored, role, group }) => {
      const [resource = '', action = ''] = name.split(':');
      const managementPlane = nouns.has(resource);
      const permission = { id: `id of ${name}`, name, resource, action, managementPlane };
      return { permission, condition: stored, role, group };
    });
  const held = fc.array(heldOne, { maxLength: 4 });
  const question = fc
    .tuple(fc.constantFrom(...names), fc.record({ a: value, b: value, c: value }, { requiredKeys: [] }))
    .map(([name, resource]) => {
      const [noun = '', action = ''] = name.split(':');
      return { resource: noun, action, attributes: resource };
    });
  const more: fc.Arbitrary<Partial<Grants>> = fc.record(
    {
      standing: fc.constantFrom('active', 'active', 'inactive', 'outside'),
      consented: fc.subarray(names).map((some) => new Set(some)),
      projectPlaneOnly: fc.boolean(),
    },
    { requiredKeys: [] },
  );
  const grants = (some: readonly HeldPermission[], user: unknown, rest: Partial<Grants>): Grants => ({
    standing: 'active',
    user: { id: user },
    scope: { tenant: 'organization' },
    held: indexPermissions(some, nouns),
    ...rest,
  });

  it('are monotone: holding or consenting more never takes anything away', () => {
    fc.assert(
      fc.property(few(held), more, few(question), value, (bundles, rest, questions, user) => {
        const { consented: _, ...free } = rest;
        return pairsOf(bundles).every(([before, added]) => {
          const [fewer, greater, freed] = [
            grants(before, user, rest),
            grants([...added, ...before], user, rest),
            grants(before, user, free),
          ];
          return questions.every(
            (asked) =>
              !evaluate(fewer, asked).authorized ||
              (evaluate(greater, asked).authorized && evaluate(freed, asked).authorized),
          );
        });
      }),
      share(10, 24),
    );
  });
});
