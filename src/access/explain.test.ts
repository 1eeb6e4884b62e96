import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evaluate, indexPermissions, type Grants, type HeldPermission, type Question } from './evaluate.ts';
import { explain, limits, type Surroundings } from './explain.ts';

const nouns = new Set(['Role']);
const anything = { resource: () => true, metadata: () => true };

function hold(id: string, condition: unknown = null, carried = 'r1', metadata: Record<string, unknown> = {}) {
  const permission = { id, name: id, resource: 'invoice', action: 'read', managementPlane: false };
  const role = { id: carried, name: carried, metadata };
  return {
    permission,
    condition,
    role,
    group: { id: 'g1', name: 'g1', metadata: {} },
  } satisfies HeldPermission;
}

const grants = (more: Partial<Grants> = {}): Grants => ({
  standing: 'active',
  user: { id: 'u1', metadata: { level: 1 } },
  scope: { tenant: 'organization' },
  held: indexPermissions([], nouns),
  ...more,
});

const around = (more: Partial<Surroundings> = {}): Surroundings => ({
  held: [],
  roles: [],
  replacesRoles: false,
  links: [],
  settable: { user: true, carriers: new Set(['r1', 'r2', 'g1']) },
  ...more,
});

const question: Question = { resource: 'invoice', action: 'read', attributes: { kind: 'a' } };
const kindIs = (kind: string) => ({ Equals: { 'resource.kind': kind } });

describe('explain', () => {
  it('tells nothing of what was not reached: no subject, no consent, another plane', () => {
    const given = around({ held: [hold('p', kindIs('b'))], roles: [{ roleId: 'r', paths: [hold('p')] }] });
    for (const more of [
      { standing: 'outside' },
      { standing: 'inactive' },
      { consented: new Set<string>() },
    ] satisfies Partial<Grants>[])
      expect(explain(grants(more), question, given, anything)).toMatchObject({ candidates: [], nearest: [] });
    const built = (path: HeldPermission): HeldPermission => ({
      ...path,
      permission: { ...path.permission, resource: 'Role', managementPlane: true },
    });
    const managed = around({ held: [built(hold('p'))], roles: [{ roleId: 'r', paths: [built(hold('p'))] }] });
    const asked = { resource: 'Role', action: 'read' };
    expect(explain(grants({ projectPlaneOnly: true }), asked, managed, anything)).toMatchObject({
      decision: { reason: 'NO_PERMISSION' },
      candidates: [],
      nearest: [],
    });
  });

  it('offers no attribute that an input would not take, nor one that nobody can set', () => {
    const given = around({ held: [hold('p', kindIs('b'))] });
    expect(explain(grants(), question, given, anything).nearest).toHaveLength(1);
    const closed = { ...anything, resource: () => false };
    expect(explain(grants(), question, given, closed).nearest).toEqual([]);
    const levels = { held: [hold('p', { NumericGreaterThan: { 'user.metadata.level': 3 } })] };
    expect(explain(grants(), question, around(levels), anything).nearest).toMatchObject([{ expected: 4 }]);
    const fixed = { ...levels, settable: { user: false, carriers: new Set<string>() } };
    expect(explain(grants(), question, around(fixed), anything).nearest).toEqual([]);
    for (const path of ['user.name', 'user.emailVerified', 'scope.tenant', 'role.name', 'group.id']) {
      const named = around({ held: [hold('p', { Equals: { [path]: 'x' } })] });
      expect(explain(grants(), question, named, anything).nearest, path).toEqual([]);
    }
  });

  it('does not go through a value that is no object', () => {
    const given = around({ held: [hold('p', { Equals: { 'resource.kind.of': 'b' } })] });
    expect(explain(grants(), question, given, anything).nearest).toEqual([]);
  });

  it('asks with a role in place of those worn, where one takes the place of another', () => {
    const worn = hold('p', { Equals: { 'role.metadata.x': 2, 'resource.kind': 'z' } });
    const offered = {
      roleId: 'r2',
      paths: [hold('p', { Equals: { 'role.metadata.x': 1 } }, 'r2', { x: 1 })],
    };
    for (const replacesRoles of [true, false])
      expect(
        explain(grants(), question, around({ held: [worn], roles: [offered], replacesRoles }), anything)
          .nearest,
      ).toEqual([{ kind: 'assignRole', roleId: 'r2' }]);
  });

  it('names at most 50 paths', () => {
    const held = Array.from({ length: 60 }, (_, index) => hold(`p${index}`, kindIs('b')));
    expect(explain(grants(), question, around({ held }), anything).candidates).toHaveLength(
      limits.candidates,
    );
  });
});

describe('properties', () => {
  const scalar = fc.constantFrom<unknown[]>('a', 'b', 1, 2, true, null);
  const leaf = fc
    .tuple(
      fc.constantFrom('Equals', 'NotEquals', 'NumericLessThan', 'Contains', 'In', 'StartsWith'),
      fc.constantFrom(
        'resource.kind',
        'resource.deep.x',
        'user.metadata.level',
        'role.metadata.x',
        'user.id',
      ),
      fc.oneof(
        scalar,
        fc.constantFrom<unknown[]>(['a', 1], '{{user.metadata.level}}', { $ref: 'role.metadata.x' }),
      ),
    )
    .map(([operator, path, value]): unknown => ({ [operator]: { [path]: value } }));
  const condition = fc.oneof(
    leaf,
    leaf.map((Not) => ({ Not })),
    fc.array(leaf, { minLength: 2, maxLength: 3 }).map((And) => ({ And })),
    fc.array(leaf, { minLength: 2, maxLength: 3 }).map((Or) => ({ Not: { Or } })),
    fc.constantFrom<unknown[]>(null, { Bad: 1 }),
  );
  const path = fc
    .tuple(fc.constantFrom('p1', 'p2'), condition, fc.constantFrom('r1', 'r2'), scalar)
    .map(([id, stored, role, x]) => hold(id, stored, role, { x }));
  const paths = fc.array(path, { maxLength: 3 });

  it('explain what was decided, and never name a remedy where none is needed', () => {
    fc.assert(
      fc.property(paths, paths, scalar, (held, more, kind) => {
        const asked = { ...question, attributes: { kind, deep: { x: kind } } };
        const given = around({
          held,
          roles: more.map((one) => ({ roleId: one.role.id, paths: [one] })),
          links: more.map((one) => ({ groupId: 'g1', permissionId: one.permission.id, paths: [one] })),
        });
        const { decision, candidates, nearest } = explain(grants(), asked, given, anything);
        const met = candidates.some(({ result }) => result !== 'notMet');
        return (
          JSON.stringify(decision) ===
            JSON.stringify(evaluate(grants({ held: indexPermissions(held, nouns) }), asked)) &&
          met === decision.authorized &&
          candidates.length === held.length &&
          nearest.length <= limits.nearest &&
          (!decision.authorized || nearest.length === 0) &&
          new Set(nearest.map(({ kind: of }) => of)).size === nearest.length &&
          candidates.every(({ failedAt }) => failedAt === undefined || failedAt.outcome.length > 0)
        );
      }),
      { numRuns: 2000 },
    );
  });
});
