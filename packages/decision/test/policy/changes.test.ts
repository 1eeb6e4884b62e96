import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changesBetween } from '../../src/changes-between.ts';
import { applyChanges, compileSnapshot } from '../../src/policy/compile.ts';
import type { Holder, Policy } from '../../src/policy/policy.ts';
import { SnapshotError } from '../../src/policy/snapshot-error.ts';
import { decide } from '../../src/questions/decide.ts';
import { effective } from '../../src/questions/effective.ts';
import { explainLocally } from '../../src/questions/explain-locally.ts';
import type { ChangesClaims, SnapshotClaims } from '../../src/snapshot-claims.ts';
import { changes, snapshot, snapshots } from './documents.ts';
import { questionsOf } from './service-way.ts';

const between = (before: SnapshotClaims, after: SnapshotClaims, more: Partial<ChangesClaims> = {}) =>
  changes({ from: before.version, to: after.version, ...changesBetween(before, after), ...more });

/** What a policy answers to questions about the users, keys and apps of both snapshots. */
const answersOf = (policy: Policy, before: SnapshotClaims, after: SnapshotClaims) =>
  [before, after]
    .flatMap((claims) => questionsOf(claims, 0, 30))
    .map((question) => [
      decide(policy, question),
      explainLocally(policy, question),
      effective(policy, question.subject, question.now),
    ]);

