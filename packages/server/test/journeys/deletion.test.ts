/**
 * What is deleted together, over REST and GraphQL: an organization with everything in it, a project with its keys, a
 * tag with its links. The purge removes the deleted rows for good: see purge.test.ts.
 */
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rowsOf } from '../../src/db/statements/rows.ts';
import { deleteNode } from '../../src/db/tenancy/tenant-tree.ts';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { member } from '../contract/world.ts';
import { startApp, type TestApp } from '../support/app/app.ts';
import { storyTransports } from '../support/cases/breadth.ts';
import { unique } from '../support/app/client.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const item = async <T extends object>(query: ReturnType<typeof sql>): Promise<T> =>
  (await rowsOf<T>(app.database.pool, query))[0] as T;

/** A valid key of the project, and a check of whether it still works. */
async function workingKey(scope: ScopeRef, token: string) {
  const key = await app.must('createApiKey', { scope }, { token });
  const exchange = { clientId: key.clientId, clientSecret: key.clientSecret as string, scope: key.scope };
  const { accessToken } = await app.must('exchangeApiKey', exchange);
  expect((await app.call('apiKeys', { scope }, { token: accessToken })).status).toBe(200);
  return {
    id: key.id,
    statuses: async () => [
      (await app.call('exchangeApiKey', exchange)).status,
      (await app.call('apiKeys', { scope }, { token: accessToken })).status,
    ],
  };
}

const jwks = async (ownerKind: 'org' | 'acc', ownerId: string, projectId: string) =>
  (await app.server.inject(`/${ownerKind}/${ownerId}/prj/${projectId}/.well-known/jwks.json`)).statusCode;

