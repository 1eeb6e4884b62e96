import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evaluate, indexPermissions, type Grants, type HeldPermission, type Question } from './evaluate.ts';
import { explain, limits, type Accepts, type ExplainContext } from './explain.ts';
import { searchLimits } from './setting-remedy.ts';

const nouns = new Set(['Role']);
const anything: Accepts = { resource: () => true, metadata: () => true };

function hold(id: string, condition: unknown = null, roleId = 'r1', metadata: Record<string, unknown> = {}) {
  const permission = { id, name: id, resource: 'invoice', action: 'read', managementPlane: false };
  const role = { id: roleId, name: roleId, metadata };
  return {
    permission,
    condition,
    role,
    group: { id: 'g1', name: 'g1', metadata: {} },
  } satisfies HeldPermission;
}

const grants = (more: Partial<Grants> = {}): Grants => ({
  membership: 'active',
  user: { id: 'u1', metadata: { level: 1 } },
  scope: { tenant: 'organization' },
  held: indexPermissions([], nouns),
  ...more,
});

const around = (more: Partial<ExplainContext> = {}): ExplainContext => ({
  held: [],
  roles: [],
  links: [],
  settable: { user: true, grantSources: new Set(['r1', 'r2', 'g1']) },
  ...more,
});

const question: Question = { resource: 'invoice', action: 'read', attributes: { kind: 'a' } };
const kindIs = (kind: string) => ({ Equals: { 'resource.kind': kind } });

describe('explain', () => {
  it('names no path and no remedy without a subject, without consent, and on another plane', () => {
    const given = around({ held: [hold('p', kindIs('b'))], roles: [{ roleId: 'r', paths: [hold('p')] }] });
    for (const more of [
      { membership: 'outside' },
      { membership: 'inactive' },
      { consented: new Set<string>() },
    ] satisfies Partial<Grants>[])
      expect(explain(grants(more), question, given, anything)).toMatchObject({ candidates: [], nearest: [] });
    const built = (path: HeldPermission): HeldPermission => ({
      ...path,
      permission: { ...path.permission, resource: 'Role', managementPlane: true },
    });
    const managed = around({ held: [built(hold('p'))], roles: [{ roleId: 'r', paths: [built(hold('p'))] }] });
    const requested = { resource: 'Role', action: 'read' };
    expect(explain(grants({ projectPlaneOnly: true }), requested, managed, anything)).toMatchObject({
      decision: { reason: 'NO_PERMISSION' },
      candidates: [],
      nearest: [],
    });
  });

  it('offers no attribute that an input would refuse or that no one can set', () => {
    const given = around({ held: [hold('p', kindIs('b'))] });
    expect(explain(grants(), question, given, anything).nearest).toHaveLength(1);
    const closed = { ...anything, resource: () => false };
    expect(explain(grants(), question, given, closed).nearest).toEqual([]);
    const levels = { held: [hold('p', { NumericGreaterThan: { 'user.metadata.level': 3 } })] };
    expect(explain(grants(), question, around(levels), anything).nearest).toMatchObject([{ expected: 4 }]);
    const fixed = { ...levels, settable: { user: false, grantSources: new Set<string>() } };
    expect(explain(grants(), question, around(fixed), anything).nearest).toEqual([]);
    for (const path of ['user.name', 'user.emailVerified', 'scope.tenant', 'role.name', 'group.id']) {
      const named = around({ held: [hold('p', { Equals: { [path]: 'x' } })] });
      expect(explain(grants(), question, named, anything).nearest, path).toEqual([]);
    }
  });

  it('does not set a member of a value that is not an object', () => {
    const given = around({ held: [hold('p', { Equals: { 'resource.kind.of': 'b' } })] });
    expect(explain(grants(), question, given, anything).nearest).toEqual([]);
  });

  it('names 50 paths at most', () => {
    const held = Array.from({ length: 60 }, (_, index) => hold(`p${index}`, kindIs('b')));
    expect(explain(grants(), question, around({ held }), anything).candidates).toHaveLength(
      limits.candidates,
    );
  });
});

