import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyChanges, compileSnapshot } from '../../src/policy/compile.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { SnapshotError } from '../../src/policy/snapshot-error.ts';
import { decide, type LocalQuestion } from '../../src/questions/decide.ts';
import { effective } from '../../src/questions/effective.ts';
import { explainLocally } from '../../src/questions/explain-locally.ts';
import type { Subject } from '../../src/questions/subject.ts';
import { changes, snapshot, snapshots } from './documents.ts';
import { questionsOf } from './service-way.ts';

/** What is not what a type says: documents of an attacker or of a broken service, and questions of careless callers. */
const anything = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withObjectString: true,
  withSet: true,
  withSparseArray: true,
  withTypedArray: true,
});
const deep = (depth: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = level % 2 ? [value] : { a: value };
  return value;
};
const garbage = fc.oneof(
  anything,
  fc.constantFrom<unknown>(null, '', -1, 1.5, NaN, Infinity, 2 ** 53, [], {}, [null], 'a', deep(10_000)),
);

/** The result, or undefined for a refusal; any other error fails the test. */
function unlessRefused(make: () => Policy): Policy | undefined {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error;
    expect(error.message.length).toBeLessThan(200);
    return undefined;
  }
}

/** A copy in which the member that the numbers lead to is replaced. */
function withGarbage(document: unknown, [first = 0, ...rest]: readonly number[], value: unknown): unknown {
  if (typeof document !== 'object' || document === null) return value;
  const names = Object.keys(document);
  const name = names[first % Math.max(names.length, 1)];
  if (name === undefined) return value;
  const copy = (Array.isArray(document) ? [...(document as unknown[])] : { ...document }) as Record<
    string,
    unknown
  >;
  copy[name] = rest.length === 0 ? value : withGarbage(copy[name], rest, value);
  return copy;
}
const place = fc.array(fc.nat(50), { minLength: 1, maxLength: 6 });

describe('a document of another shape', () => {
  it('is refused with a SnapshotError, or harmless', () => {
    fc.assert(
      fc.property(snapshots, place, garbage, (claims, where, value) => {
        const policy = unlessRefused(() => compileSnapshot(withGarbage(claims, where, value)));
        for (const question of policy ? questionsOf(claims, 0, 20) : []) decide(policy as Policy, question);
      }),
      { numRuns: 1000 },
    );
    fc.assert(fc.property(garbage, (value) => unlessRefused(() => compileSnapshot(value)) === undefined));
  });

  it('is refused as changes too', () => {
    fc.assert(
      fc.property(snapshots, place, garbage, (claims, where, value) => {
        const { version, ...put } = claims;
        const old = compileSnapshot(snapshot({ version: 'v1' }));
        const document = withGarbage(changes({ put, to: version }), where, value);
        const policy = unlessRefused(() => applyChanges(old, document));
        for (const question of policy ? questionsOf(claims, 0, 20) : []) decide(policy as Policy, question);
      }),
      { numRuns: 1000 },
    );
    const policy = compileSnapshot(snapshot());
    fc.assert(
      fc.property(garbage, (value) => unlessRefused(() => applyChanges(policy, value)) === undefined),
    );
  });

  it('may have members that this version does not know', () => {
    const users = [{ id: 'u', roleIds: [], nickname: 'x' }];
    expect(compileSnapshot({ ...snapshot({ users }), additional: 1 })).toEqual(
      compileSnapshot(snapshot({ users: [{ id: 'u', roleIds: [] }] })),
    );
  });

  const row = { id: 'a', name: 'a', permissionIds: ['a'], groupIds: ['a'], roleIds: ['a'], resourceId: 'a' };
  const user = { id: 'a', roleIds: [] };
  const key = { id: 'a', userId: 'a', ofUser: false, roleId: null, expiresAt: null, allowedCidrs: [] };
  const permission = { id: 'a', name: 'a', resourceId: 'a', action: 'a', condition: null, createdAt: 1 };
  it.each<[string, string, Record<string, unknown>]>([
    ['FORMAT', 'format', { format: 2 }],
    ['SHAPE', 'format', { format: '1' }],
    ['SHAPE', 'aud', { aud: ['doorward-snapshot'] }],
    ['SHAPE', 'version', { version: 'v'.repeat(65) }],
    ['SHAPE', 'asOf', { asOf: 1.5 }],
    ['SHAPE', 'scope', { scope: [] }],
    ['SHAPE', 'scope.projectId', { scope: { tenant: 't', id: 'i' } }],
    ['SHAPE', 'scope.accountId', { scope: { tenant: 't', id: 'i', projectId: 'p', accountId: null } }],
    ['SHAPE', 'userFilter', { userFilter: 'some' }],
    ['SHAPE', 'nouns.0', { nouns: [1] }],
    ['SHAPE', 'ended.jti', { ended: { jti: null } }],
    ['SHAPE', 'users', { users: { 0: user } }],
    ['SHAPE', 'users.0', { users: [null] }],
    ['SHAPE', 'users.1.id', { users: [user, user] }],
    ['SHAPE', 'users.0.id', { users: [{ roleIds: [] }] }],
    ['SHAPE', 'users.0.roleIds.0', { users: [row] }],
    ['SHAPE', 'users.0.attributes', { users: [{ ...user, attributes: null }] }],
    ['SHAPE', 'users.0.attributes', { users: [{ ...user, attributes: { a: deep(100) } }] }],
    ['SHAPE', 'keys.0.roleId', { keys: [{ ...key, roleId: 'a' }] }],
    ['SHAPE', 'keys.0.roleId', { keys: [{ ...key, ofUser: true, roleId: 'a' }] }],
    ['SHAPE', 'keys.0.roleId', { keys: [{ ...key, roleId: 0 }] }],
    ['SHAPE', 'keys.0.expiresAt', { keys: [{ ...key, expiresAt: '5' }] }],
    ['SHAPE', 'keys.0.ofUser', { keys: [{ ...key, ofUser: 0 }] }],
    ['SHAPE', 'apps.0.scopes', { apps: [{ clientId: 'a', updatedAt: 1 }] }],
    ['SHAPE', 'apps.0.scopes', { apps: [{ clientId: 'a', updatedAt: 1, scopes: 'order:read' }] }],
    ['SHAPE', 'roles.0.groupIds.0', { roles: [row] }],
    ['SHAPE', 'groups.0.permissionIds.0', { groups: [row] }],
    ['SHAPE', 'permissions.0.resourceId', { permissions: [permission] }],
    ['SHAPE', 'permissions.0.condition', { permissions: [{ ...permission, condition: undefined }] }],
    ['SHAPE', 'resources.0.slug', { resources: [{ id: 'a', slug: 'Order', isSystem: false }] }],
    ['SHAPE', 'resources.0.isSystem', { resources: [{ id: 'a', slug: 'order' }] }],
  ])('is refused with %s at %s', (code, path, members) => {
    expect(() => compileSnapshot({ ...snapshot(), ...members })).toThrowError(
      expect.objectContaining({ code, path }) as Error,
    );
  });

  it('is refused if it spells more paths than a snapshot may have, before any is made', () => {
    const numbers = (count: number) => Array.from({ length: count }, (_, index) => `${index}`);
    const shared = (paths: { permissions: number; groups: number; roles: number }) =>
      snapshot({
        resources: [{ id: 'a', slug: 'order', isSystem: false }],
        permissions: numbers(paths.permissions).map((id) => ({ ...permission, id })),
        groups: numbers(paths.groups).map((id) => ({
          id,
          name: id,
          permissionIds: numbers(paths.permissions),
        })),
        roles: numbers(paths.roles).map((id) => ({ id, name: id, groupIds: numbers(paths.groups) })),
      });
    expect(compileSnapshot(shared({ permissions: 100, groups: 10, roles: 10 })).graph.roles.size).toBe(10);
    for (const paths of [
      { permissions: 137, groups: 73, roles: 1 },
      { permissions: 300, groups: 300, roles: 300 },
    ])
      expect(() => compileSnapshot(shared(paths))).toThrowError(
        expect.objectContaining({ path: 'roles' }) as Error,
      );
  });
});

