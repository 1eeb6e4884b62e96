import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import { unique } from '../../../test/support/app/client.ts';
import {
  customerOf,
  granted,
  grantTo,
  memberOf,
  vendorOf,
  type Customer,
  type Vendor,
} from '../../../test/support/tenants/grants.ts';
import type { ScopeRef } from '../../kernel/scope.ts';

/** A grant from its offer to its end, by its owner and by the customer. */
let app: TestApp;
let vendor: Vendor;

beforeAll(async () => {
  app = await startApp();
  vendor = await vendorOf(app);
});
afterAll(() => app.close());

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const call = (name: string, input: object, token: string) => app.raw(name, input, { token, via });
  const must = async (name: string, input: object, token: string) => {
    const answer = await call(name, input, token);
    if (!answer.ok) throw new Error(`${name}: ${answer.body}`);
    return answer.data as never;
  };
  const offer = async (fields: object = {}) => {
    const email = `${unique()}@example.test`;
    const input = { scope: vendor.scope, email, name: 'Acme', roleIds: [vendor.reader], ...fields };
    const grant: { id: string; status: string; expiresAt: string } = await must(
      'createProjectGrant',
      input,
      vendor.token,
    );
    return { ...grant, email, token: await app.mailedToken(email) };
  };

  it('is offered by mail, read with the link, and accepted once', async () => {
    const customer = await customerOf(app);
    const { id, token, status } = await offer({ metadata: { plan: 'gold' } });
    expect(status).toBe('pending');
    const read: object = await must('projectGrantOffer', { token }, '');
    expect(read).toMatchObject({
      owner: { name: expect.any(String) as string },
      roles: [{ name: 'Reader', description: null }],
      status: 'pending',
    });
    expect(JSON.stringify(read)).not.toContain('Acme');
    const accepted: object = await must(
      'acceptProjectGrant',
      { scope: customer.scope, token },
      customer.token,
    );
    expect(accepted).toMatchObject({
      id,
      project: { id: vendor.projectId },
      scope: granted(customer, vendor),
      roles: [{ id: vendor.reader, name: 'Reader' }],
      status: 'active',
      userCount: 0,
    });
    expect(JSON.stringify(accepted)).not.toContain('gold');
    expect((await call('acceptProjectGrant', { scope: customer.scope, token }, customer.token)).code).toBe(
      'INVALID_TOKEN',
    );
    expect((await call('projectGrantOffer', { token }, '')).code).toBe('NOT_FOUND');
    const grant: object = await must('projectGrant', { scope: vendor.scope, id }, vendor.token);
    expect(grant).toMatchObject({
      organizationId: customer.id,
      acceptedBy: customer.owner.userId,
      status: 'active',
      roleIds: [vendor.reader],
      metadata: { plan: 'gold' },
    });
    const { items: own }: { items: object[] } = await must(
      'organizationGrants',
      { scope: customer.scope },
      customer.token,
    );
    expect(own).toMatchObject([{ id, status: 'active' }]);
  });

  it('is active at once for an organization that the caller administers, and unknown for another', async () => {
    const { id: organizationId } = await app.must(
      'createOrganization',
      { scope: vendor.person.account, name: 'Own customer' },
      vendor,
    );
    const input = { scope: vendor.scope, organizationId, name: 'Own', roleIds: [vendor.reader] };
    const grant: { status: string } = await must('createProjectGrant', input, vendor.token);
    expect(grant).toMatchObject({ status: 'active', organizationId, expiresAt: null });
    expect((await call('createProjectGrant', input, vendor.token)).code).toBe('CONFLICT');
    const foreign = await customerOf(app);
    const refused = await call('createProjectGrant', { ...input, organizationId: foreign.id }, vendor.token);
    expect(refused.code).toBe('NOT_FOUND');
    const both = await call('createProjectGrant', { ...input, email: 'a@example.test' }, vendor.token);
    expect(both.details).toMatchObject([{ path: 'organizationId', code: 'excluded' }]);
  });

  it('is suspended, resumed and revoked, and refuses every other change of state', async () => {
    const customer = await customerOf(app);
    const { id, scope } = await grantTo(app, vendor, customer);
    const change = (name: string, more: object = {}) =>
      call(name, { scope: vendor.scope, id, ...more }, vendor.token);
    expect((await change('resumeProjectGrant')).code).toBe('INVALID_STATE');
    expect((await change('suspendProjectGrant', { reason: 'Overdue' })).data).toMatchObject({
      status: 'suspended',
      revokedReason: 'Overdue',
    });
    expect((await call('users', { scope }, customer.token)).code).toBe('FORBIDDEN');
    expect((await change('resumeProjectGrant', { reason: 'Paid' })).data).toMatchObject({
      status: 'active',
      revokedReason: null,
    });
    for (const [at, token] of [
      [vendor.scope, vendor.token],
      [customer.scope, customer.token],
    ] as const) {
      const log: { items: { event: string | null; metadata: unknown }[] } = await must(
        'auditLogs',
        { scope: at },
        token,
      );
      const resumed = log.items.find(({ event }) => event === 'project_grant.resumed');
      expect(resumed?.metadata).toMatchObject({ reason: 'Paid' });
    }
    expect((await call('users', { scope }, customer.token)).ok).toBe(true);
    expect((await change('revokeProjectGrant', { reason: 'Ended' })).data).toMatchObject({
      status: 'revoked',
      revokedBy: 'owner',
    });
    expect((await call('users', { scope }, customer.token)).code).toBe('FORBIDDEN');
    for (const name of [
      'suspendProjectGrant',
      'resumeProjectGrant',
      'revokeProjectGrant',
      'resendProjectGrant',
    ])
      expect((await change(name)).code, name).toBe('INVALID_STATE');
    expect((await change('updateProjectGrant', { name: 'Other' })).code).toBe('INVALID_STATE');
    const again = await grantTo(app, vendor, customer);
    expect(again.id).not.toBe(id);
    const { items }: { items: object[] } = await must('users', { scope }, customer.token);
    expect(items).toEqual([]);
  });

  it('is declined without a word about who declined, and resent with a new link', async () => {
    const customer = await customerOf(app);
    const { id, token, email } = await offer();
    await must('resendProjectGrant', { scope: vendor.scope, id }, vendor.token);
    const second = await app.mailedToken(email);
    expect(second).not.toBe(token);
    expect((await call('declineProjectGrant', { scope: customer.scope, token }, customer.token)).code).toBe(
      'INVALID_TOKEN',
    );
    await must('declineProjectGrant', { scope: customer.scope, token: second }, customer.token);
    const declined: object = await must('projectGrant', { scope: vendor.scope, id }, vendor.token);
    expect(declined).toMatchObject({ status: 'declined', organizationId: null, acceptedBy: null });
    const log: { items: { event: string; ipAddress: string | null; actor: { type: string } }[] } = await must(
      'auditLogs',
      { scope: vendor.scope, targetId: id, event: 'project_grant.declined' },
      vendor.token,
    );
    expect(log.items).toMatchObject([{ actor: { type: 'anonymous', id: null }, ipAddress: null }]);
    expect(JSON.stringify(log)).not.toContain(customer.id);
    expect(
      (await call('acceptProjectGrant', { scope: customer.scope, token: second }, customer.token)).code,
    ).toBe('INVALID_TOKEN');
  });

  it('ends when the customer leaves, in the logs of both', async () => {
    const customer = await customerOf(app);
    const { id, scope } = await grantTo(app, vendor, customer);
    const left = await call(
      'leaveProjectGrant',
      { scope: customer.scope, id, reason: 'No longer used' },
      customer.token,
    );
    expect(left.data).toMatchObject({ id, status: 'revoked' });
    expect((await call('users', { scope }, customer.token)).code).toBe('FORBIDDEN');
    for (const [place, token] of [
      [customer.scope, customer.token],
      [vendor.scope, vendor.token],
    ] as const) {
      const log: { items: object[] } = await must(
        'auditLogs',
        { scope: place, targetId: id, event: 'project_grant.revoked' },
        token,
      );
      expect(log.items).toHaveLength(1);
    }
    const events: { items: { type: string; data: object }[] } = await must(
      'events',
      { scope: customer.scope, limit: 100 },
      customer.token,
    );
    const ofGrant = events.items.filter(({ type }) => type.startsWith('project_grant.'));
    expect(ofGrant.map(({ type }) => type)).toEqual(['project_grant.accepted', 'project_grant.revoked']);
    for (const { data } of ofGrant) expect(Object.keys(data)).not.toContain('name');
    const grant: object = await must('projectGrant', { scope: vendor.scope, id }, vendor.token);
    expect(grant).toMatchObject({ revokedBy: 'grantee', revokedReason: 'No longer used' });
  });

  it('names roles of the project only, which the granter holds', async () => {
    const refused = async (roleIds: string[], token = vendor.token) =>
      (
        await call(
          'createProjectGrant',
          { scope: vendor.scope, email: 'x@example.test', name: 'N', roleIds },
          token,
        )
      ).code;
    expect(await refused([])).toBe('VALIDATION_ERROR');
    const other = await vendorOf(app);
    expect(await refused([other.reader])).toBe('NOT_FOUND');
    const { items } = await app.must('roles', { scope: vendor.scope, isSystem: true }, vendor);
    expect(await refused([items[0]?.id ?? ''])).toBe('NOT_FOUND');
    expect(await refused([vendor.reader], other.token)).toBe('FORBIDDEN');
    const { id } = await offer();
    const gone = await call('deleteRole', { scope: vendor.scope, id: vendor.reader }, vendor.token);
    expect([gone.code, gone.details.map(({ path }) => path)]).toEqual([
      'IN_USE',
      expect.arrayContaining(['grants']),
    ]);
    await must('revokeProjectGrant', { scope: vendor.scope, id }, vendor.token);
  });

  it('cannot be given to the owner, and only once', async () => {
    const owner = await app.person({ type: 'organization' });
    const { id } = await app.must('createOrganization', { scope: owner.account, name: 'Owner' }, owner);
    const scope = { tenant: 'organization' as const, id };
    const project = await app.must('createProject', { scope, name: 'P' }, owner);
    const role = await app.must('createRole', { scope: project.scope, name: 'R' }, owner);
    const input = { scope: project.scope, organizationId: id, name: 'Self', roleIds: [role.id] };
    const self = await call('createProjectGrant', input, owner.token);
    expect([self.code, self.details]).toMatchObject([
      'CONFLICT',
      [{ path: 'organizationId', code: 'not_allowed' }],
    ]);
    const customer = await customerOf(app);
    await grantTo(app, vendor, customer);
    const { token } = await offer();
    const second = await call('acceptProjectGrant', { scope: customer.scope, token }, customer.token);
    expect([second.code, second.details]).toMatchObject(['CONFLICT', [{ path: 'token', code: 'taken' }]]);
  });

  it('is accepted by who may, and read by members with the right', async () => {
    const customer = await customerOf(app);
    const viewer = await memberOf(app, customer, 'Organization Viewer');
    const { token } = await offer();
    expect((await call('acceptProjectGrant', { scope: customer.scope, token }, viewer.token)).code).toBe(
      'FORBIDDEN',
    );
    expect((await call('acceptProjectGrant', { scope: customer.scope, token }, vendor.token)).code).toBe(
      'FORBIDDEN',
    );
    await must('acceptProjectGrant', { scope: customer.scope, token }, customer.token);
    const { items }: { items: { id: string }[] } = await must(
      'organizationGrants',
      { scope: customer.scope },
      viewer.token,
    );
    expect(items).toHaveLength(1);
    const leave = { scope: customer.scope, id: items[0]?.id };
    expect((await call('leaveProjectGrant', leave, viewer.token)).code).toBe('FORBIDDEN');
  });
});

