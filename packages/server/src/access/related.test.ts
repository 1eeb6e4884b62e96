import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyToken } from '../../test/contract/world.ts';
import { startApp, type TestApp } from '../../test/support/app/app.ts';
import { storyTransports } from '../../test/support/cases/breadth.ts';
import { unique, type Person } from '../../test/support/app/client.ts';
import { challengeOf, consented, newVerifier } from '../../test/support/sign-in/project-code.ts';
import { entities } from '../entities.ts';
import { permissionOf } from '../kernel/related.ts';
import type { ScopeRef } from '../kernel/scope.ts';
import { declaredPermissions, operations } from '../operations.ts';
import { permissionIdOf, resourceIdOf } from '../schema/rights/built-in-ids.ts';

/** A caller who may see a row may not be allowed to see related rows: each relation needs `Query` of its noun. */
let app: TestApp;
let owner: Person;
let as: { token: string };
let scope: ScopeRef;
/** A role with two groups, of which the first has a permission. */
let roleId: string;

beforeAll(async () => {
  app = await startApp();
  owner = await app.person();
  as = { token: owner.token };
  ({ scope } = await app.must('createProject', { scope: owner.account, name: 'Shop' }, as));
  const permissionIds = [permissionIdOf('Tag:Query')];
  const shown = await app.must('createGroup', { scope, name: 'Shown', permissionIds }, as);
  const hidden = await app.must('createGroup', { scope, name: 'Hidden' }, as);
  roleId = (await app.must('createRole', { scope, name: 'Clerk', groupIds: [shown.id, hidden.id] }, as)).id;
});
afterAll(() => app.close());

/** Token of a key that holds these permissions of the project, by name or by id. */
async function holding(...permissions: readonly string[]): Promise<string> {
  const permissionIds = permissions.map((permission) =>
    permission.includes(':') ? permissionIdOf(permission) : permission,
  );
  const group = await app.must('createGroup', { scope, name: 'Rights', permissionIds }, as);
  const role = await app.must('createRole', { scope, name: 'Rights', groupIds: [group.id] }, as);
  return keyToken(app, owner.token, scope, role.id);
}

/** `Query` of a built-in noun for rows of this name alone. */
async function onlyNamed(noun: string, name: string): Promise<string> {
  const condition = { Equals: { 'resource.name': name } };
  const input = { scope, resourceId: resourceIdOf(noun), action: 'Query', condition };
  return (await app.must('createPermission', input, as)).id;
}

