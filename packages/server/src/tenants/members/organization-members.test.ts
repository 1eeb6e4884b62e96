import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { joined, keyToken, member } from '../../../test/contract/world.ts';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import { unique, type Person } from '../../../test/support/app/client.ts';
import { permissionIdOf, roleIdOf } from '../../schema/rights/built-in-ids.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import type { ScopeRef } from '../../kernel/scope.ts';

/** Members of an organization: who may list, change and remove them, and that one owner always stays. */
let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const OWNER = roleIdOf('Organization Owner');
const ADMIN = roleIdOf('Organization Admin');
const VIEWER = roleIdOf('Organization Viewer');

interface Office {
  readonly ada: Person;
  readonly scope: ScopeRef;
  readonly project: ScopeRef;
}

/** An organization of Ada's with one project. */
async function office(): Promise<Office> {
  const ada = await app.person({ type: 'organization', name: 'Ada Owner' });
  const as = { token: ada.token };
  const { id } = await app.must('createOrganization', { scope: ada.account, name: `Office ${unique()}` }, as);
  const scope = joined('organization', id);
  const project = await app.must('createProject', { scope, name: 'Desk' }, as);
  return { ada, scope, project: project.scope };
}

interface Recorded {
  readonly type: string;
  readonly body: { data: Record<string, unknown>; changes?: Record<string, unknown> };
}

/** Events and audit entries of a tenant since the last call. */
async function recorded(nodeId: string) {
  const events = await rowsOf<Recorded>(
    app.database.pool,
    sql`select type, body from events where tenant_id = ${nodeId}::uuid order by sequence`,
  );
  const [audited] = await rowsOf<{ count: number }>(
    app.database.pool,
    sql`select count(*)::int as count from audit_log where tenant_id = ${nodeId}::uuid`,
  );
  return { events, audited: audited?.count ?? 0, last: events.at(-1) };
}

