import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Attributes, Truth } from '../src/conditions-eval.ts';
import { operators, parseCondition } from '../src/conditions-parse.ts';
import { canonicalCondition, compileCondition } from '../src/conditions.ts';
import { isNeverMet } from '../src/contradiction.ts';
import { evaluate, indexPermissions, type Grants, type HeldPermission } from '../src/evaluate.ts';

/**
 * Laws of conditions and decisions, checked with CONDITION_CASES random cases (30,000 by default, more in CI). To generate a condition
 * takes longer than to evaluate it, so each run generates a few and checks all combinations.
 */
const total = Number(process.env['CONDITION_CASES'] ?? 30_000);
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

const isRefused = (raw: unknown): boolean => parseCondition(raw, '').problems.length > 0;

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

/** JSON values that break careless code. */
const hostileValue = fc.constantFrom<unknown[]>(
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
const anything = fc.oneof(hostileValue, value, fc.jsonValue({ maxDepth: 3 }));
/** JSON that looks like a condition but often is not valid. */
const almostCondition = fc.letrec<{ any: unknown }>((tie) => ({
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
      ].map(([item, other]) => [truthOf(item), truthOf(other)] as const);
      return (given: Attributes) => {
        const [truth, opposite] = [plain(given), negated(given)];
        const turned =
          truth === 'unknown' ? opposite === 'unknown' : opposite !== 'unknown' && opposite !== truth;
        return turned && same.every(([item, other]) => item(given) === other(given));
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

  it('that contradict themselves are met by nothing', () => {
    let contradictions = 0;
    fc.assert(
      fc.property(few(condition), few(condition), few(attributes), (some, others, all) => {
        const joined = some.flatMap((a) => others.map((b) => ({ And: [a, b] })));
        const never = joined.filter((condition) => isNeverMet(condition));
        contradictions += never.length;
        return never.every((raw) => all.every((given) => truthOf(raw)(given) !== 'true'));
      }),
      share(25, 16),
    );
    expect(contradictions).toBeGreaterThanOrEqual(total / 1000);
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

  it('never throw for any JSON, and are never met if refused', () => {
    fc.assert(
      fc.property(few(almostCondition), few(anything), (some, values) =>
        some.every((raw) => {
          const compiled = compileCondition(raw);
          const refused = isRefused(raw);
          return pairsOf(values).every(([item, other]) => {
            const given = {
              user: { id: item, metadata: other },
              role: { metadata: item },
              group: other,
              scope: item,
              resource: { a: item, b: other, c: item },
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
    // No input polluted the prototype of objects.
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
        const reported = JSON.parse(JSON.stringify(all)) as Attributes[];
        return pairsOf(some).every(([a, b]) => {
          const raw = { ...a, ...b };
          const truth = truthOf(raw);
          // A database may reorder members, so the reverse order must have the same meaning.
          return [JSON.parse(JSON.stringify(raw)), reversed(raw)].every((item) => {
            const back = truthOf(item);
            const same = (given: Attributes, index: number) =>
              back(given) === truth(given) && back(reported[index] ?? {}) === truth(given);
            return all.every(same) && canonicalCondition(item) === canonicalCondition(raw);
          });
        });
      }),
      share(15, 24),
    );
  });

  it('are never inverted by a missing attribute', () => {
    fc.assert(
      fc.property(few(condition), few(attributes), (some, all) =>
        some.map(truthOf).every((truth) =>
          all.every((given) => {
            const [before, after] = [truth(given), truth({ ...given, resource: null })];
            // A missing attribute may change a result to unknown, never to its opposite.
            return before === 'unknown' || after === 'unknown' || after === before;
          }),
        ),
      ),
      share(5, 16),
    );
  });

  it('with equal canonical forms have equal results', () => {
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
  const grantSource = (id: string) =>
    fc
      .tuple(fc.integer({ min: 1, max: 3 }), anything)
      .map(([number, x]) => ({ id: `${id}${number}`, name: id, metadata: { x } }));
  const heldOne: fc.Arbitrary<HeldPermission> = fc
    .record({
      name: fc.constantFrom(...names),
      condition: fc.oneof(fc.constant(null), condition, anything),
      role: grantSource('r'),
      group: grantSource('g'),
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
      membership: fc.constantFrom('active', 'active', 'inactive', 'outside'),
      consented: fc.subarray(names).map((some) => new Set(some)),
      projectPlaneOnly: fc.boolean(),
    },
    { requiredKeys: [] },
  );
  const grants = (some: readonly HeldPermission[], user: unknown, rest: Partial<Grants>): Grants => ({
    membership: 'active',
    user: { id: user },
    scope: { tenant: 'organization' },
    held: indexPermissions(some, nouns),
    ...rest,
  });

  it('are monotone: more permissions or scopes never turn an allowed question into a refused one', () => {
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
            (question) =>
              !evaluate(fewer, question).authorized ||
              (evaluate(greater, question).authorized && evaluate(freed, question).authorized),
          );
        });
      }),
      share(10, 24),
    );
  });
});
