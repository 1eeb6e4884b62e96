import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { joined, keyToken, member } from '../../../test/contract/world.ts';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import { unique, type Person } from '../../../test/support/app/client.ts';
import { roleIdOf } from '../../schema/rights/built-in-ids.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import type { ScopeRef } from '../../kernel/scope.ts';

/** Users of a tenant: memberships, metadata and roles, invisible to other tenants. */
let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const VIEWER = roleIdOf('Organization Viewer');
const DEVELOPER = roleIdOf('Organization Developer');
const PROJECT_ADMIN = roleIdOf('Project Admin');
const PROJECT_VIEWER = roleIdOf('Project Viewer');

interface Firm {
  readonly ada: Person;
  readonly organization: ScopeRef;
  readonly project: ScopeRef;
  readonly projectId: string;
}

/** An organization of Ada's with one project. */
async function firm(): Promise<Firm> {
  const ada = await app.person({ type: 'organization', name: 'Ada Owner' });
  const as = { token: ada.token };
  const { id } = await app.must('createOrganization', { scope: ada.account, name: `Firm ${unique()}` }, as);
  const organization = joined('organization', id);
  const project = await app.must('createProject', { scope: organization, name: 'Shop' }, as);
  return { ada, organization, project: project.scope, projectId: project.id };
}

interface Event {
  readonly type: string;
  readonly body: { data: Record<string, unknown>; changes?: Record<string, unknown> };
}

const nodeOf = ({ id }: ScopeRef) => id.split(':').at(-1) ?? '';

const eventsOf = (scope: ScopeRef) =>
  rowsOf<Event>(
    app.database.pool,
    sql`select type, body from events where tenant_id = ${nodeOf(scope)}::uuid order by sequence`,
  );

const auditOf = (scope: ScopeRef) =>
  rowsOf<{ operation: string; event: string | null; changes: Record<string, unknown> | null }>(
    app.database.pool,
    sql`select operation, event, changes from audit_log where tenant_id = ${nodeOf(scope)}::uuid order by sequence`,
  );