const membersOf = async ({ ada, scope }: Office) =>
  (await app.must('organizationMembers', { scope }, { token: ada.token })).items.map(({ id }) => id).sort();

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const as = ({ token }: { token: string }) => ({ token, via });

  it('lists, searches and sorts members with their roles', async () => {
    const { ada, scope } = await office();
    const bob = await member(app, scope.id, 'Organization Viewer');
    const { items, totalCount } = await app.must('organizationMembers', { scope }, as(ada));
    expect(totalCount).toBe(2);
    expect(items.find(({ id }) => id === ada.userId)).toMatchObject({
      user: { id: ada.userId, name: 'Ada Owner', email: ada.email, pictureUrl: null },
      role: { id: OWNER, name: 'Organization Owner', isSystem: true },
      roleId: OWNER,
      metadata: {},
      joinedAt: expect.any(String) as string,
    });
    expect(items[0]).not.toHaveProperty('deletedAt');
    const idsWith = async (filter: object) =>
      (await app.must('organizationMembers', { scope, ...filter }, as(ada))).items.map(({ id }) => id);
    expect(await idsWith({ roleId: VIEWER })).toEqual([bob.userId]);
    expect(await idsWith({ roleId: randomUUID() })).toEqual([]);
    expect(await idsWith({ ids: [bob.userId, randomUUID()] })).toEqual([bob.userId]);
    expect(await idsWith({ search: bob.email.slice(0, 8).toUpperCase() })).toEqual([bob.userId]);
    expect(await idsWith({ search: 'ada own' })).toEqual([ada.userId]);
    const byEmail = [ada, bob].sort((a, b) => (a.email < b.email ? 1 : -1)).map(({ userId }) => userId);
    expect(await idsWith({ sortField: 'email', sortOrder: 'DESC' })).toEqual(byEmail);
    const first = await app.must(
      'organizationMembers',
      { scope, sortField: 'email', sortOrder: 'DESC', limit: 1 },
      as(ada),
    );
    const cursor = first.nextCursor as string;
    expect(await idsWith({ sortField: 'email', sortOrder: 'DESC', limit: 1, cursor })).toEqual([byEmail[1]]);
  });

  it('changes the role of a member at once, and reports when nothing changed', async () => {
    const { ada, scope } = await office();
    const bob = await member(app, scope.id, 'Organization Viewer');
    expect((await app.call('createTag', { scope, name: unique() }, as(bob))).code).toBe('FORBIDDEN');
    const change = { scope, userId: bob.userId, roleId: ADMIN };
    const changed = await app.must('updateOrganizationMember', change, as(ada));
    expect(changed).toMatchObject({ id: bob.userId, roleId: ADMIN, role: { name: 'Organization Admin' } });
    await app.must('createTag', { scope, name: unique() }, as(bob));
    const { last, audited } = await recorded(scope.id);
    expect(last).toMatchObject({
      type: 'organization.member_role_changed',
      body: { data: { userId: bob.userId, roleId: ADMIN }, changes: { roleId: { from: VIEWER, to: ADMIN } } },
    });
    await app.must('updateOrganizationMember', change, as(ada));
    expect((await recorded(scope.id)).audited).toBe(audited);
    await app.must('updateOrganizationMember', { ...change, roleId: VIEWER }, as(ada));
    expect((await app.call('createTag', { scope, name: unique() }, as(bob))).code).toBe('FORBIDDEN');
  });

  it('refuses to change the own role, and to grant or remove more than the caller holds', async () => {
    const { ada, scope, project } = await office();
    const eve = await member(app, scope.id, 'Organization Admin');
    const bob = await member(app, scope.id, 'Organization Viewer');
    const change = (userId: string, roleId: string, by: Person) =>
      app.call('updateOrganizationMember', { scope, userId, roleId }, as(by));
    expect((await change(eve.userId, VIEWER, eve)).code).toBe('FORBIDDEN');
    expect((await change(ada.userId, ADMIN, ada)).code).toBe('FORBIDDEN');
    const promoted = await change(bob.userId, OWNER, eve);
    expect(promoted.code).toBe('PRIVILEGE_ESCALATION');
    expect(promoted.details).toContainEqual(
      expect.objectContaining({ path: 'Organization:Delete', code: 'permission' }),
    );
    expect((await change(ada.userId, VIEWER, eve)).code).toBe('PRIVILEGE_ESCALATION');
    const removed = await app.call('removeOrganizationMember', { scope, userId: ada.userId }, as(eve));
    expect(removed.code).toBe('PRIVILEGE_ESCALATION');
    const ownRoles = await app.must('createRole', { scope, name: 'Tagger' }, as(ada));
    const foreign = await office();
    const theirs = await app.must('createRole', { scope: foreign.scope, name: 'T' }, as(foreign.ada));
    const inProject = await app.must('createRole', { scope: project, name: 'P' }, as(ada));
    for (const roleId of [theirs.id, inProject.id, roleIdOf('Project Viewer'), randomUUID()]) {
      expect((await change(bob.userId, roleId, ada)).code).toBe('NOT_FOUND');
    }
    expect((await change(bob.userId, ownRoles.id, ada)).ok).toBe(true);
    expect((await change(foreign.ada.userId, VIEWER, ada)).code).toBe('NOT_FOUND');
  });

  it('compares rights in projects before a member can be removed', async () => {
    const { ada, scope, project } = await office();
    const group = await app.must(
      'createGroup',
      { scope, name: 'Removing', permissionIds: [permissionIdOf('OrganizationMember:Remove')] },
      as(ada),
    );
    const remover = await app.must('createRole', { scope, name: 'Remover', groupIds: [group.id] }, as(ada));
    const nothing = await app.must('createRole', { scope, name: 'Nothing' }, as(ada));
    const [bob, eve] = [
      await member(app, scope.id, 'Organization Viewer'),
      await member(app, scope.id, 'Organization Viewer'),
    ];
    for (const [userId, roleId] of [
      [bob.userId, nothing.id],
      [eve.userId, remover.id],
    ] as const)
      await app.must('updateOrganizationMember', { scope, userId, roleId }, as(ada));
    const taking = { scope: project, userId: bob.userId, roleIds: [roleIdOf('Project Viewer')] };
    await app.must('createUser', taking, as(ada));

    const refused = await app.call('removeOrganizationMember', { scope, userId: bob.userId }, as(eve));
    expect(refused.code).toBe('PRIVILEGE_ESCALATION');
    expect(refused.details.map(({ path }) => path)).toContain('Role:Query');
    expect(await membersOf({ ada, scope, project })).toContain(bob.userId);
    await app.must('updateUser', { scope: project, id: bob.userId, roleIds: [] }, as(ada));
    await app.must('removeOrganizationMember', { scope, userId: bob.userId }, as(eve));
  });

  it('lets a viewer list members but not change them', async () => {
    const { ada, scope } = await office();
    const bob = await member(app, scope.id, 'Organization Viewer');
    await app.must('organizationMembers', { scope }, as(bob));
    const change = { scope, userId: ada.userId, roleId: VIEWER };
    const updated = await app.call('updateOrganizationMember', change, as(bob));
    const removed = await app.call('removeOrganizationMember', { scope, userId: ada.userId }, as(bob));
    for (const { code, reason } of [updated, removed]) {
      expect([code, reason]).toEqual(['FORBIDDEN', 'NO_PERMISSION']);
    }
  });

  it('lets a member leave, with their memberships in its projects', async () => {
    const home = await office();
    const { ada, scope, project } = home;
    const bob = await member(app, scope.id, 'Organization Viewer');
    const admin = roleIdOf('Project Admin');
    const tag = await app.must('createTag', { scope, name: unique() }, as(ada));
    const inProject = await app.must('createTag', { scope: project, name: unique() }, as(ada));
    await app.must('updateUser', { scope, id: bob.userId, tagIds: [tag.id] }, as(ada));
    await app.must(
      'createUser',
      { scope: project, userId: bob.userId, roleIds: [admin], tagIds: [inProject.id], metadata: { a: 1 } },
      as(ada),
    );
    const [, projectId = ''] = project.id.split(':');
    const key = await keyToken(app, bob.token, joined('projectUser', projectId, bob.userId));
    await app.must('tags', { scope: project }, { token: key, via });

    const left = await app.must('removeOrganizationMember', { scope, userId: bob.userId }, as(bob));
    expect(left).toMatchObject({ id: bob.userId, roleId: VIEWER });
    expect((await recorded(scope.id)).last).toMatchObject({
      type: 'organization.member_removed',
      body: { data: { userId: bob.userId, roleId: VIEWER } },
    });
    expect(await membersOf(home)).toEqual([ada.userId]);
    expect((await app.must('users', { scope: project }, as(ada))).totalCount).toBe(0);
    for (const where of [scope, project]) {
      const gone = await app.call('tags', { scope: where }, as(bob));
      expect([gone.code, gone.reason]).toEqual(['FORBIDDEN', 'INVALID_SCOPE']);
    }
    expect((await app.call('tags', { scope: project }, { token: key, via })).code).toBe('UNAUTHENTICATED');
    const again = await app.call('removeOrganizationMember', { scope, userId: bob.userId }, as(ada));
    expect(again.code).toBe('NOT_FOUND');

    // A user who joins again does not get their former memberships back.
    await app.database.pool.execute(sql`
      insert into organization_members (tenant_id, user_id, role_id, role_tenant_id)
      select tenant_id, ${bob.userId}::uuid, ${VIEWER}::uuid, role_tenant_id
      from organization_members where tenant_id = ${scope.id}::uuid and user_id = ${ada.userId}::uuid`);
    expect((await app.must('users', { scope, tagIds: [tag.id] }, as(ada))).totalCount).toBe(0);
    await app.must('createUser', { scope: project, userId: bob.userId }, as(ada));
    const back = await app.must('users', { scope: project, roleId: admin }, as(ada));
    expect(back.totalCount).toBe(0);
    const tagged = await app.must('users', { scope: project, tagIds: [inProject.id] }, as(ada));
    expect(tagged.totalCount).toBe(0);
    expect((await app.call('tags', { scope: project }, { token: key, via })).code).toBe('UNAUTHENTICATED');
  });

  it('keeps the last owner, whatever would remove them', async () => {
    const home = await office();
    const { ada, scope } = home;
    const bob = await member(app, scope.id, 'Organization Owner');
    const leave = { scope, userId: ada.userId };
    await app.must('removeOrganizationMember', { scope, userId: bob.userId }, as(ada));
    expect((await app.call('removeOrganizationMember', leave, as(ada))).code).toBe('LAST_OWNER');
    expect((await app.call('deleteUser', { scope, id: ada.userId }, as(ada))).code).toBe('LAST_OWNER');
    // Unverified and managed owners do not count as owners.
    const eve = await member(app, scope.id, 'Organization Owner');
    const verified = (is: boolean) =>
      app.database.pool.execute(sql`update users set email_verified = ${is} where id = ${eve.userId}::uuid`);
    await verified(false);
    await app.must('createUser', { scope, name: 'Robot', roleIds: [OWNER] }, as(ada));
    expect((await app.call('removeOrganizationMember', leave, as(ada))).code).toBe('LAST_OWNER');
    await verified(true);
    const demote = { scope, userId: ada.userId, roleId: VIEWER };
    expect((await app.call('updateOrganizationMember', demote, as(eve))).ok).toBe(true);
    expect((await app.call('removeOrganizationMember', { scope, userId: eve.userId }, as(eve))).code).toBe(
      'LAST_OWNER',
    );
    expect(await membersOf({ ...home, ada: eve })).toContain(eve.userId);
  });

  it('needs a recent sign-in to grant, remove or give up ownership', async () => {
    const { ada, scope } = await office();
    const bob = await member(app, scope.id, 'Organization Viewer');
    const cyd = await member(app, scope.id, 'Organization Owner');
    app.clock.advance(16 * 60_000);
    const { token: accessToken, refreshToken } = ada;
    const fresh = await app.must('refreshSession', { accessToken, refreshToken });
    const old = { token: fresh.accessToken };
    const give = { scope, userId: bob.userId, roleId: OWNER };
    expect((await app.call('updateOrganizationMember', give, as(old))).code).toBe('STEP_UP_REQUIRED');
    const take = { scope, userId: cyd.userId };
    expect((await app.call('removeOrganizationMember', take, as(old))).code).toBe('STEP_UP_REQUIRED');
    const demote = { ...take, roleId: VIEWER };
    expect((await app.call('updateOrganizationMember', demote, as(old))).code).toBe('STEP_UP_REQUIRED');
    const leave = { scope, userId: ada.userId };
    expect((await app.call('removeOrganizationMember', leave, as(old))).code).toBe('STEP_UP_REQUIRED');
    // Other roles need no step-up.
    await app.must('updateOrganizationMember', { scope, userId: bob.userId, roleId: VIEWER }, as(old));
  });
});

