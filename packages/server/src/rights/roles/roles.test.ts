import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import { unique, type Person } from '../../../test/support/app/client.ts';
import { permissionIdOf } from '../../schema/rights/built-in-ids.ts';
import type { ScopeRef } from '../../kernel/scope.ts';

/** An administrator of a project builds the chain resource → permission → group → role. */
let app: TestApp;
let owner: Person;
let scope: ScopeRef;

beforeAll(async () => {
  app = await startApp();
  owner = await app.person();
  const project = await app.must(
    'createProject',
    { scope: owner.account, name: 'Shop' },
    { token: owner.token },
  );
  scope = project.scope;
});
afterAll(() => app.close());

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const as = () => ({ token: owner.token, via });

  it('reads the same list again without a stale answer, for every caller', async () => {
    const requested = { scope, search: `Repeated ${unique()}` };
    const names = async () => (await app.must('roles', requested, as())).items.map(({ name }) => name);
    for (let times = 0; times < 3; times++) expect(await names()).toEqual([]);
    await app.must('createRole', { scope, name: requested.search }, as());
    expect(await names()).toEqual([requested.search]);
    const stranger = await app.person();
    const refused = await app.call('roles', requested, { token: stranger.token, via });
    expect(refused.code).toBe('FORBIDDEN');
    expect(await names()).toEqual([requested.search]);
  });

  it('builds the chain and reads it back with its relations', async () => {
    const slug = `invoice-${unique()}`;
    const resource = await app.must(
      'createResource',
      { scope, name: 'Invoice', slug, actions: ['read', 'pay'], createPermissions: true },
      as(),
    );
    expect(resource).toMatchObject({ slug, actions: ['read', 'pay'], isActive: true, isSystem: false });
    const permissions = await app.must('permissions', { scope, resourceId: resource.id }, as());
    expect(permissions.items.map(({ name }) => name)).toEqual([`${slug}:read`, `${slug}:pay`]);
    expect(permissions.items[0]?.resource).toEqual({
      id: resource.id,
      slug,
      name: 'Invoice',
      isSystem: false,
    });

    const group = await app.must(
      'createGroup',
      { scope, name: 'Readers', permissionIds: permissions.items.map(({ id }) => id) },
      as(),
    );
    const tag = await app.must('createTag', { scope, name: `blue ${unique()}`, color: 'blue' }, as());
    const role = await app.must(
      'createRole',
      { scope, name: 'Clerk', groupIds: [group.id], tagIds: [tag.id] },
      as(),
    );
    expect(role).toMatchObject({ name: 'Clerk', level: 'project', isSystem: false, description: null });

    const listed = await app.call(
      'roles',
      via === 'rest' ? { scope, ids: [role.id], relations: ['groups', 'tags'] } : { scope, ids: [role.id] },
      {
        ...as(),
        select:
          '{ items { id groups { id name permissions { name resource { slug } } } tags { id name } } totalCount }',
      },
    );
    expect(listed.data).toMatchObject({
      totalCount: 1,
      items: [{ id: role.id, groups: [{ id: group.id, name: 'Readers' }], tags: [{ id: tag.id }] }],
    });
    if (via === 'graphql') {
      expect(listed.body).toContain(`"resource":{"slug":"${slug}"}`);
    }
    const byTag = await app.must('roles', { scope, tagIds: [tag.id] }, as());
    expect(byTag.items.map(({ id }) => id)).toEqual([role.id]);
  });

  it('lists shared related rows for each row, in order of creation', async () => {
    const groups: string[] = [];
    for (const name of ['First', 'Second', 'Third'])
      groups.push((await app.must('createGroup', { scope, name }, as())).id);
    const [first = '', second = '', third = ''] = groups;
    const tag = await app.must('createTag', { scope, name: `common ${unique()}` }, as());
    const linked = [[third, first], [second], [], [second, third, first]];
    const ids: string[] = [];
    for (const groupIds of linked)
      ids.push((await app.must('createRole', { scope, name: 'R', groupIds, tagIds: [tag.id] }, as())).id);

    const listed = await app.call(
      'roles',
      { scope, ids, ...(via === 'rest' ? { relations: ['groups', 'tags'] } : {}) },
      { ...as(), select: '{ items { id groups { id name createdAt } tags { id name } } }' },
    );
    const { items } = listed.data as unknown as {
      items: { id: string; groups: { id: string; name: string; createdAt: string }[]; tags: object[] }[];
    };
    expect(items.map(({ id, groups: held }) => [id, held.map((group) => group.id)])).toEqual([
      [ids[0], [first, third]],
      [ids[1], [second]],
      [ids[2], []],
      [ids[3], [first, second, third]],
    ]);
    expect(items.map(({ tags }) => tags.length)).toEqual([1, 1, 1, 1]);
    expect(items[3]?.groups.map(({ name }) => name)).toEqual(['First', 'Second', 'Third']);
    for (const { createdAt } of items[3]?.groups ?? []) {
      expect(new Date(createdAt).toISOString()).toBe(createdAt);
    }
  });

  it('changes only the fields in the input, and reports when nothing changed', async () => {
    const role = await app.must(
      'createRole',
      { scope, name: 'A', description: 'keeps', metadata: { a: 1 } },
      as(),
    );
    const renamed = await app.must('updateRole', { scope, id: role.id, name: 'B' }, as());
    expect(renamed).toMatchObject({ name: 'B', description: 'keeps', metadata: { a: 1 } });
    const cleared = await app.must('updateRole', { scope, id: role.id, description: null }, as());
    expect(cleared.description).toBeNull();
    const again = await app.must('updateRole', { scope, id: role.id, name: 'B' }, as());
    expect(again.updatedAt).toBe(cleared.updatedAt);
  });

  it('pages by number and by cursor, sorts and searches', async () => {
    const mark = unique();
    for (const n of [3, 1, 2]) await app.must('createRole', { scope, name: `${mark} %_${n}` }, as());
    const first = await app.must('roles', { scope, search: mark, sortField: 'name', limit: 2 }, as());
    expect(first.items.map(({ name }) => name)).toEqual([`${mark} %_1`, `${mark} %_2`]);
    expect(first).toMatchObject({ totalCount: 3, hasNextPage: true });
    const cursor = first.nextCursor as string;
    const next = await app.must('roles', { scope, search: mark, sortField: 'name', limit: 2, cursor }, as());
    expect(next.items.map(({ name }) => name)).toEqual([`${mark} %_3`]);
    expect(next).toMatchObject({ hasNextPage: false, nextCursor: null });
    const second = await app.must('roles', { scope, search: mark, limit: 1, page: 2 }, as());
    expect(second.items.map(({ name }) => name)).toEqual([`${mark} %_1`]);
    const literal = await app.must('roles', { scope, search: '%_3' }, as());
    expect(literal.items.length).toBeGreaterThanOrEqual(1);
    expect(literal.items.every(({ name }) => name.includes('%_3'))).toBe(true);

    const elsewhere = await app.call('roles', { scope, search: mark, sortField: 'createdAt', cursor }, as());
    expect(elsewhere.code).toBe('INVALID_CURSOR');
    const altered = await app.call(
      'roles',
      { scope, search: mark, sortField: 'name', limit: 2, cursor: `${cursor}A` },
      as(),
    );
    expect(altered.code).toBe('INVALID_CURSOR');
    const both = await app.call('roles', { scope, page: 1, cursor }, as());
    expect(both.details).toMatchObject([{ path: 'cursor', code: 'excluded' }]);
  });

  it('shows built-in roles of the level and refuses to change them', async () => {
    const { items } = await app.must('roles', { scope, isSystem: true }, as());
    expect(items.map(({ name }) => name).sort()).toEqual(['Project Admin', 'Project Viewer']);
    const id = items[0]?.id as string;
    const changed = await app.call('updateRole', { scope, id, name: 'Mine' }, as());
    expect(changed.code).toBe('SYSTEM_ENTITY');
    const removed = await app.call('deleteRole', { scope, id }, as());
    expect(removed.code).toBe('SYSTEM_ENTITY');
  });

  it('refuses to satisfy a condition by changing the own role', async () => {
    const member = await app.person({ type: 'organization' });
    const resource = await app.must(
      'createResource',
      { scope, name: 'Site', slug: `site-${unique()}`, actions: ['enter'] },
      as(),
    );
    const condition = { Equals: { 'role.metadata.region': 'eu' } };
    const enter = await app.must(
      'createPermission',
      { scope, resourceId: resource.id, action: 'enter', condition },
      as(),
    );
    const permissionIds = [enter.id, permissionIdOf('Role:Update'), permissionIdOf('Role:Create')];
    const group = await app.must('createGroup', { scope, name: 'Guards', permissionIds }, as());
    const role = await app.must(
      'createRole',
      { scope, name: 'Guard', groupIds: [group.id], metadata: { region: 'us' } },
      as(),
    );
    await app.database.pool.execute(sql`
      with joined as (insert into project_users (tenant_id, user_id)
        values (${scope.id.split(':')[1]}::uuid, ${member.userId}::uuid))
      insert into project_user_roles (tenant_id, user_id, role_id, role_tenant_id)
      select ${scope.id.split(':')[1]}::uuid, ${member.userId}::uuid, ${role.id}::uuid, ${scope.id.split(':')[1]}::uuid`);
    const his = { token: member.token, via };
    const metadata = { region: 'eu' };
    const rewritten = await app.call('updateRole', { scope, id: role.id, metadata }, his);
    expect(rewritten.code).toBe('PRIVILEGE_ESCALATION');
    const another = await app.call(
      'createRole',
      { scope, name: 'Mine', groupIds: [group.id], metadata },
      his,
    );
    expect(another.code).toBe('PRIVILEGE_ESCALATION');
    const permission = { resource: resource.slug, action: 'enter' };
    const requested = await app.must('isAuthorized', { scope, permission }, his);
    expect(requested).toMatchObject({ authorized: false, reason: 'CONDITION_NOT_MET' });
    await app.must('updateRole', { scope, id: role.id, metadata }, as());
    expect((await app.must('isAuthorized', { scope, permission }, his)).authorized).toBe(true);
  });

  it('soft-deletes: no reader sees the row', async () => {
    const role = await app.must('createRole', { scope, name: 'Short' }, as());
    const deleted = await app.must('deleteRole', { scope, id: role.id }, as());
    expect(deleted.deletedAt).not.toBeNull();
    expect((await app.call('role', { scope, id: role.id }, as())).code).toBe('NOT_FOUND');
    expect((await app.call('deleteRole', { scope, id: role.id }, as())).code).toBe('NOT_FOUND');
    expect((await app.must('roles', { scope, ids: [role.id] }, as())).totalCount).toBe(0);
  });

  it('keeps a role of an organization that is assigned to a key of one of its projects', async () => {
    const head = await app.person({ type: 'organization' });
    const his = { token: head.token, via };
    const { id } = await app.must('createOrganization', { scope: head.account, name: 'Shops' }, his);
    const organization = { tenant: 'organization', id } as const;
    const role = await app.must('createRole', { scope: organization, name: 'Worn below' }, his);
    const project = await app.must('createProject', { scope: organization, name: 'Shop' }, his);
    const key = await app.must('createApiKey', { scope: project.scope, roleId: role.id }, his);
    const remove = () => app.call('deleteRole', { scope: organization, id: role.id }, his);
    expect(await remove()).toMatchObject({ code: 'IN_USE', details: [{ path: 'keys', code: 'in_use' }] });
    await app.must('deleteApiKey', { scope: project.scope, id: key.id }, his);
    expect((await remove()).code).toBeNull();
  });

  it('refuses an action that the resource does not have and a condition that does not parse', async () => {
    const slug = `doc-${unique()}`;
    const resource = await app.must('createResource', { scope, name: 'Doc', slug, actions: ['read'] }, as());
    const action = await app.call(
      'createPermission',
      { scope, resourceId: resource.id, action: 'write' },
      as(),
    );
    expect(action.details).toMatchObject([{ path: 'action', code: 'enum' }]);
    const condition = { Matches: { 'resource.id': 'd.*' } };
    const broken = await app.call(
      'createPermission',
      { scope, resourceId: resource.id, action: 'read', condition },
      as(),
    );
    expect(broken.code).toBe('INVALID_CONDITION');
    expect(broken.details[0]?.code).toBe('operator');
    await app.must('createPermission', { scope, resourceId: resource.id, action: 'read' }, as());
    const used = await app.call('updateResource', { scope, id: resource.id, actions: ['write'] }, as());
    expect(used.code).toBe('IN_USE');
    const taken = await app.call('createResource', { scope, name: 'Doc', slug }, as());
    expect(taken).toMatchObject({ code: 'CONFLICT', details: [{ path: 'slug', code: 'taken' }] });
  });
});