describe.each(storyTransports(import.meta))('over %s', (via) => {
  test('an organization is deleted with its projects, keys, rows, members and invitations', async () => {
    const ada = await app.person({ type: 'organization' });
    const as = { token: ada.token, via };
    const { id } = await app.must('createOrganization', { scope: ada.account, name: unique() }, as);
    const scope: ScopeRef = { tenant: 'organization', id };
    const project = await app.must('createProject', { scope, name: 'P' }, as);
    const bob = await member(app, id, 'Organization Viewer');
    const key = await workingKey(project.scope, ada.token);
    const role = await app.must('createRole', { scope, name: 'R' }, as);
    await app.must('createTag', { scope: project.scope, name: 't' }, as);
    await app.database.pool.execute(sql`
      with managed as (insert into users (id, name, is_managed, managed_by)
        select gen_random_uuid(), name, true, ${id}::uuid from unnest(array['Robot', 'Traveller']) name returning id, name),
      joined as (insert into organization_members (tenant_id, user_id, role_id, role_tenant_id)
        select ${id}::uuid, id, ${role.id}::uuid, ${id}::uuid from managed),
      invited as (insert into organization_invitations
        (id, tenant_id, email, role_id, role_tenant_id, invited_by, expires_at, last_sent_at)
        values (gen_random_uuid(), ${id}::uuid, 'eve@example.test', ${role.id}::uuid, ${id}::uuid,
          ${ada.userId}::uuid, now() + interval '7 days', now()) returning id),
      mailed as (insert into organization_invitation_tokens (hash, invitation_id) select ${unique()}, id from invited)
      insert into project_users (tenant_id, user_id) select ${project.id}::uuid, id from managed`);
    const elsewhere = await app.must('createProject', { scope: ada.account, name: 'Elsewhere' }, as);
    await app.database.pool.execute(sql`insert into project_users (tenant_id, user_id)
      select ${elsewhere.id}::uuid, id from users where name = 'Traveller' and managed_by = ${id}::uuid`);
    expect(await jwks('org', id, project.id)).toBe(200);
    expect((await app.call('tags', { scope }, { token: bob.token })).status).toBe(200);

    const deleted = await app.must('deleteOrganization', { scope, id }, as);
    expect(deleted.deletedAt).not.toBeNull();
    expect(await key.statuses()).toEqual([401, 401]);
    expect(await jwks('org', id, project.id)).toBe(404);
    for (const token of [ada.token, bob.token]) {
      expect((await app.call('tags', { scope }, { token, via })).code).toBe('FORBIDDEN');
      expect((await app.call('tags', { scope: project.scope }, { token, via })).code).toBe('FORBIDDEN');
    }
    const left = await item<Record<string, number>>(sql`
      select (select count(*)::int from projects where owner_id = ${id}::uuid and deleted_at is null) as projects,
        (select count(*)::int from roles where tenant_id = ${id}::uuid and deleted_at is null) as roles,
        (select count(*)::int from tags where tenant_id = ${project.id}::uuid and deleted_at is null) as tags,
        (select count(*)::int from api_keys where tenant_id = ${project.id}::uuid and deleted_at is null) as keys,
        (select count(*)::int from organization_invitations where tenant_id = ${id}::uuid and deleted_at is null) as invitations,
        (select count(*)::int from organization_invitation_tokens t join organization_invitations i
          on i.id = t.invitation_id where i.tenant_id = ${id}::uuid) as tokens,
        (select count(*)::int from organization_members where tenant_id = ${id}::uuid) as members,
        (select count(*)::int from project_users where tenant_id = ${project.id}::uuid) as participants`);
    expect(Object.values(left).filter((count) => count > 0)).toEqual([]);
    // A managed user of the organization is deleted with it, unless they are a member elsewhere too.
    const managed = await rowsOf<{ name: string; alive: boolean }>(
      app.database.pool,
      sql`select name, deleted_at is null as alive from users where managed_by = ${id}::uuid order by name`,
    );
    expect(managed).toEqual([
      { name: 'Robot', alive: false },
      { name: 'Traveller', alive: true },
    ]);
    const written = await item<{ entries: number; events: number }>(sql`
      select (select count(*)::int from audit_log where tenant_id = ${id}::uuid and operation = 'deleteOrganization') as entries,
        (select count(*)::int from events where tenant_id = ${id}::uuid and type = 'organization.deleted') as events`);
    expect(written).toEqual({ entries: 1, events: 1 });
    // The name can be used again.
    await app.must('createOrganization', { scope: ada.account, name: 'Again', slug: deleted.slug }, as);
  });

  test.each(['owner', 'itself'])(
    'a project is deleted with its keys (deleted in the scope of: %s)',
    async (where) => {
      const ada = await app.person();
      const as = { token: ada.token, via };
      const project = await app.must('createProject', { scope: ada.account, name: 'P' }, as);
      const key = await workingKey(project.scope, ada.token);
      const own = { tenant: 'projectUser' as const, id: `${project.id}:${ada.userId}` };
      const ownKey = await workingKey(own, ada.token);
      await app.must(
        'deleteProject',
        { scope: where === 'owner' ? ada.account : project.scope, id: project.id },
        as,
      );
      expect(await key.statuses()).toEqual([401, 401]);
      expect(await ownKey.statuses()).toEqual([401, 401]);
      expect(await jwks('acc', ada.account.id, project.id)).toBe(404);
      expect((await app.call('roles', { scope: project.scope }, as)).code).toBe('FORBIDDEN');
    },
  );

  test('a deleted tag is removed from every row, and a new one of the same name has no links', async () => {
    const ada = await app.person();
    const as = { token: ada.token, via };
    const withTags = { ...as, ...(via === 'graphql' ? { select: '{ id tags { id } }' } : {}) };
    const { scope } = await app.must('createProject', { scope: ada.account, name: 'P' }, as);
    const keep = await app.must('createTag', { scope, name: 'keep' }, as);
    const tag = await app.must('createTag', { scope, name: 'gone' }, as);
    const role = await app.must('createRole', { scope, name: 'R', tagIds: [keep.id, tag.id] }, as);
    await app.must('deleteTag', { scope, id: tag.id }, as);
    const seen = async () =>
      (
        (await app.must(
          'role',
          { scope, id: role.id, ...(via === 'rest' ? { relations: ['tags'] } : {}) },
          withTags,
        )) as { tags?: { id: string }[] }
      ).tags?.map(({ id }) => id);
    const match = async (id: string) => (await app.must('roles', { scope, tagIds: [id] }, as)).items.length;
    expect(await seen()).toEqual([keep.id]);
    expect([await match(tag.id), await match(keep.id)]).toEqual([0, 1]);
    const again = await app.must('createTag', { scope, name: 'Gone' }, as);
    expect(await seen()).toEqual([keep.id]);
    expect(await match(again.id)).toBe(0);
    // A change is compared with the visible set: the same set again is no change.
    await app.must('updateRole', { scope, id: role.id, tagIds: [keep.id] }, as);
    await app.must('updateRole', { scope, id: role.id, tagIds: [keep.id, again.id] }, as);
    const changes = await rowsOf<{ changes: unknown }>(
      app.database.pool,
      sql`select changes from audit_log where operation = 'updateRole' and target->>'id' = ${role.id}`,
    );
    expect(changes).toEqual([{ changes: { tagIds: { from: [keep.id], to: [keep.id, again.id].sort() } } }]);
    expect((await app.call('createRole', { scope, name: 'S', tagIds: [tag.id] }, as)).code).toBe('NOT_FOUND');
  });

  test('a deleted permission is removed from its groups, a deleted group from its roles, and their rights end', async () => {
    const ada = await app.person();
    const as = { token: ada.token, via };
    const { scope } = await app.must('createProject', { scope: ada.account, name: 'P' }, as);
    const resource = await app.must(
      'createResource',
      { scope, name: 'Doc', slug: 'doc', actions: ['read', 'write'] },
      as,
    );
    const permission = async (action: string) =>
      (await app.must('createPermission', { scope, resourceId: resource.id, action }, as)).id;
    const [read, write] = [await permission('read'), await permission('write')];
    const group = await app.must('createGroup', { scope, name: 'G', permissionIds: [read, write] }, as);
    const role = await app.must('createRole', { scope, name: 'R', groupIds: [group.id] }, as);
    const key = await app.must('createApiKey', { scope, roleId: role.id }, as);
    const { accessToken: token } = await app.must('exchangeApiKey', {
      clientId: key.clientId,
      clientSecret: key.clientSecret as string,
      scope: key.scope,
    });
    const may = async (action: string) =>
      (await app.must('isAuthorized', { scope, permission: { resource: 'doc', action } }, { token }))
        .authorized;
    const relation = async (name: 'group' | 'role', id: string, of: 'permissions' | 'groups') => {
      const select = via === 'graphql' ? { select: `{ ${of} { id } }` } : {};
      const input = { scope, id, ...(via === 'rest' ? { relations: [of] } : {}) };
      const answer = await app.raw(name, input, { ...as, ...select });
      return (answer.data as Record<string, { id: string }[]>)[of]?.map((row) => row.id);
    };
    expect([await may('read'), await may('write')]).toEqual([true, true]);
    await app.must('deletePermission', { scope, id: write }, as);
    expect([await may('read'), await may('write')]).toEqual([true, false]);
    expect(await relation('group', group.id, 'permissions')).toEqual([read]);
    const again = await permission('write');
    expect(await may('write')).toBe(false);
    await app.must('updateGroup', { scope, id: group.id, permissionIds: [read, again] }, as);
    expect(await may('write')).toBe(true);
    await app.must('deleteGroup', { scope, id: group.id }, as);
    expect([await may('read'), await may('write')]).toEqual([false, false]);
    expect(await relation('role', role.id, 'groups')).toEqual([]);
    await app.must('deleteResource', { scope, id: resource.id }, as);
    expect((await app.must('permissions', { scope, resourceId: resource.id }, as)).items).toEqual([]);
    // The slug can be used again, and permissions on the old resource do not apply to the new one.
    await app.must('createResource', { scope, name: 'Doc', slug: 'doc' }, as);
    expect(await may('read')).toBe(false);
  });
});

