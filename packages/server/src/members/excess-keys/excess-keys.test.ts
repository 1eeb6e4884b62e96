import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import { firmOf, type Firm } from '../../../test/support/tenants/firm.ts';
import { permissionIdOf, roleIdOf, type RoleName } from '../../schema/rights/built-in-ids.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import type { ScopeRef } from '../../kernel/scope.ts';

/** Keys that one user (the lead) made for another (the junior), when the junior gains rights. */
let app: TestApp;
let firm: Firm;
beforeAll(async () => {
  app = await startApp();
  firm = await firmOf(app);
});
afterAll(() => app.close());

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const as = ({ token }: { token: string }) => ({ token, via });
  const owner = () => as(firm.owner);
  const making = ['ApiKey:Create', 'ApiKey:CreateForUser', 'ApiKey:Query'] as const;

  /** A lead with a key for a junior; both have the same rights, except that the lead may create keys. */
  async function pair(...more: string[]) {
    const junior = await firm.user({}, 'Role:Query');
    const lead = await firm.user({}, ...making, 'Role:Query', ...more);
    const scope: ScopeRef = { tenant: 'projectUser', id: `${firm.projectId}:${junior.userId}` };
    const key = await app.must('createApiKey', { scope }, as(lead));
    const { accessToken } = await app.must('exchangeApiKey', {
      clientId: key.clientId,
      clientSecret: key.clientSecret ?? '',
      scope: key.scope,
    });
    const keyNow = async () =>
      (await app.must('apiKey', { scope: firm.project, id: key.id }, owner())) as {
        status: string;
        revokedBy: string | null;
        revokedReason: string | null;
      };
    return { junior, lead, key, scope, token: accessToken, keyNow };
  }
  const give = (userId: string, ...roleIds: string[]) =>
    app.must('updateUser', { scope: firm.project, id: userId, roleIds }, owner());
  const revoked = { status: 'revoked', revokedBy: null, revokedReason: 'userRightsGrew' };

  it('is revoked when the junior gains a right that the lead lacks, and records the reason', async () => {
    const { junior, key, scope, token, keyNow } = await pair();
    const { roleId } = await firm.role(firm.project, 'AuditLog:Query');
    expect((await app.call('roles', { scope: firm.project }, { token, via })).ok).toBe(true);
    const change = { scope: firm.project, id: junior.userId, roleIds: [junior.roleId, roleId] };
    const reported = (await app.call('updateUser', { ...change, dryRun: true } as never, owner())).data as {
      affected?: { subject: { type: string; id: string }; gains: unknown[]; loses: unknown[] }[];
    };
    if (via === 'rest') {
      const ofKey = reported.affected?.find(({ subject }) => subject.id === key.id);
      expect(ofKey).toMatchObject({ gains: [] });
      expect(ofKey?.loses).not.toEqual([]);
    }
    expect(await keyNow()).toMatchObject({ status: 'active' });

    await app.must('updateUser', change, owner());
    expect(await keyNow()).toMatchObject(revoked);
    expect((await app.call('roles', { scope: firm.project }, { token, via })).code).toBe('UNAUTHENTICATED');
    const again = { clientId: key.clientId, clientSecret: key.clientSecret ?? '', scope: key.scope };
    expect((await app.call('exchangeApiKey', again)).code).toBe('UNAUTHENTICATED');
    const events = await rowsOf<{ body: { type: string; actor: object; data: object } }>(
      app.database.pool,
      sql`select body from events where tenant_id = ${firm.projectId}::uuid order by sequence desc limit 2`,
    );
    expect(events.map(({ body }) => body.type).sort()).toEqual([
      'api_key.revoked',
      'project.user_roles_changed',
    ]);
    expect(events[0]?.body).toMatchObject({
      actor: { type: 'system', id: null },
      data: { id: key.id, ...revoked, scope: { id: scope.id } },
    });
    const [entry] = await rowsOf<{ operation: string; event: string }>(
      app.database.pool,
      sql`select operation, event from audit_log where tenant_id = ${firm.projectId}::uuid
        and operation = 'updateUser' order by sequence desc limit 1`,
    );
    expect(entry).toEqual({ operation: 'updateUser', event: 'project.user_roles_changed' });
  });

  it('stays valid when the lead has the right too, and when the junior gains nothing', async () => {
    const { junior, token, keyNow } = await pair('AuditLog:Query');
    const { roleId } = await firm.role(firm.project, 'AuditLog:Query');
    await give(junior.userId, junior.roleId, roleId);
    await app.must('updateUser', { scope: firm.project, id: junior.userId, metadata: { desk: 1 } }, owner());
    await give(junior.userId, junior.roleId);
    expect(await keyNow()).toMatchObject({ status: 'active', revokedReason: null });
    expect((await app.call('roles', { scope: firm.project }, { token, via })).ok).toBe(true);
  });

  it('is revoked when the role of the junior gains a permission, directly or through a group', async () => {
    const { project } = firm;
    const permissionIds = [permissionIdOf('Role:Query'), permissionIdOf('AuditLog:Query')];
    const first = await pair();
    await app.must('updateGroup', { scope: project, id: first.junior.groupId, permissionIds }, owner());
    expect(await first.keyNow()).toMatchObject(revoked);
    const second = await pair();
    const { groupId } = await firm.role(project, 'AuditLog:Query');
    const groupIds = [second.junior.groupId, groupId];
    await app.must('updateRole', { scope: project, id: second.junior.roleId, groupIds }, owner());
    expect(await second.keyNow()).toMatchObject(revoked);
  });

  it('is revoked when the condition on a right of both is removed', async () => {
    const when = { Equals: { 'resource.id': firm.projectId } };
    const update = { on: 'Role:Update', when };
    const junior = await firm.user({}, update);
    const lead = await firm.user({}, ...making, update);
    const scope: ScopeRef = { tenant: 'projectUser', id: `${firm.projectId}:${junior.userId}` };
    const { id } = await app.must('createApiKey', { scope }, as(lead));
    const release = (permissionId = '') =>
      app.must('updatePermission', { scope: firm.project, id: permissionId, condition: null }, owner());
    await release(lead.permissionIds.at(-1));
    expect((await app.must('apiKey', { scope: firm.project, id }, owner())).status).toBe('active');
    const other = await firm.user({}, ...making, update);
    const second = await app.must('createApiKey', { scope }, as(other));
    await release(junior.permissionIds[0]);
    expect((await app.must('apiKey', { scope: firm.project, id }, owner())).status).toBe('active');
    expect(await app.must('apiKey', { scope: firm.project, id: second.id }, owner())).toMatchObject(revoked);
  });

  it('is revoked in all projects when the organization role of the junior gains a permission', async () => {
    const { organization } = firm;
    const { junior, keyNow } = await pair();
    const roleId = roleIdOf('Organization Admin');
    await app.must(
      'updateOrganizationMember',
      { scope: organization, userId: junior.userId, roleId },
      owner(),
    );
    expect(await keyNow()).toMatchObject(revoked);
  });

  it('is revoked at the next right that the junior gains after the lead has left', async () => {
    const { junior, lead, keyNow } = await pair('AuditLog:Query');
    await app.must('removeOrganizationMember', { scope: firm.organization, userId: lead.userId }, owner());
    expect(await keyNow()).toMatchObject({ status: 'active' });
    const { roleId } = await firm.role(firm.project, 'AuditLog:Query');
    await give(junior.userId, junior.roleId, roleId);
    expect(await keyNow()).toMatchObject(revoked);
  });

  it('does not apply to keys that the junior made', async () => {
    const junior = await firm.user({}, 'ApiKey:Create', 'ApiKey:Query');
    const scope: ScopeRef = { tenant: 'projectUser', id: `${firm.projectId}:${junior.userId}` };
    const key = await app.must('createApiKey', { scope }, as(junior));
    const { roleId } = await firm.role(firm.project, 'AuditLog:Query');
    await give(junior.userId, junior.roleId, roleId);
    expect((await app.must('apiKey', { scope, id: key.id }, as(junior))).status).toBe('active');
  });

  describe('of a machine of the organization', () => {
    const promote = (userId: string, name: RoleName = 'Organization Admin') =>
      app.must(
        'updateOrganizationMember',
        { scope: firm.organization, userId, roleId: roleIdOf(name) },
        owner(),
      );

    /** A service user of the organization who may read there, with a key that an administrator made. */
    async function machine() {
      const { organization } = firm;
      const maker = await firm.member('Organization Admin');
      const reader = { kind: 'service' as const, roleIds: [roleIdOf('Organization Viewer')] };
      const { id: userId } = await app.must(
        'createUser',
        { scope: organization, name: 'Robot', ...reader },
        owner(),
      );
      const key = await app.must('createApiKey', { scope: organization, userId }, as(maker));
      const { accessToken: token } = await app.must('exchangeApiKey', {
        clientId: key.clientId,
        clientSecret: key.clientSecret ?? '',
        scope: key.scope,
      });
      const leave = () =>
        app.must('removeOrganizationMember', { scope: organization, userId: maker.userId }, owner());
      const keyNow = () => app.must('apiKey', { scope: organization, id: key.id }, owner());
      return { userId, key, token, leave, keyNow };
    }

    it('is revoked when the machine gains what its maker no longer holds', async () => {
      const { userId, key, token, leave, keyNow } = await machine();
      await leave();
      expect(await keyNow()).toMatchObject({ status: 'active' });
      await promote(userId);
      expect(await keyNow()).toMatchObject(revoked);
      expect((await app.call('tags', { scope: firm.organization }, { token, via })).code).toBe(
        'UNAUTHENTICATED',
      );
      const [event] = await rowsOf<{ body: object }>(
        app.database.pool,
        sql`select body from events where tenant_id = ${firm.organization.id}::uuid and body->>'type' = 'api_key.revoked'
          order by sequence desc limit 1`,
      );
      expect(event?.body).toMatchObject({
        actor: { type: 'system', id: null },
        scope: firm.organization,
        data: { id: key.id, ...revoked, scope: { tenant: 'Organization', id: firm.organization.id } },
      });
    });

    it('stays valid when its maker holds that too, and when the machine loses rights', async () => {
      const { userId, token, leave, keyNow } = await machine();
      await promote(userId);
      expect(await keyNow()).toMatchObject({ status: 'active' });
      await leave();
      await promote(userId, 'Organization Viewer');
      expect(await keyNow()).toMatchObject({ status: 'active', revokedReason: null });
      expect((await app.call('tags', { scope: firm.organization }, { token, via })).ok).toBe(true);
    });

    it('is revoked when the machine gains rights in a project', async () => {
      const { userId, leave, keyNow } = await machine();
      await leave();
      const { roleId } = await firm.role(firm.project, 'Tag:Create');
      await app.must('createUser', { scope: firm.project, userId, roleIds: [roleId] }, owner());
      expect(await keyNow()).toMatchObject(revoked);
    });
  });
});