describe('a question of another shape', () => {
  const policy = compileSnapshot(
    snapshot({
      resources: [{ id: 'a', slug: 'order', isSystem: false }],
      permissions: [{ id: 'a', name: 'a', resourceId: 'a', action: 'read', condition: null, createdAt: 1 }],
      groups: [{ id: 'a', name: 'a', permissionIds: ['a'] }],
      roles: [{ id: 'a', name: 'a', groupIds: ['a'] }],
      users: [{ id: 'a', roleIds: ['a'] }],
      keys: [{ id: 'a', userId: 'a', ofUser: false, roleId: 'a', expiresAt: 5, allowedCidrs: [] }],
      apps: [
        { clientId: 'a', scopes: ['order:read'], updatedAt: 1 },
        { clientId: 'open', scopes: null, updatedAt: 1 },
      ],
    }),
  );
  const reasonOf = (subject: unknown, now: unknown) =>
    decide(policy, { subject, permission: 'order:read', now } as LocalQuestion).reason;

  it('never throws', () => {
    const questions = fc.record(
      {
        subject: fc.oneof(
          anything,
          fc.record(
            { userId: garbage, apiKeyId: garbage, clientId: garbage, scopes: garbage },
            { requiredKeys: [] },
          ),
          fc.record({
            userId: fc.constant('a'),
            clientId: fc.constantFrom('a', 'open'),
            scopes: fc.oneof(garbage, fc.array(garbage)),
          }),
        ),
        permission: fc.oneof(
          anything,
          fc.constant('order:read'),
          fc.record({ resource: garbage, action: garbage }),
        ),
        context: fc.oneof(anything, fc.record({ resource: garbage })),
        now: garbage,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(anything, questions), (value) => {
        const question = value as LocalQuestion;
        expect(decide(policy, question).authorized).toBe(
          decide(policy, question).reason.startsWith('ALLOWED'),
        );
        explainLocally(policy, question);
        effective(policy, question?.subject, question?.now);
      }),
      { numRuns: 1000 },
    );
  });

  it.each<[string, unknown]>([
    ['SUBJECT_INACTIVE', null],
    ['SUBJECT_INACTIVE', 'a'],
    ['SUBJECT_INACTIVE', {}],
    ['SUBJECT_INACTIVE', { userId: ['a'] }],
    ['SUBJECT_INACTIVE', { userId: 'a', apiKeyId: 'a' }],
    ['SUBJECT_INACTIVE', { apiKeyId: 'a', clientId: 'a' }],
    ['SUBJECT_INACTIVE', { userId: 'a', clientId: null }],
    ['SUBJECT_INACTIVE', { userId: 'a', clientId: 'b', scopes: ['order:read'] }],
    ['SUBJECT_INACTIVE', { userId: 'a', scopes: ['order:read'] }],
    ['SUBJECT_INACTIVE', { userId: 'a', scopes: [] }],
    ['SCOPE_NOT_CONSENTED', { userId: 'a', clientId: 'a', scopes: 'order:read' }],
    ['SCOPE_NOT_CONSENTED', { userId: 'a', clientId: 'a', scopes: { 0: 'order:read' } }],
    ['SCOPE_NOT_CONSENTED', { userId: 'a', clientId: 'a', scopes: [['order:read']] }],
    ['SCOPE_NOT_CONSENTED', { userId: 'a', clientId: 'open', scopes: [null, 1, { indexOf: 1 }] }],
    ['SCOPE_NOT_CONSENTED', { userId: 'a', clientId: 'open', scopes: 'order:read' }],
    ['ALLOWED', { userId: 'a', clientId: 'a', scopes: null }],
    ['ALLOWED', { userId: 'A'.toLowerCase() }],
  ])('has no rights by mistake: %s for %j', (reason, subject) => {
    expect(reasonOf(subject, 0)).toBe(reason);
  });

  it.each([
    'order',
    'order:read:',
    ':order:read',
    '',
    ':',
    1,
    null,
    ['order', 'read'],
    { resource: 'order' },
  ])('is refused for the permission %j', (permission) => {
    expect(decide(policy, { subject: { userId: 'a' }, permission, now: 0 } as LocalQuestion)).toEqual({
      authorized: false,
      reason: 'NO_PERMISSION',
    });
  });

  it('has no rights of a key whose end cannot be compared', () => {
    const key: Subject = { apiKeyId: 'a' };
    expect([0, 4.9, 5, 6, NaN, undefined, null, '0'].map((now) => reasonOf(key, now))).toEqual([
      ...['ALLOWED', 'ALLOWED'],
      ...Array.from({ length: 6 }, () => 'SUBJECT_INACTIVE'),
    ]);
  });
});

