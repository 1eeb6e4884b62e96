import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pascalTenant, type ScopeRef, type Tenant } from '../../src/kernel/scope.ts';
import { startApp, type TestApp } from '../support/app/app.ts';
import { storyTransports } from '../support/cases/breadth.ts';
import { firmOf, may, type Firm } from '../support/tenants/firm.ts';

/**
 * A condition on attributes of the user is another permission for another user: a holder who does not meet it could
 * give it to a user who does, and act through them.
 */
const cleared = { Equals: { 'user.metadata.cleared': true } };
const auditIfCleared = { on: 'AuditLog:Query', when: cleared };

let app: TestApp;
let firm: Firm;
beforeAll(async () => {
  app = await startApp();
  firm = await firmOf(app);
});
afterAll(() => app.close());

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const as = ({ token }: { token: string }) => ({ token, via });

  async function tokenOf(key: { clientId: string; clientSecret?: string | null }, scope: ScopeRef) {
    const { accessToken } = await app.must('exchangeApiKey', {
      clientId: key.clientId,
      clientSecret: key.clientSecret ?? '',
      scope: { tenant: pascalTenant(scope.tenant as Tenant), id: scope.id },
    });
    return accessToken;
  }

  it('is granted to no other user, to act through them', async () => {
    const { project } = firm;
    const lead = await firm.user(
      {},
      ...['User:Query', 'User:Create', 'User:Update', 'ApiKey:Create', 'ApiKey:CreateForUser'],
      auditIfCleared,
    );
    const robot = { scope: project, name: 'Robot', metadata: { cleared: true } };
    for (const dryRun of [true, false]) {
      const made = await app.call(
        'createUser',
        { ...robot, dryRun, roleIds: [lead.roleId] } as never,
        as(lead),
      );
      expect(made).toMatchObject({ ok: false, code: 'PRIVILEGE_ESCALATION' });
      expect(made.details).toMatchObject([{ path: 'AuditLog:Query', code: 'permission' }]);
    }
    const { id } = await app.must('createUser', robot, as(lead));
    for (const dryRun of [true, false]) {
      const given = { scope: project, id, roleIds: [lead.roleId], dryRun };
      expect((await app.call('updateUser', given as never, as(lead))).code).toBe('PRIVILEGE_ESCALATION');
    }
    // A user who has it from another source is no way around either: neither by their metadata, nor by a key.
    await app.must('updateUser', { scope: project, id, roleIds: [lead.roleId] }, as(firm.owner));
    const changed = { scope: project, id, metadata: { cleared: true, more: 1 } };
    expect((await app.call('updateUser', changed as never, as(lead))).code).toBe('PRIVILEGE_ESCALATION');
    const scope: ScopeRef = { tenant: 'projectUser', id: `${firm.projectId}:${id}` };
    expect((await app.call('createApiKey', { scope }, as(lead))).code).toBe('PRIVILEGE_ESCALATION');
    expect(await may(app, lead.token, project, 'AuditLog:Query')).toBe(false);
  });

  it('is not added to a role, group or permission that others may hold', async () => {
    const { project } = firm;
    const nouns = ['Role', 'Group', 'Permission'].flatMap((noun) => [`${noun}:Update`, `${noun}:Query`]);
    // Not `Permission:Create`, because its holder defines permissions; and met, by the cleared user.
    const lead = await firm.user({ cleared: true }, ...nouns, 'Role:Create', 'Group:Create', auditIfCleared);
    const made = await app.call(
      'createRole',
      { scope: project, name: 'Copy', groupIds: [lead.groupId] },
      as(lead),
    );
    expect(made.code).toBe('PRIVILEGE_ESCALATION');
    const renamed = await app.call('updateRole', { scope: project, id: lead.roleId, name: 'X' }, as(lead));
    expect(renamed.code).toBe('PRIVILEGE_ESCALATION');
    expect(await may(app, lead.token, project, 'AuditLog:Query')).toBe(true);
  });

  it('is granted to a key of the same user, who meets it now', async () => {
    const { project } = firm;
    const rights = ['ApiKey:Create', 'ApiKey:Query', 'ApiKey:Rotate'];
    const met = await firm.user({ cleared: true }, ...rights, auditIfCleared);
    const key = await app.must('createApiKey', { scope: project, roleId: met.roleId }, as(met));
    expect(await may(app, await tokenOf(key, project), project, 'AuditLog:Query')).toBe(true);
    await app.must('rotateApiKey', { scope: project, id: key.id }, as(met));
    // A key acts for the user who created it, so a key that it creates has the same user.
    const second = await app.call(
      'createApiKey',
      { scope: project },
      { token: await tokenOf(key, project), via },
    );
    expect(second.ok, second.body).toBe(true);

    const unmet = await firm.user({}, ...rights, auditIfCleared);
    const refused = await app.call('createApiKey', { scope: project, roleId: unmet.roleId }, as(unmet));
    expect(refused.code).toBe('PRIVILEGE_ESCALATION');
  });

  it('is granted to no user with the secret of the key of a colleague', async () => {
    const { project } = firm;
    const met = await firm.user({ cleared: true }, 'ApiKey:Create', auditIfCleared);
    const other = await firm.user(
      { cleared: false },
      'ApiKey:Query',
      'ApiKey:Rotate',
      'ApiKey:Create',
      auditIfCleared,
    );
    const key = await app.must('createApiKey', { scope: project, roleId: met.roleId }, as(met));
    const rotated = await app.call('rotateApiKey', { scope: project, id: key.id }, as(other));
    expect(rotated.code).toBe('PRIVILEGE_ESCALATION');
    // The owner holds it with any attributes.
    await app.must('rotateApiKey', { scope: project, id: key.id }, as(firm.owner));
  });

  it('does not restrict users who act for themselves: a key of a user holds what the user holds', async () => {
    const own = {
      on: 'Project:Update',
      when: { Equals: { 'resource.id': { $ref: 'user.metadata.project' } } },
    };
    const user = await firm.user({ project: firm.projectId }, 'ApiKey:Create', 'ApiKey:Query', own);
    const scope: ScopeRef = { tenant: 'projectUser', id: `${firm.projectId}:${user.userId}` };
    const key = await app.must('createApiKey', { scope }, as(user));
    await app.must('createApiKey', { scope }, { token: await tokenOf(key, scope), via });
  });

  it('cannot be granted with an invitation by a user who holds it only conditionally', async () => {
    const { organization } = firm;
    const { roleId } = await firm.role(organization, auditIfCleared, 'OrganizationInvitation:Create');
    const person = await firm.member('Organization Viewer');
    await app.must(
      'updateOrganizationMember',
      { scope: organization, userId: person.userId, roleId },
      as(firm.owner),
    );
    await app.must(
      'updateUser',
      { scope: organization, id: person.userId, metadata: { cleared: true } },
      as(firm.owner),
    );
    const invited = await app.call(
      'inviteMember',
      { scope: organization, email: `friend-${via}@friends.example`, roleId },
      as(person),
    );
    expect(invited.code).toBe('PRIVILEGE_ESCALATION');
  });
});