it('keeps exactly one of two owners under concurrent removals', { tags: 'race' }, async () => {
  for (let round = 0; round < 3; round++) {
    const { ada, scope } = await office();
    const bob = await member(app, scope.id, 'Organization Owner');
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => {
        const [by, of] = n % 2 === 0 ? [ada, bob] : [bob, ada];
        return n % 4 < 2
          ? app.raw('removeOrganizationMember', { scope, userId: of.userId }, { token: by.token })
          : app.raw('deleteUser', { scope, id: by.userId }, { token: by.token });
      }),
    );
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
    // The removed owner gets NOT_FOUND or FORBIDDEN; the remaining one gets LAST_OWNER.
    for (const { code } of answers.filter(({ ok }) => !ok)) {
      expect(['LAST_OWNER', 'NOT_FOUND', 'FORBIDDEN']).toContain(code);
    }
    const owners = await rowsOf<{ id: string }>(
      app.database.pool,
      sql`select user_id as id from organization_members where tenant_id = ${scope.id}::uuid`,
    );
    expect(owners).toHaveLength(1);
    expect([ada.userId, bob.userId]).toContain(owners[0]?.id);
  }
});

it('removes a member once under concurrent calls', { tags: 'race' }, async () => {
  const { ada, scope } = await office();
  const bob = await member(app, scope.id, 'Organization Viewer');
  const answers = await Promise.all(
    Array.from({ length: 20 }, () =>
      app.raw('removeOrganizationMember', { scope, userId: bob.userId }, { token: ada.token }),
    ),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(19).fill(404)]);
  const { events } = await recorded(scope.id);
  expect(events.filter(({ type }) => type === 'organization.member_removed')).toHaveLength(1);
});