describe('the claims of a snapshot', () => {
  it('are not changed, and changes of them do not change the policy', () => {
    fc.assert(
      fc.property(snapshots, (claims) => {
        const before = JSON.stringify(claims);
        const policy = compileSnapshot(claims);
        const answers = () =>
          questionsOf(JSON.parse(before) as typeof claims, 0, 50).map((question) => decide(policy, question));
        expect(JSON.stringify(claims)).toBe(before);
        overwrite(claims);
        const first = answers();
        expect(first).toEqual(
          questionsOf(JSON.parse(before) as typeof claims, 0, 50).map((question) =>
            decide(compileSnapshot(JSON.parse(before)), question),
          ),
        );
      }),
      { numRuns: 100 },
    );
  });

  it('cannot be changed through a decision', () => {
    const policy = compileSnapshot(
      snapshot({
        resources: [{ id: 'a', slug: 'order', isSystem: false }],
        permissions: [
          {
            id: 'a',
            name: 'a',
            resourceId: 'a',
            action: 'read',
            condition: { In: { 'resource.team': { $ref: 'user.metadata.teams' } } },
            createdAt: 1,
          },
        ],
        groups: [{ id: 'a', name: 'a', permissionIds: ['a'] }],
        roles: [{ id: 'a', name: 'a', groupIds: ['a'] }],
        users: [{ id: 'a', roleIds: ['a'], attributes: { metadata: { teams: ['x'] } } }],
      }),
    );
    const question = {
      subject: { userId: 'a' },
      permission: 'order:read',
      context: { resource: { team: 'y' } },
      now: 0,
    };
    const { evaluatedContext, matchedCondition, matchedPermission } = decide(policy, question);
    expect(() => (evaluatedContext?.['user.metadata.teams'] as string[]).push('y')).toThrow(TypeError);
    for (const part of [matchedCondition, matchedCondition?.['In'], matchedPermission])
      expect(() => Object.assign(part as object, { 'resource.team': 'y', id: 'y' })).toThrow(TypeError);
    expect(decide(policy, question).reason).toBe('CONDITION_NOT_MET');
  });
});

/** Replaces every text in place. */
function overwrite(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, item] of Object.entries(value)) {
    if (typeof item === 'object') overwrite(item);
    else (value as Record<string, unknown>)[name] = 'overwritten';
  }
}