describe('changes', () => {
  it('turn the policy of one snapshot into that of another, and leave the first as it was', () => {
    fc.assert(
      fc.property(snapshots, snapshots, (before, after) => {
        const old = compileSnapshot(before);
        const answers = answersOf(old, before, after);
        const applied = applyChanges(old, between(before, after));
        const compiled = compileSnapshot(after);
        expect(isDeepStrictEqual(applied, compiled)).toBe(true);
        expect(answersOf(applied, before, after)).toEqual(answersOf(compiled, before, after));
        expect(answersOf(old, before, after)).toEqual(answers);
      }),
      { numRuns: 100 },
    );
  });

  it('follow each other', () => {
    fc.assert(
      fc.property(fc.array(snapshots, { minLength: 3, maxLength: 6 }), (all) => {
        const numbered = all.map((claims, index) => ({ ...claims, version: `${index}` }));
        const [first, ...rest] = numbered as [SnapshotClaims, ...SnapshotClaims[]];
        let [policy, last] = [compileSnapshot(first), first];
        for (const next of rest) {
          policy = applyChanges(policy, between(last, next));
          last = next;
        }
        expect(isDeepStrictEqual(policy, compileSnapshot(last))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});

const claims = snapshot({
  resources: [
    { id: 'order', slug: 'order', isSystem: false },
    { id: 'bill', slug: 'bill', isSystem: false },
  ],
  permissions: [
    { id: 'p1', name: 'p1', resourceId: 'order', action: 'read', condition: null, createdAt: 1 },
    { id: 'p2', name: 'p2', resourceId: 'bill', action: 'read', condition: null, createdAt: 1 },
  ],
  groups: [
    { id: 'g1', name: 'g1', permissionIds: ['p1'] },
    { id: 'g2', name: 'g2', permissionIds: ['p2'] },
  ],
  roles: [
    { id: 'r1', name: 'r1', groupIds: ['g1'] },
    { id: 'r2', name: 'r2', groupIds: ['g2'] },
  ],
  users: [
    { id: 'u1', roleIds: ['r1'] },
    { id: 'u2', roleIds: ['r2'], attributes: { metadata: { level: 1 } } },
  ],
  keys: [{ id: 'k1', userId: 'u1', ofUser: false, roleId: 'r2', expiresAt: null, allowedCidrs: [] }],
});

describe('a policy after changes', () => {
  const policy = compileSnapshot(claims);
  const apply = (members: Partial<Record<keyof ChangesClaims, unknown>>) =>
    applyChanges(policy, changes(members));

  it('has the new version and times, and shares everything else if nothing changed', () => {
    const ended = { jti: ['s1'], issuedBefore: 7, kids: ['k'] };
    const next = apply({ to: 'v1', asOf: 2000, sequence: 5, revision: 'r5', exp: 9, ended });
    expect(next).toEqual({
      ...policy,
      asOf: 2000,
      sequence: 5,
      revision: 'r5',
      exp: 9,
      ended: { jti: new Set(['s1']), issuedBefore: 7, kids: new Set(['k']) },
    });
    for (const member of ['graph', 'users', 'keys', 'apps', 'scope'] as const)
      expect(next[member]).toBe(policy[member]);
  });

  it('shares roles and other users if a user changed', () => {
    const next = apply({ put: { users: [{ id: 'u1', roleIds: ['r1', 'r2'] }] } });
    expect(next.graph).toBe(policy.graph);
    expect(next.users.get('u2')).toBe(policy.users.get('u2'));
    expect(decide(next, { subject: { userId: 'u1' }, permission: 'bill:read', now: 0 }).authorized).toBe(
      true,
    );
    expect(decide(policy, { subject: { userId: 'u1' }, permission: 'bill:read', now: 0 }).authorized).toBe(
      false,
    );
  });

  it.each([
    ['role', { roles: [{ id: 'r1', name: 'new', groupIds: ['g1'] }] }],
    ['group', { groups: [{ id: 'g1', name: 'new', permissionIds: ['p1'] }] }],
    ['permission', { permissions: [{ ...claims.permissions[0], action: 'pay' }] }],
    ['resource', { resources: [{ id: 'order', slug: 'new', isSystem: false }] }],
  ])('has a new index for the roles that lead to a changed %s, and for no other', (_, put) => {
    const [r1, r2] = [policy.graph.roles.get('r1')?.index, policy.graph.roles.get('r2')?.index];
    const next = apply({ put });
    expect(next.users).toBe(policy.users);
    expect(next.graph.roles.get('r1')?.index).not.toBe(r1);
    expect(next.graph.roles.get('r2')?.index).toBe(r2);
    expect(r2?.project.size).toBe(1);
  });

  it('keeps the indexes of sets of roles that do not contain a changed role', () => {
    const roles = ['r3', 'r4'].map((id) => ({ id, name: id, groupIds: ['g1', 'g2'] }));
    const users = [
      { id: 'both', roleIds: ['r3', 'r4'] },
      { id: 'mixed', roleIds: ['r1', 'r3'] },
    ];
    const before = apply({ put: { roles, users } });
    const indexOf = ({ graph, users: holders }: Policy, id: string) =>
      graph.sets.indexOf((holders.get(id) as Holder).roles, graph.roles);
    const [both, mixed] = [indexOf(before, 'both'), indexOf(before, 'mixed')];
    const put = { roles: [{ id: 'r1', name: 'r1', groupIds: [] }] };
    const after = applyChanges(before, changes({ from: 'v2', to: 'v3', put }));
    expect(indexOf(after, 'both')).toBe(both);
    expect(indexOf(after, 'mixed')).not.toBe(mixed);
    expect(both?.project.size).toBe(2);
  });

  it.each<[string, string, string, Record<string, unknown>]>([
    ['another version', 'NOT_NEXT', 'from', { from: 'v0' }],
    ['a whole snapshot is needed', 'NOT_NEXT', 'full', { full: true }],
    ['another project', 'NOT_NEXT', 'sub', { sub: 'other' }],
    ['another issuer', 'NOT_NEXT', 'sub', { iss: 'https://other.test' }],
    ['a sequence that falls', 'NOT_NEXT', 'sequence', { sequence: 0 }],
    ['an earlier time', 'NOT_NEXT', 'asOf', { asOf: 999 }],
    ['another format', 'FORMAT', 'format', { format: 2 }],
    ['another audience', 'SHAPE', 'aud', { aud: 'doorward' }],
    ['no put', 'SHAPE', 'put', { put: null }],
    [
      'a user with an unknown role',
      'SHAPE',
      'users.0.roleIds.0',
      { put: { users: [{ id: 'u9', roleIds: ['r9'] }] } },
    ],
    ['a dropped row that is not there', 'SHAPE', 'drop.users.0', { drop: { users: ['u9'] } }],
    ['a dropped role that a user has', 'SHAPE', 'drop.roles', { drop: { roles: ['r1'] } }],
    [
      'a dropped role that a key has',
      'SHAPE',
      'drop.roles',
      { put: { users: [{ id: 'u2', roleIds: [] }] }, drop: { roles: ['r2'] } },
    ],
    [
      'a dropped permission that a group has',
      'SHAPE',
      'groups.permissionIds.0',
      { drop: { permissions: ['p1'] } },
    ],
    ['a dropped resource', 'SHAPE', 'permissions.resourceId', { drop: { resources: ['bill'] } }],
    ['a dropped group', 'SHAPE', 'roles.groupIds.0', { drop: { groups: ['g2'] } }],
  ])('refuses %s', (_, code, path, members) => {
    const before = decide(policy, { subject: { userId: 'u1' }, permission: 'order:read', now: 0 });
    expect(() => apply(members)).toThrowError(expect.objectContaining({ code, path }) as Error);
    expect(() => apply(members)).toThrowError(SnapshotError);
    expect(decide(policy, { subject: { userId: 'u1' }, permission: 'order:read', now: 0 })).toEqual(before);
  });

  it('may lose a role together with the holders that had it', () => {
    const next = apply({
      put: { users: [{ id: 'u2', roleIds: ['r1'] }] },
      drop: { roles: ['r2'], groups: ['g2'], keys: ['k1'] },
    });
    expect(decide(next, { subject: { userId: 'u2' }, permission: 'order:read', now: 0 }).reason).toBe(
      'ALLOWED',
    );
    expect(decide(next, { subject: { apiKeyId: 'k1' }, permission: 'bill:read', now: 0 }).reason).toBe(
      'SUBJECT_INACTIVE',
    );
  });
});

describe('changesBetween', () => {
  it('is empty for equal rows, whatever the order of rows and of members', () => {
    const { users, roles, ...rest } = claims;
    const reordered = {
      ...rest,
      roles: [...roles].reverse(),
      users: users.map((user) => ({ attributes: undefined, ...user })),
    };
    const same = JSON.parse(JSON.stringify(reordered)) as SnapshotClaims;
    expect(changesBetween(claims, same)).toEqual({ put: {}, drop: {} });
    expect(changesBetween(claims, claims)).toEqual({ put: {}, drop: {} });
  });

  it('has changed and new rows whole, and the ids of those that are gone', () => {
    const after = {
      ...claims,
      users: [
        { id: 'u2', roleIds: ['r2'], attributes: { metadata: { level: 2 } } },
        { id: 'u3', roleIds: [] },
      ],
      apps: [{ clientId: 'app', scopes: null, updatedAt: 1 }],
    };
    expect(changesBetween(claims, after)).toEqual({
      put: { users: after.users, apps: after.apps },
      drop: { users: ['u1'] },
    });
    expect(changesBetween(after, claims)).toEqual({
      put: { users: claims.users },
      drop: { users: ['u3'], apps: ['app'] },
    });
  });

  it.each([
    [{ a: 1 }, { a: '1' }],
    [{ a: [1] }, { a: { 0: 1 } }],
    [{ a: [1, 2] }, { a: [2, 1] }],
    [{ a: null }, { a: {} }],
    [{ a: 1 }, { b: 1 }],
    [{ a: {} }, { a: { b: 1 } }],
    [{}, JSON.parse('{"__proto__": 1}') as object],
  ])('tells %j from %j', (before, after) => {
    const withAttributes = (attributes: object) =>
      snapshot({ users: [{ id: 'u1', roleIds: [], attributes }] });
    for (const [a, b] of [
      [before, after],
      [after, before],
    ] as const)
      expect(changesBetween(withAttributes(a), withAttributes(b)).put.users).toHaveLength(1);
  });
});