describe('paths and nearest remedies', () => {
  const ids = (permissionId: string, roleId = 'r1') => ({ permissionId, roleId, groupId: 'g1' });
  const nearestOf = (more: Partial<ExplainContext>, requested = question, accepts = anything) =>
    explain(grants(), requested, around(more), accepts).nearest;
  const attribute = (path: string, expected: unknown, more: object = {}) => ({
    ...{ kind: 'setAttribute', permissionId: 'p', path, expected },
    ...more,
  });
  const roleX = (x: number) => ({ Equals: { 'role.metadata.x': x } });
  const groupX = { Equals: { 'group.metadata.x': 1 } };

  it('reports for each path whether its condition is met and where it failed', () => {
    const held = [hold('p1'), hold('p2', kindIs('a')), hold('p3', kindIs('b')), hold('p4', { Bad: 1 })];
    const { candidates, decision } = explain(grants(), question, around({ held }), anything);
    const failedAt = {
      operator: 'Equals',
      path: 'resource.kind',
      actual: 'a',
      expected: 'b',
      outcome: 'false',
    };
    expect(decision.reason).toBe('ALLOWED');
    expect(candidates).toStrictEqual([
      { ...ids('p1'), result: 'unconditional' },
      { ...ids('p2'), result: 'met' },
      { ...ids('p3'), result: 'notMet', failedAt },
      { ...ids('p4'), result: 'notMet' },
    ]);
  });

  it('proposes a role and a link that allow the question', () => {
    const roles = [
      { roleId: 'bad', paths: [hold('p', kindIs('b'), 'bad')] },
      { roleId: 'good', paths: [hold('p', null, 'good')] },
    ];
    const links = [
      { groupId: 'g1', permissionId: 'q', paths: [hold('q', kindIs('b'))] },
      { groupId: 'g1', permissionId: 'p', paths: [hold('p')] },
    ];
    expect(explain(grants(), question, around({ roles, links }), anything)).toEqual({
      decision: { authorized: false, reason: 'NO_PERMISSION' },
      candidates: [],
      nearest: [
        { kind: 'assignRole', roleId: 'good' },
        { kind: 'addPermissionToGroup', groupId: 'g1', permissionId: 'p' },
      ],
    });
  });

  it('proposes a role only if its own path allows, whatever the subject holds', () => {
    const held = hold('p', { Equals: { 'role.metadata.x': 2, 'resource.kind': 'z' } });
    const offered = (x: number) => ({ roleId: 'r2', paths: [hold('p', roleX(1), 'r2', { x })] });
    expect(nearestOf({ held: [held], roles: [offered(1)] })).toEqual([{ kind: 'assignRole', roleId: 'r2' }]);
    expect(nearestOf({ held: [held], roles: [offered(3), { roleId: 'r3', paths: [] }] })).toEqual([]);
  });

  it('sorts remedies: resource, subject, role, link, then shared metadata', () => {
    const held = [
      hold('p', roleX(1)),
      hold('p', { NumericGreaterThan: { 'user.metadata.level': 3 } }),
      hold('p', kindIs('b')),
    ];
    const roles = [{ roleId: 'r9', paths: [hold('p', null, 'r9')] }];
    const links = [{ groupId: 'g1', permissionId: 'p', paths: [hold('p')] }];
    const settable = { user: true, grantSources: new Set(['r1']) };
    expect(nearestOf({ held, roles, links, settable })).toEqual([
      attribute('resource.kind', 'b'),
      { kind: 'assignRole', roleId: 'r9' },
      { kind: 'addPermissionToGroup', groupId: 'g1', permissionId: 'p' },
    ]);
    expect(nearestOf({ held: held.slice(0, 2) })).toEqual([attribute('user.metadata.level', 4)]);
    expect(nearestOf({ held: held.slice(0, 1), roles })).toEqual([
      { kind: 'assignRole', roleId: 'r9' },
      attribute('role.metadata.x', 1, { roleId: 'r1' }),
    ]);
    expect(nearestOf({ held: held.slice(0, 1), roles, links })).toHaveLength(limits.nearest);
  });

  it('proposes metadata of a role or group', () => {
    expect(nearestOf({ held: [hold('p', roleX(1))] })).toEqual([
      attribute('role.metadata.x', 1, { roleId: 'r1' }),
    ]);
    expect(nearestOf({ held: [hold('p', groupX)] })).toEqual([
      attribute('group.metadata.x', 1, { groupId: 'g1' }),
    ]);
    const closed = { settable: { user: true, grantSources: new Set(['r2']) } };
    expect(nearestOf({ held: [hold('p', roleX(1)), hold('p', groupX)], ...closed })).toEqual([]);
    // The change keeps the other metadata of the role.
    const both = { And: [roleX(1), { Equals: { 'role.metadata.y': 2 } }] };
    expect(nearestOf({ held: [hold('p', both, 'r1', { y: 2 })] })).toEqual([
      attribute('role.metadata.x', 1, { roleId: 'r1' }),
    ]);
    const unlike = { NotEquals: { 'role.metadata.x': 1 } };
    expect(
      nearestOf({
        held: [
          hold('q', { And: [unlike, kindIs('z')] }, 'r1', { x: 1 }),
          hold('p', roleX(2), 'r2', { x: 1 }),
        ],
      }),
    ).toEqual([attribute('role.metadata.x', 2, { roleId: 'r2' })]);
  });

  it('proposes no attribute outside metadata, and no metadata that an input refuses', () => {
    for (const path of ['role.metadata', 'user.metadata', 'group.name', 'user.x.level', 'scope.metadata.x'])
      expect(nearestOf({ held: [hold('p', { Equals: { [path]: 'x' } })] }), path).toEqual([]);
    const none = { ...anything, metadata: () => false };
    for (const path of ['user.metadata.level', 'role.metadata.x', 'group.metadata.x'])
      expect(nearestOf({ held: [hold('p', { Equals: { [path]: 5 } })] }, question, none), path).toEqual([]);
    const requested = { ...question, attributes: null };
    const withoutUser = grants({ user: null });
    const held = [hold('p', { Equals: { 'user.metadata.level': 5 } })];
    expect(explain(withoutUser, requested, around({ held }), anything).nearest).toEqual([]);
    const bare = grants({ user: { id: 'u1', metadata: 'text' } });
    expect(explain(bare, requested, around({ held }), anything).nearest).toEqual([
      attribute('user.metadata.level', 5),
    ]);
  });

  it('proposes metadata of the subject and keeps its other members', () => {
    const level = { Equals: { 'user.metadata.level': 5 } };
    const both = { And: [level, { Equals: { 'user.metadata.team': 'a' } }] };
    const member = grants({ user: { id: 'u1', metadata: { level: 1, team: 'a' } } });
    const given = around({ held: [hold('p', both)] });
    expect(explain(member, question, given, anything).nearest).toEqual([attribute('user.metadata.level', 5)]);
    // A path outside metadata is skipped.
    const either = { Or: [{ Equals: { 'user.x.level': 5 } }, level] };
    expect(nearestOf({ held: [hold('p', either)] })).toEqual([attribute('user.metadata.level', 5)]);
    const seen: unknown[] = [];
    const spy = { ...anything, metadata: (value: unknown) => seen.push(value) > 0 };
    const bare = grants({ user: { id: 'u1', metadata: 'text' } });
    explain(bare, question, around({ held: [hold('p', level)] }), spy);
    expect(seen[0]).toEqual({ level: 5 });
  });

  it('reports paths only on a plane that has effect for the token', () => {
    const path = hold('p', kindIs('b'));
    const built = { ...path, permission: { ...path.permission, resource: 'Role', managementPlane: true } };
    const requested = { ...question, resource: 'Role' };
    const given = around({ held: [built] });
    expect(explain(grants(), requested, given, anything).candidates).toMatchObject([{ result: 'notMet' }]);
    expect(explain(grants({ projectPlaneOnly: true }), requested, given, anything).candidates).toEqual([]);
    const own = around({ held: [path] });
    expect(explain(grants({ projectPlaneOnly: true }), question, own, anything).candidates).toHaveLength(1);
  });

  it('proposes nested attributes and keeps their siblings', () => {
    const deep = { And: [{ Equals: { 'resource.a.b.c': 1 } }, { Equals: { 'resource.a.b.d': 2 } }] };
    const requested = { ...question, attributes: { a: { b: { d: 2 } } } };
    expect(nearestOf({ held: [hold('p', deep)] }, requested)).toEqual([attribute('resource.a.b.c', 1)]);
    const single = { Equals: { 'resource.a.b.c': 1 } };
    expect(nearestOf({ held: [hold('p', single)] })).toEqual([attribute('resource.a.b.c', 1)]);
    expect(nearestOf({ held: [hold('p', single)] }, { ...question, attributes: { a: 1 } })).toEqual([]);
    expect(nearestOf({ held: [hold('p', single)] }, { ...question, attributes: { a: { b: [] } } })).toEqual(
      [],
    );
    const seen: unknown[] = [];
    const spy = { ...anything, resource: (value: unknown) => seen.push(value) > 0 };
    nearestOf({ held: [hold('p', single)] }, { ...question, attributes: { k: 1, a: { z: 1 } } }, spy);
    expect(seen[0]).toEqual({ k: 1, a: { z: 1, b: { c: 1 } } });
  });

  it('tries the first ten paths only', () => {
    const never = Array.from({ length: searchLimits.paths }, (_, at) => hold(`n${at}`, { Bad: 1 }));
    expect(nearestOf({ held: [...never.slice(1), hold('p', kindIs('b'))] })).toHaveLength(1);
    expect(nearestOf({ held: [...never, hold('p', kindIs('b'))] })).toEqual([]);
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

  it('explains the decision of evaluate, and names no remedy for an allowed question', () => {
    fc.assert(
      fc.property(paths, paths, scalar, (held, more, kind) => {
        const requested = { ...question, attributes: { kind, deep: { x: kind } } };
        const given = around({
          held,
          roles: more.map((item) => ({ roleId: item.role.id, paths: [item] })),
          links: more.map((item) => ({ groupId: 'g1', permissionId: item.permission.id, paths: [item] })),
        });
        const { decision, candidates, nearest } = explain(grants(), requested, given, anything);
        const met = candidates.some(({ result }) => result !== 'notMet');
        return (
          JSON.stringify(decision) ===
            JSON.stringify(evaluate(grants({ held: indexPermissions(held, nouns) }), requested)) &&
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