it('the permission of every relation is declared by an operation', () => {
  const declared = declaredPermissions(operations);
  const relations = entities.flatMap((noun) => Object.values(noun.relations));
  expect(relations.length).toBeGreaterThan(15);
  for (const relation of relations) expect(declared).toContain(permissionOf(relation));
});

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const role = (token: string, name: string, select: string) => {
    const relations = via === 'rest' ? { relations: [name] } : {};
    return app.raw('role', { scope, id: roleId, ...relations }, { token, via, select });
  };

  it('refuses a relation whose noun the caller may not query', async () => {
    const token = await holding('Role:Query', 'Group:Query');
    expect((await role(token, 'groups', '{ id groups { name } }')).data).toMatchObject({
      groups: [{ name: 'Shown' }, { name: 'Hidden' }],
    });
    const refused = await role(token, 'tags', '{ id tags { name } }');
    expect([refused.code, refused.reason]).toEqual(['FORBIDDEN', 'NO_PERMISSION']);
    expect(refused.details).toMatchObject([{ path: 'relations.tags', code: 'not_allowed' }]);
    if (via === 'rest') expect(refused.status).toBe(403);
    expect(refused.body).not.toContain('Clerk');
    // Also if there are no related rows.
    const none = { scope, search: unique(), ...(via === 'rest' ? { relations: ['tags'] } : {}) };
    const listed = await app.raw('roles', none, { token, via, select: '{ items { tags { name } } }' });
    expect(listed.code).toBe('FORBIDDEN');
  });

  it('shows with a conditional permission the rows that meet the condition', async () => {
    const token = await holding('Role:Query', await onlyNamed('Group', 'Shown'));
    expect((await role(token, 'groups', '{ id groups { name } }')).data).toMatchObject({
      groups: [{ name: 'Shown' }],
    });
    const none = await holding('Role:Query', await onlyNamed('Group', 'Another'));
    expect((await role(none, 'groups', '{ id groups { name } }')).data).toMatchObject({ groups: [] });
  });

  it('answers null if the only related row is not visible', async () => {
    const token = await holding('ApiKey:Query', await onlyNamed('Role', 'Clerk'));
    for (const [name, id] of [
      ['clerk', roleId],
      ['other', (await app.must('createRole', { scope, name: 'Other' }, as)).id],
    ] as const)
      await app.must('createApiKey', { scope, roleId: id, name: `${name} ${via}` }, as);
    const relations = via === 'rest' ? { relations: ['role'] } : {};
    const select = '{ items { name role { name } } }';
    const input = { scope, search: via, sortField: 'name', ...relations };
    const { data } = await app.raw('apiKeys', input, { token, via, select });
    expect(data).toMatchObject({
      items: [
        { name: `clerk ${via}`, role: { name: 'Clerk' } },
        { name: `other ${via}`, role: null },
      ],
    });
  });

  it('needs no permission for a field of the row itself', async () => {
    const token = await holding('Permission:Query');
    const select = '{ items { resource { slug } } }';
    const { data } = await app.raw('permissions', { scope, limit: 1 }, { token, via, select });
    expect(data).toMatchObject({ items: [{ resource: { slug: expect.any(String) as string } }] });
  });

  it('needs the noun in the scopes of an app token', async () => {
    const redirectUri = 'https://app.example/callback';
    const client = await app.must(
      'createProjectApp',
      { scope, name: 'App', redirectUris: [redirectUri], scopes: ['Role:Query', 'Tag:Query'] },
      as,
    );
    const verifier = newVerifier();
    const code = await consented(app, {
      appId: client.id,
      userId: owner.userId,
      redirectUri,
      challenge: challengeOf(verifier),
      scopes: ['Role:Query', 'Tag:Query'],
    });
    const { accessToken } = await app.must('projectToken', {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
      client_id: client.clientId,
    });
    expect((await role(accessToken, 'tags', '{ id tags { name } }')).data).toMatchObject({ tags: [] });
    const refused = await role(accessToken, 'groups', '{ id groups { name } }');
    expect([refused.code, refused.reason]).toEqual(['FORBIDDEN', 'SCOPE_NOT_CONSENTED']);
  });
});

describe('nested fields of GraphQL', () => {
  const call = (name: 'role' | 'updateRole', token: string, select: string, more: object = {}) =>
    app.raw(name, { scope, id: roleId, ...more }, { token, via: 'graphql', select });

  it('are checked at every depth, wherever they are in the document', async () => {
    const token = await holding('Role:Query', 'Group:Query');
    for (const select of [
      '{ groups { permissions { name } } }',
      '{ groups { ... on Group { permissions { name } } } }',
      '{ a: groups { id } b: groups { permissions { id } } }',
      '{ groups { permissions @include(if: true) { name } } }',
    ]) {
      const refused = await call('role', token, select);
      expect(refused.code, select).toBe('FORBIDDEN');
      expect(refused.details).toMatchObject([{ path: 'relations.permissions', code: 'not_allowed' }]);
      expect(refused.body).toContain('"data":null');
    }
    const without = await call('role', token, '{ groups { name permissions @include(if: false) { name } } }');
    expect(without.data).toMatchObject({ groups: [{ name: 'Shown' }, { name: 'Hidden' }] });
  });

  it('of a mutation are checked before it changes anything', async () => {
    const token = await holding('Role:Query', 'Role:Update', 'Tag:Query');
    const description = unique();
    const refused = await call('updateRole', token, '{ groups { name } }', { description });
    expect(refused.code).toBe('FORBIDDEN');
    expect((await app.must('role', { scope, id: roleId }, as)).description).not.toBe(description);
    expect((await call('updateRole', token, '{ id tags { name } }', { description })).code).toBeNull();
  });
});