test('an account is deleted with everything except organizations that have other owners', async () => {
  const ada = await app.person({ type: 'organization' });
  const as = { token: ada.token };
  const make = async () =>
    (await app.must('createOrganization', { scope: ada.account, name: unique() }, as)).id;
  const [alone, shared] = [await make(), await make()];
  const project = await app.must('createProject', { scope: ada.account, name: 'P' }, as);
  const inShared = await app.must(
    'createProject',
    { scope: { tenant: 'organization', id: shared }, name: 'P' },
    as,
  );
  const bob = await member(app, shared, 'Organization Owner');
  const key = await workingKey(inShared.scope, bob.token);
  const { topics } = await app.database.transaction((tx) => deleteNode(tx, ada.account.id));
  expect(topics.filter((topic) => topic.startsWith('node:')).sort()).toEqual(
    [ada.account.id, alone, project.id].map((id) => `node:${id}`).sort(),
  );
  // No cache needs an invalidation: these callers make their first request.
  const cy = await member(app, shared, 'Organization Viewer');
  expect(
    (await app.call('tags', { scope: { tenant: 'organization', id: shared } }, { token: cy.token })).status,
  ).toBe(200);
  expect(await key.statuses()).toEqual([200, 200]);
  expect(await jwks('org', shared, inShared.id)).toBe(200);
  expect(await jwks('acc', ada.account.id, project.id)).toBe(404);
});