it('tells the owners of the customer, by notification and mail', async () => {
  const customer = await customerOf(app);
  const { id } = await grantTo(app, vendor, customer);
  await app.must('suspendProjectGrant', { scope: vendor.scope, id }, vendor);
  await app.app.flushMails();
  const { items } = await app.must('myNotifications', {}, customer);
  expect(items.map(({ type }) => type)).toContain('project_grant_changed');
  expect(app.mails.some(({ to, text }) => to === customer.owner.email && text.includes('suspended'))).toBe(
    true,
  );
});

it('limits the pending offers of a project', async () => {
  const other: Vendor = await vendorOf(app);
  const input = { scope: other.scope, name: 'N', roleIds: [other.reader] };
  for (let n = 0; n < 100; n++)
    await app.must('createProjectGrant', { ...input, email: `${unique()}@example.test` }, other);
  const refused = await app.call('createProjectGrant', { ...input, email: 'more@example.test' }, other);
  expect([refused.code, refused.details]).toMatchObject(['CONFLICT', [{ path: 'scope', code: 'limit' }]]);
});

it('ends with the customer and with the project, and says so to the side that is left', async () => {
  const customer: Customer = await customerOf(app);
  const own = await vendorOf(app);
  const { id } = await grantTo(app, own, customer);
  await app.must('deleteOrganization', { scope: customer.scope, id: customer.id }, customer);
  const ended = await app.must('projectGrant', { scope: own.scope, id }, own);
  expect(ended).toMatchObject({ status: 'revoked', revokedBy: 'system' });
  const event = 'project_grant.revoked';
  const ofOwner = { scope: own.scope, targetId: id };
  const [entry] = (await app.must('auditLogs', { ...ofOwner, event }, own)).items;
  expect(entry).toMatchObject({
    operation: 'deleteOrganization',
    changes: { status: { from: 'active', to: 'revoked' } },
  });
  const seen = async (scope: ScopeRef, as: { token: string }) =>
    (await app.must('events', { scope, types: [event] }, as)).items;
  expect(await seen(own.scope, own)).toMatchObject([
    {
      data: {
        id,
        name: 'Acme',
        organizationId: customer.id,
        status: 'revoked',
        revokedBy: 'system',
      },
    },
  ]);

  const second = await customerOf(app);
  const { scope, id: other } = await grantTo(app, own, second);
  await app.must('suspendProjectGrant', { scope: own.scope, id: other }, own);
  await app.must('deleteProject', { scope: own.person.account, id: own.projectId }, own);
  expect((await app.call('users', { scope }, second)).code).toBe('FORBIDDEN');
  expect((await app.must('organizationGrants', { scope: second.scope }, second)).items).toEqual([]);
  const [last] = await seen(second.scope, second);
  expect(last).toMatchObject({
    data: { id: other, status: 'revoked', revokedBy: 'system' },
    changes: { status: { from: 'suspended', to: 'revoked' } },
  });
  expect(last?.data).not.toHaveProperty('name');
  const logged = await app.must('auditLogs', { scope: second.scope, targetId: other, event }, second);
  expect(logged.items).toMatchObject([{ operation: 'deleteProject' }]);
});

it('ends with the account of the customer', async () => {
  const customer: Customer = await customerOf(app);
  const { id } = await grantTo(app, vendor, customer);
  await app.must('deleteMe', {}, customer);
  const logged = await app.must(
    'auditLogs',
    { scope: vendor.scope, targetId: id, event: 'project_grant.revoked' },
    vendor,
  );
  expect(logged.items).toMatchObject([{ operation: 'deleteMe' }]);
});