/** Events may contain only these fields of a user. */
const publicFields = [
  'createdAt',
  'deletedAt',
  'email',
  'emailVerified',
  'id',
  'isManaged',
  'kind',
  'locale',
  'metadata',
  'name',
  'pictureUrl',
  'status',
  'suspendedAt',
  'updatedAt',
];

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const as = ({ token }: { token: string }) => ({ token, via });
  const key = (token: string) => ({ token, via });

  describe('joining', () => {
    it('creates a managed user of an organization, with one role', async () => {
      const { ada, organization } = await firm();
      const tag = await app.must('createTag', { scope: organization, name: unique() }, as(ada));
      const robot = await app.must(
        'createUser',
        {
          scope: organization,
          name: 'Robot',
          pictureUrl: 'https://example.test/robot.png',
          metadata: { shift: 'night' },
          roleIds: [VIEWER],
          tagIds: [tag.id],
        },
        as(ada),
      );
      expect(robot).toMatchObject({
        name: 'Robot',
        email: null,
        emailVerified: false,
        pictureUrl: 'https://example.test/robot.png',
        status: 'active',
        isManaged: true,
        metadata: { shift: 'night' },
        deletedAt: null,
      });
      const [created, joinedAs] = (await eventsOf(organization)).slice(-2);
      expect([created?.type, joinedAs?.type]).toEqual(['user.created', 'organization.member_added']);
      expect(created?.body.data).toMatchObject({ id: robot.id, metadata: { shift: 'night' } });
      expect(Object.keys(created?.body.data ?? {}).sort()).toEqual(publicFields);
      expect(joinedAs?.body.data).toMatchObject({ userId: robot.id, roleId: VIEWER });
      expect((await auditOf(organization)).at(-1)).toMatchObject({
        operation: 'createUser',
        event: 'user.created',
      });
      const listed = await app.call(
        'users',
        { scope: organization, ids: [robot.id], ...(via === 'rest' ? { relations: ['roles', 'tags'] } : {}) },
        { ...as(ada), select: '{ items { id roles { id } tags { id } } totalCount }' },
      );
      expect(listed.data).toMatchObject({
        totalCount: 1,
        items: [{ id: robot.id, roles: [{ id: VIEWER }], tags: [{ id: tag.id }] }],
      });
    });

    it('reports each invalid field', async () => {
      const { ada, organization, project } = await firm();
      const refused = async (scope: ScopeRef, input: object) => {
        const answer = await app.raw('createUser', { scope, ...input }, as(ada));
        expect(answer.code, answer.body).toBe('VALIDATION_ERROR');
        return answer.details.map(({ path, code }) => `${path} ${code}`);
      };
      const both = [VIEWER, DEVELOPER];
      expect(await refused(organization, { name: 'x' })).toEqual(['roleIds required']);
      expect(await refused(organization, { name: 'x', roleIds: [] })).toEqual(['roleIds too_short']);
      expect(await refused(organization, { name: 'x', roleIds: both })).toEqual(['roleIds too_long']);
      expect(await refused(organization, { userId: ada.userId, roleIds: [VIEWER] })).toEqual([
        'userId not_allowed',
      ]);
      expect(await refused(project, {})).toEqual(['name required']);
      expect(await refused(project, { name: 'x', userId: ada.userId })).toEqual(['userId excluded']);
      expect(await refused(project, { userId: ada.userId, pictureUrl: null })).toEqual([
        'pictureUrl excluded',
      ]);
      const many = Array.from({ length: 21 }, () => randomUUID());
      expect(await refused(project, { name: 'x', roleIds: many })).toEqual(['roleIds too_long']);
      expect(await refused(project, { name: 'x', metadata: null })).toEqual(['metadata type']);
      const robot = await app.must('createUser', { scope: project, name: 'Robot' }, as(ada));
      const changed = await app.raw('updateUser', { scope: project, id: robot.id, name: null }, as(ada));
      expect(changed.details).toMatchObject([{ path: 'name', code: 'type' }]);
    });

    it('adds a member of the organization to a project, once', async () => {
      const { ada, organization, project } = await firm();
      const bob = await member(app, organization.id, 'Organization Viewer');
      const add = { scope: project, userId: bob.userId, roleIds: [PROJECT_VIEWER], metadata: { desk: 4 } };
      const added = await app.must('createUser', add, as(ada));
      expect(added).toMatchObject({ id: bob.userId, isManaged: false, metadata: { desk: 4 } });
      expect((await eventsOf(project)).map(({ type }) => type)).not.toContain('user.created');
      expect((await eventsOf(project)).at(-1)).toMatchObject({
        type: 'project.user_added',
        body: { data: { userId: bob.userId, roleIds: [PROJECT_VIEWER] } },
      });
      const again = await app.call('createUser', add, as(ada));
      expect(again).toMatchObject({ code: 'CONFLICT', details: [{ path: 'userId', code: 'taken' }] });
      const robot = await app.must(
        'createUser',
        { scope: organization, name: 'Robot', roleIds: [VIEWER] },
        as(ada),
      );
      await app.must('createUser', { scope: project, userId: robot.id }, as(ada));
    });

    it('refuses a user who is not related to the owner of the project', async () => {
      const home = await firm();
      const { ada, organization, project } = home;
      const other = await firm();
      const theirs = await app.must(
        'createUser',
        { scope: other.organization, name: 'Theirs', roleIds: [VIEWER] },
        as(other.ada),
      );
      const inProject = await app.must('createUser', { scope: other.project, name: 'P' }, as(other.ada));
      const gone = await app.must(
        'createUser',
        { scope: organization, name: 'Gone', roleIds: [VIEWER] },
        as(ada),
      );
      await app.must('deleteUser', { scope: organization, id: gone.id }, as(ada));
      const account = await app.must('createProject', { scope: ada.account, name: 'Own' }, as(ada));
      const bob = await member(app, organization.id, 'Organization Viewer');
      const bodies = new Set<string>();
      const ask = async (scope: ScopeRef, userId: string) => {
        const headers = { 'x-request-id': 'nobody-is-here' };
        const answer = await app.call('createUser', { scope, userId }, { ...as(ada), headers });
        expect(answer.code).toBe('NOT_FOUND');
        bodies.add(answer.body);
      };
      for (const id of [other.ada.userId, theirs.id, inProject.id, gone.id, randomUUID()]) {
        await ask(project, id);
        await ask(account.scope, id);
      }
      // Members of an organization of the owner are not related to projects of the account.
      await ask(account.scope, bob.userId);
      expect(bodies.size).toBe(1);
      for (const id of [theirs.id, inProject.id, gone.id, other.ada.userId]) {
        for (const scope of [organization, project]) {
          expect((await app.call('user', { scope, id }, as(ada))).code).toBe('NOT_FOUND');
          expect((await app.call('updateUser', { scope, id, metadata: { a: 1 } }, as(ada))).code).toBe(
            'NOT_FOUND',
          );
          expect((await app.call('deleteUser', { scope, id }, as(ada))).code).toBe('NOT_FOUND');
        }
      }
      const tag = await app.must('createTag', { scope: other.organization, name: unique() }, as(other.ada));
      const role = await app.must('createRole', { scope: other.project, name: 'R' }, as(other.ada));
      for (const foreign of [{ tagIds: [tag.id] }, { roleIds: [role.id] }, { roleIds: [VIEWER] }]) {
        const answer = await app.call('createUser', { scope: project, name: 'x', ...foreign }, as(ada));
        expect(answer.code).toBe('NOT_FOUND');
      }
    });

    it('lets the owner of an account join their own project', async () => {
      const ada = await app.person();
      const { scope } = await app.must('createProject', { scope: ada.account, name: 'Solo' }, as(ada));
      expect((await app.must('users', { scope }, as(ada))).totalCount).toBe(0);
      const role = await app.must('createRole', { scope, name: 'Editor' }, as(ada));
      await app.must('createUser', { scope, userId: ada.userId, roleIds: [role.id] }, as(ada));
      const listed = await app.must('users', { scope, roleId: role.id }, as(ada));
      expect(listed.items.map(({ id }) => id)).toEqual([ada.userId]);
    });

    it('grants no more than the caller holds', async () => {
      const { organization, project } = await firm();
      const dev = await member(app, organization.id, 'Organization Developer');
      const bob = await member(app, organization.id, 'Organization Viewer');
      const create = (input: object) => app.raw('createUser', { name: 'x', ...input }, as(dev));
      const admin = { scope: organization, roleIds: [roleIdOf('Organization Admin')] };
      expect((await create(admin)).code).toBe('PRIVILEGE_ESCALATION');
      expect((await create({ scope: project, roleIds: [PROJECT_ADMIN] })).code).toBe('PRIVILEGE_ESCALATION');
      const existing = { scope: project, userId: bob.userId, roleIds: [PROJECT_ADMIN] };
      expect((await app.raw('createUser', existing, as(dev))).code).toBe('PRIVILEGE_ESCALATION');
      expect((await create({ scope: organization, roleIds: [VIEWER] })).ok).toBe(true);
      expect((await app.raw('createUser', { scope: project, name: 'x' }, as(bob))).reason).toBe(
        'NO_PERMISSION',
      );
      const count = await rowsOf<{ count: number }>(
        app.database.pool,
        sql`select count(*)::int as count from users where managed_by in (${organization.id}::uuid, ${nodeOf(project)}::uuid)`,
      );
      expect(count).toEqual([{ count: 1 }]);
    });
  });

  describe('metadata of a scope', () => {
    it('is merged over that of the organization, and replaced alone', async () => {
      const { ada, organization, project } = await firm();
      const bob = await member(app, organization.id, 'Organization Viewer');
      const id = bob.userId;
      await app.must('updateUser', { scope: organization, id, metadata: { a: 1, b: 1 } }, as(ada));
      const added = await app.must(
        'createUser',
        { scope: project, userId: id, metadata: { b: 2, c: 2 } },
        as(ada),
      );
      expect(added.metadata).toEqual({ a: 1, b: 2, c: 2 });
      const changed = await app.must('updateUser', { scope: project, id, metadata: { d: 3 } }, as(ada));
      expect(changed.metadata).toEqual({ a: 1, b: 1, d: 3 });
      expect((await eventsOf(project)).at(-1)).toMatchObject({
        type: 'user.updated',
        body: { data: { metadata: changed.metadata }, changes: { metadata: { from: { b: 2, c: 2 } } } },
      });
      const [listed] = (await app.must('users', { scope: project }, as(ada))).items;
      expect(listed?.metadata).toEqual({ a: 1, b: 1, d: 3 });
      const above = await app.must('user', { scope: organization, id }, as(ada));
      expect(above.metadata).toEqual({ a: 1, b: 1 });
      const members = await app.must('organizationMembers', { scope: organization, ids: [id] }, as(ada));
      expect(members.items[0]?.metadata).toEqual({ a: 1, b: 1 });
      expect((await app.must('me', {}, as(bob))).user.metadata).toEqual({});
    });

    it('takes effect in conditions at once, so callers cannot set their own', async () => {
      const { ada, organization, project, projectId } = await firm();
      const resource = await app.must(
        'createResource',
        { scope: project, name: 'Vault', slug: 'vault', actions: ['open'] },
        as(ada),
      );
      const permission = await app.must(
        'createPermission',
        {
          scope: project,
          resourceId: resource.id,
          action: 'open',
          condition: { Equals: { 'user.metadata.cleared': true } },
        },
        as(ada),
      );
      const group = await app.must(
        'createGroup',
        { scope: project, name: 'G', permissionIds: [permission.id] },
        as(ada),
      );
      const guard = await app.must(
        'createRole',
        { scope: project, name: 'Guard', groupIds: [group.id] },
        as(ada),
      );
      const bob = await member(app, organization.id, 'Organization Admin');
      const id = bob.userId;
      const roleIds = [guard.id, PROJECT_ADMIN];
      const himself = { scope: project, userId: id, metadata: { cleared: true } };
      expect((await app.call('createUser', himself, as(bob))).code).toBe('FORBIDDEN');
      await app.must('createUser', { scope: project, userId: id, roleIds }, as(ada));
      const opens = async () => {
        const ask = { scope: project, permission: { resource: 'vault', action: 'open' } };
        return (await app.must('isAuthorized', ask, as(bob))).reason;
      };
      expect(await opens()).toBe('CONDITION_NOT_MET');

      const ofHisOwn = await keyToken(app, bob.token, joined('projectUser', projectId, id));
      const ofTheProject = await keyToken(app, bob.token, project, PROJECT_ADMIN);
      const metadata = { cleared: true };
      for (const token of [bob.token, ofHisOwn, ofTheProject]) {
        const changed = await app.call('updateUser', { scope: project, id, metadata }, key(token));
        expect(changed.code).toBe('FORBIDDEN');
        const assigned = await app.call(
          'updateUser',
          { scope: project, id, roleIds: [guard.id] },
          key(token),
        );
        expect(assigned.code).toBe('FORBIDDEN');
        // Sending back the present values changes nothing and is allowed.
        const same = await app.call('updateUser', { scope: project, id, metadata: {}, roleIds }, key(token));
        expect(same.ok, same.body).toBe(true);
      }
      const above = await app.call('updateUser', { scope: organization, id, metadata }, as(bob));
      expect(above.code).toBe('FORBIDDEN');
      expect(await opens()).toBe('CONDITION_NOT_MET');
      await app.must('updateUser', { scope: organization, id, metadata }, as(ada));
      expect(await opens()).toBe('ALLOWED_BY_CONDITION');
      await app.must('updateUser', { scope: project, id, metadata: { cleared: false } }, as(ada));
      expect(await opens()).toBe('CONDITION_NOT_MET');

      // Leaving and joining again with a key must not get around the rule.
      await app.must('deleteUser', { scope: project, id }, as(bob));
      for (const more of [{ roleIds: [PROJECT_ADMIN] }, { metadata }]) {
        const back = await app.call('createUser', { scope: project, userId: id, ...more }, key(ofTheProject));
        expect(back.code).toBe('FORBIDDEN');
      }
    });

    it('cannot be set for users with more rights than the caller', async () => {
      const { ada, organization, project } = await firm();
      const dev = await member(app, organization.id, 'Organization Developer');
      const peer = await member(app, organization.id, 'Organization Developer');
      const boss = await member(app, organization.id, 'Organization Admin');
      const boy = await app.must(
        'createUser',
        { scope: organization, name: 'Boss Robot', roleIds: [roleIdOf('Organization Admin')] },
        as(ada),
      );
      const change = (input: object) => app.raw('updateUser', { scope: organization, ...input }, as(dev));
      for (const id of [boss.userId, boy.id]) {
        expect((await change({ id, metadata: { a: 1 } })).code).toBe('PRIVILEGE_ESCALATION');
        expect((await change({ id, roleIds: [VIEWER] })).code).toBe('PRIVILEGE_ESCALATION');
      }
      expect((await change({ id: boy.id, status: 'disabled' })).code).toBe('PRIVILEGE_ESCALATION');
      expect((await change({ id: peer.userId, metadata: { a: 1 } })).ok).toBe(true);
      // In a project, rights from the organization count as well.
      await app.must('createUser', { scope: project, userId: boss.userId }, as(ada));
      const clerk = await keyToken(app, ada.token, project, PROJECT_ADMIN);
      const there = (name: string, input: object) =>
        app.raw(name, { scope: project, id: boss.userId, ...input }, key(clerk));
      expect((await there('updateUser', { metadata: { a: 1 } })).code).toBe('PRIVILEGE_ESCALATION');
      // A caller with fewer rights may add a role, but not remove it.
      expect((await there('updateUser', { roleIds: [PROJECT_VIEWER] })).ok).toBe(true);
      expect((await there('updateUser', { roleIds: [] })).code).toBe('PRIVILEGE_ESCALATION');
      expect((await there('deleteUser', {})).code).toBe('PRIVILEGE_ESCALATION');
      const over = { scope: project, userId: dev.userId, metadata: { a: 1 } };
      expect((await app.call('createUser', over, key(clerk))).code).toBe('PRIVILEGE_ESCALATION');
    });

    it('replaces roles and tags, and records each kind of change', async () => {
      const { ada, organization, project } = await firm();
      const bob = await member(app, organization.id, 'Organization Viewer');
      const id = bob.userId;
      const tag = await app.must('createTag', { scope: project, name: unique() }, as(ada));
      await app.must('createUser', { scope: project, userId: id, roleIds: [PROJECT_VIEWER] }, as(ada));
      const before = (await auditOf(project)).length;
      const patch = { scope: project, id, metadata: { a: 1 }, roleIds: [PROJECT_ADMIN], tagIds: [tag.id] };
      await app.must('updateUser', patch, as(ada));
      const [updated, changed] = (await eventsOf(project)).slice(-2);
      expect([updated?.type, changed?.type]).toEqual(['user.updated', 'project.user_roles_changed']);
      expect(Object.keys(updated?.body.data ?? {}).sort()).toEqual(publicFields);
      const roles = { from: [PROJECT_VIEWER], to: [PROJECT_ADMIN] };
      expect(changed?.body.changes).toEqual({ roleIds: roles });
      const audit = await auditOf(project);
      expect(audit).toHaveLength(before + 1);
      expect(audit.at(-1)?.changes).toEqual({
        metadata: { from: {}, to: { a: 1 } },
        tagIds: { from: [], to: [tag.id] },
        roleIds: roles,
      });
      const events = (await eventsOf(project)).length;
      const again = await app.must('updateUser', patch, as(ada));
      expect(again.metadata).toEqual({ a: 1 });
      await app.must('updateUser', { scope: project, id }, as(ada));
      expect(await auditOf(project)).toHaveLength(audit.length);
      expect(await eventsOf(project)).toHaveLength(events);
      await app.must('updateUser', { scope: project, id, roleIds: [], tagIds: [] }, as(ada));
      const bare = await app.call(
        'user',
        { scope: project, id, ...(via === 'rest' ? { relations: ['roles', 'tags'] } : {}) },
        { ...as(ada), select: '{ id metadata roles { id } tags { id } }' },
      );
      expect(bare.data).toMatchObject({ metadata: { a: 1 }, roles: [], tags: [] });
      await app.must('updateUser', { scope: organization, id, roleIds: [DEVELOPER] }, as(ada));
      expect((await eventsOf(organization)).at(-1)).toMatchObject({
        type: 'organization.member_role_changed',
        body: { changes: { roleId: { from: VIEWER, to: DEVELOPER } } },
      });
      const none = await app.call('updateUser', { scope: organization, id, roleIds: [] }, as(ada));
      expect(none.details).toMatchObject([{ path: 'roleIds', code: 'too_short' }]);
    });

    it('lets only the user or the managing scope change the profile', async () => {
      const { ada, organization, project, projectId } = await firm();
      const bob = await member(app, organization.id, 'Organization Viewer');
      const robot = await app.must(
        'createUser',
        { scope: organization, name: 'Robot', roleIds: [VIEWER] },
        as(ada),
      );
      for (const userId of [bob.userId, robot.id]) {
        await app.must('createUser', { scope: project, userId, roleIds: [PROJECT_VIEWER] }, as(ada));
      }
      const identity = [{ name: 'X' }, { pictureUrl: 'https://example.test/x' }, { status: 'disabled' }];
      for (const more of identity) {
        for (const [scope, id] of [
          [organization, bob.userId],
          [project, bob.userId],
          [project, robot.id],
        ] as const) {
          expect((await app.raw('updateUser', { scope, id, ...more }, as(ada))).code).toBe('FORBIDDEN');
        }
      }
      const token = await keyToken(app, ada.token, joined('projectUser', projectId, robot.id));
      await app.must('tags', { scope: project }, key(token));
      const update = (more: object) =>
        app.raw('updateUser', { scope: organization, id: robot.id, ...more }, as(ada));
      const named = await update({ name: 'Robot 2', pictureUrl: 'https://example.test/2' });
      expect(named.data).toMatchObject({ name: 'Robot 2', pictureUrl: 'https://example.test/2' });
      expect((await update({ pictureUrl: null })).data).toMatchObject({ pictureUrl: null });
      expect((await eventsOf(organization)).at(-1)).toMatchObject({
        type: 'user.updated',
        body: { changes: { pictureUrl: { from: 'https://example.test/2', to: null } } },
      });
      expect((await update({ status: 'disabled' })).data).toMatchObject({ status: 'disabled' });
      expect((await app.call('tags', { scope: project }, key(token))).code).toBe('UNAUTHENTICATED');
      expect((await update({ status: 'active' })).ok).toBe(true);
      await app.must('tags', { scope: project }, key(token));
    });
  });

  describe('leaving', () => {
    it('leaves a project and stays in the organization', async () => {
      const { ada, organization, project, projectId } = await firm();
      const bob = await member(app, organization.id, 'Organization Viewer');
      const robot = await app.must(
        'createUser',
        { scope: organization, name: 'Robot', roleIds: [VIEWER], metadata: { a: 1 } },
        as(ada),
      );
      const tag = await app.must('createTag', { scope: project, name: unique() }, as(ada));
      for (const id of [bob.userId, robot.id]) {
        const more = { roleIds: [PROJECT_ADMIN], tagIds: [tag.id], metadata: { b: 2 } };
        await app.must('createUser', { scope: project, userId: id, ...more }, as(ada));
        const token = await keyToken(app, ada.token, joined('projectUser', projectId, id));
        await app.must('tags', { scope: project }, key(token));
        const gone = await app.must('deleteUser', { scope: project, id }, as(ada));
        expect(gone).toMatchObject({ id, deletedAt: expect.any(String) as string });
        expect(gone.metadata).toMatchObject({ b: 2 });
        expect((await app.call('tags', { scope: project }, key(token))).code).toBe('UNAUTHENTICATED');
        expect((await app.call('user', { scope: project, id }, as(ada))).code).toBe('NOT_FOUND');
        expect((await eventsOf(project)).at(-1)?.type).toBe('project.user_removed');
        const stays = await app.must('user', { scope: organization, id }, as(ada));
        expect(stays).toMatchObject({ deletedAt: null, status: 'active' });
        // Joining again restores nothing.
        const back = await app.must('createUser', { scope: project, userId: id }, as(ada));
        expect(back.metadata).not.toHaveProperty('b');
        const tagged = await app.must('users', { scope: project, tagIds: [tag.id] }, as(ada));
        expect(tagged.totalCount).toBe(0);
      }
    });

    it('deletes a managed user without another membership, by either operation', async () => {
      const { ada, organization, project } = await firm();
      const managed = async (scope: ScopeRef) =>
        (
          await app.must(
            'createUser',
            { scope, name: 'Robot', roleIds: scope === organization ? [VIEWER] : [] },
            as(ada),
          )
        ).id;
      const live = async (id: string) => {
        const rows = await rowsOf<{ live: boolean }>(
          app.database.pool,
          sql`select deleted_at is null as live from users where id = ${id}::uuid`,
        );
        return rows[0]?.live;
      };
      const inProject = await managed(project);
      const gone = await app.must('deleteUser', { scope: project, id: inProject }, as(ada));
      expect(gone.deletedAt).toBeTypeOf('string');
      expect(await live(inProject)).toBe(false);
      const [left, ended] = (await eventsOf(project)).slice(-2);
      expect([left?.type, ended?.type]).toEqual(['project.user_removed', 'user.deleted']);
      expect(ended?.body.data).toMatchObject({ id: inProject, deletedAt: gone.deletedAt });
      expect(Object.keys(ended?.body.data ?? {}).sort()).toEqual(publicFields);

      for (const door of ['deleteUser', 'removeOrganizationMember'] as const) {
        const id = await managed(organization);
        await app.must('createUser', { scope: project, userId: id }, as(ada));
        await app.must('deleteUser', { scope: project, id }, as(ada));
        expect(await live(id)).toBe(true);
        await app.must('createUser', { scope: project, userId: id }, as(ada));
        const target = door === 'deleteUser' ? { id } : { userId: id };
        expect((await app.raw(door, { scope: organization, ...target }, as(ada))).ok).toBe(true);
        expect(await live(id)).toBe(false);
        expect((await app.must('users', { scope: project, ids: [id] }, as(ada))).totalCount).toBe(0);
        expect((await eventsOf(organization)).slice(-2).map(({ type }) => type)).toEqual([
          'organization.member_removed',
          'user.deleted',
        ]);
      }
    });

    it('gives a key no rights of the user who created it', async () => {
      const { ada, organization, project } = await firm();
      const permissions = await app.must(
        'permissions',
        { scope: project, isSystem: true, search: 'User:', limit: 100 },
        as(ada),
      );
      const permissionIds = permissions.items
        .filter(({ name }) => name === 'User:Delete')
        .map(({ id }) => id);
      const group = await app.must('createGroup', { scope: project, name: 'G', permissionIds }, as(ada));
      const sweeper = await app.must(
        'createRole',
        { scope: project, name: 'Sweeper', groupIds: [group.id] },
        as(ada),
      );
      const token = await keyToken(app, ada.token, project, sweeper.id);
      await app.must('createUser', { scope: project, userId: ada.userId }, as(ada));
      const bob = await member(app, organization.id, 'Organization Viewer');
      await app.must('createUser', { scope: project, userId: bob.userId }, as(ada));
      // The `sub` of the key is Ada, but its role allows only `User:Delete`.
      for (const id of [ada.userId, bob.userId]) {
        const swept = await app.call('deleteUser', { scope: project, id }, key(token));
        expect(swept.code).toBe('PRIVILEGE_ESCALATION');
      }
      expect((await app.call('deleteUser', { scope: project, id: ada.userId }, as(bob))).reason).toBe(
        'NO_PERMISSION',
      );
      await app.must('deleteUser', { scope: project, id: ada.userId }, as(ada));
    });
  });

  it('finds users by role, tag, text and id', async () => {
    const { ada, organization, project } = await firm();
    const tag = await app.must('createTag', { scope: project, name: unique() }, as(ada));
    const made: Record<string, string> = {};
    for (const [name, roleIds, tagIds] of [
      ['Cleo Carpenter', [PROJECT_VIEWER], [tag.id]],
      ['Abe Baker', [PROJECT_VIEWER, PROJECT_ADMIN], []],
      ['Bea Carpenter', [], [tag.id]],
    ] as const) {
      const input = { scope: project, name, roleIds: [...roleIds], tagIds: [...tagIds] };
      made[name.slice(0, 1)] = (await app.must('createUser', input, as(ada))).id;
    }
    const namesWith = async (filter: object) =>
      (await app.must('users', { scope: project, sortField: 'name', ...filter }, as(ada))).items.map(
        ({ name }) => name.slice(0, 1),
      );
    expect(await namesWith({})).toEqual(['A', 'B', 'C']);
    expect(await namesWith({ sortOrder: 'DESC', limit: 2 })).toEqual(['C', 'B']);
    expect(await namesWith({ roleId: PROJECT_VIEWER })).toEqual(['A', 'C']);
    expect(await namesWith({ roleId: VIEWER })).toEqual([]);
    expect(await namesWith({ tagIds: [tag.id] })).toEqual(['B', 'C']);
    expect(await namesWith({ search: 'CARPENTER', roleId: PROJECT_VIEWER })).toEqual(['C']);
    expect(await namesWith({ ids: [made['A'] ?? '', randomUUID()] })).toEqual(['A']);
    const members = await app.must('users', { scope: organization, search: 'ada own' }, as(ada));
    expect(members.items.map(({ id }) => id)).toEqual([ada.userId]);
  });
});

it(
  'does not add a user to a project who leaves its organization concurrently',
  { tags: 'race' },
  async () => {
    const { ada, organization, project } = await firm();
    const token = ada.token;
    for (let round = 0; round < 10; round++) {
      const bob = await member(app, organization.id, 'Organization Viewer');
      const [removed] = await Promise.all([
        app.call('removeOrganizationMember', { scope: organization, userId: bob.userId }, { token }),
        ...Array.from({ length: 4 }, () =>
          app.call('createUser', { scope: project, userId: bob.userId }, { token }),
        ),
      ]);
      expect(removed.ok, removed.body).toBe(true);
      const { totalCount } = await app.must('users', { scope: project, ids: [bob.userId] }, { token });
      expect(totalCount).toBe(0);
    }
  },
);

it('adds a user once under concurrent calls', { tags: 'race' }, async () => {
  const { ada, organization, project } = await firm();
  const bob = await member(app, organization.id, 'Organization Viewer');
  const answers = await Promise.all(
    Array.from({ length: 20 }, () =>
      app.raw('createUser', { scope: project, userId: bob.userId }, { token: ada.token }),
    ),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(19).fill(409)]);
});
