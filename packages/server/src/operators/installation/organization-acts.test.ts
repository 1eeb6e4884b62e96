import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import { pathOf, post } from '../../../test/support/tenants/authzen.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import { unique, type Person } from '../../../test/support/app/client.ts';
import { customerOf, granted, grantTo, memberOf, vendorOf } from '../../../test/support/tenants/grants.ts';
import {
  appoint,
  firstOperator,
  installation as scope,
  operatorEnvironment,
} from '../../../test/support/tenants/operators.ts';
import { challengeOf, consented, newVerifier } from '../../../test/support/sign-in/project-code.ts';
import { redirectParameters, signInBrowser } from '../../../test/support/sign-in/project-app.ts';
import { enqueue, subscribe } from '../../../test/support/tenants/webhooks.ts';
import { roleIdOf } from '../../schema/rights/built-in-ids.ts';
import { auditLog } from '../../schema/events/audit-log-entry.ts';
import type { ScopeRef } from '../../kernel/scope.ts';

/** Suspension of an organization: what stops immediately, stays or comes back, who is notified, and who is refused. */
const reason = 'Ticket 4712: the invoices are not paid';
const REDIRECT = 'https://app.example/callback';
const read = { resource: 'invoice', action: 'read' };

let app: TestApp;
let ada: Person;
let deliveries = 0;
beforeAll(async () => {
  const post = async () => {
    deliveries++;
    return { status: 200, retryAfter: null, body: Buffer.alloc(0) };
  };
  app = await startOwnApp({ ...operatorEnvironment }, undefined, { post });
  ada = await firstOperator(app);
});
afterAll(() => app.close());

async function keyIn(at: ScopeRef, more: object, token: string) {
  const key = await app.raw('createApiKey', { scope: at, ...more }, { token });
  expect(key.ok, key.body).toBe(true);
  const {
    clientId,
    clientSecret,
    scope: its,
  } = key.data as Record<'clientId' | 'clientSecret', string> & {
    scope: ScopeRef;
  };
  const exchange = { clientId, clientSecret, scope: its };
  return { exchange, token: (await app.must('exchangeApiKey', exchange)).accessToken };
}

/** An organization with a project, which is the customer of one project and the owner of another. */
async function world() {
  const organization = await customerOf(app);
  const as = { token: organization.token };
  const { scope: project, id: projectId } = await app.must(
    'createProject',
    { scope: organization.scope, name: 'Shop' },
    as,
  );
  await app.must(
    'createResource',
    { scope: project, name: 'Invoice', slug: 'invoice', actions: ['read'], createPermissions: true },
    as,
  );
  const { items } = await app.must('permissions', { scope: project, limit: 100 }, as);
  const permissionIds = items.filter(({ resource }) => resource.slug === 'invoice').map(({ id }) => id);
  const group = await app.must('createGroup', { scope: project, name: 'G', permissionIds }, as);
  const role = await app.must('createRole', { scope: project, name: 'R', groupIds: [group.id] }, as);
  const member = await memberOf(app, organization, 'Organization Viewer');
  await app.must('createUser', { scope: project, userId: member.userId, roleIds: [role.id] }, as);
  return { organization, as, project, projectId, roleId: role.id, member };
}

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const call = (name: string, input: object, token: string) => app.raw(name, input, { token, via });
  const act = (name: 'suspendOrganization' | 'reactivateOrganization', id: string, token = ada.token) =>
    call(name, { scope, id, reason }, token);
  const code = async (name: string, input: object, token: string) => (await call(name, input, token)).code;
  const decision = async (at: ScopeRef, token: string, more: object = {}) => {
    const answer = await call('isAuthorized', { scope: at, permission: read, ...more }, token);
    return answer.ok ? (answer.data as { reason: string }).reason : answer.code;
  };

  it('ends all use at once, keeps what it must keep, and gives everything back', async () => {
    const { organization, as, project, roleId, member } = await world();
    const { id } = organization;
    const projectKey = await keyIn(project, { roleId }, as.token);
    const machine = await app.must(
      'createUser',
      { scope: organization.scope, kind: 'service', name: 'M', roleIds: [roleIdOf('Organization Admin')] },
      as,
    );
    const ownKey = await keyIn(organization.scope, { userId: machine.id }, as.token);
    const own = { scope: organization.scope, id };
    const admin = await memberOf(app, organization, 'Organization Admin');
    const uses = async () => ({
      member: await code('tags', { scope: organization.scope }, member.token),
      owner: await code('tags', { scope: project }, as.token),
      write: await code('createTag', { scope: project, name: unique() }, as.token),
      check: await decision(project, member.token),
      keyed: await decision(project, projectKey.token),
      machine: await code('tags', { scope: organization.scope }, ownKey.token),
      exchanged: (await call('exchangeApiKey', projectKey.exchange, '')).code,
      stranger: await code('tags', { scope: project }, ada.token),
      read: await code('organization', own, member.token),
      related: (await app.raw('organization', { ...own, relations: ['projects'] }, { token: member.token }))
        .code,
    });
    const asBefore = {
      ...{ member: null, owner: null, write: null, check: 'ALLOWED', machine: null },
      ...{ keyed: 'ALLOWED', exchanged: null, stranger: 'FORBIDDEN', read: null, related: null },
    };
    expect(await uses()).toEqual(asBefore);

    const suspended = await act('suspendOrganization', id);
    expect(suspended.data).toMatchObject({
      id,
      status: 'suspended',
      suspendedAt: expect.any(String) as string,
    });
    expect(await uses()).toEqual({
      ...{ member: 'SUSPENDED', owner: 'SUSPENDED', write: 'SUSPENDED', check: 'SUBJECT_INACTIVE' },
      ...{ keyed: 'UNAUTHENTICATED', machine: 'UNAUTHENTICATED', exchanged: 'UNAUTHENTICATED' },
      ...{ stranger: 'FORBIDDEN', read: null, related: 'FORBIDDEN' },
    });
    expect(await decision(project, ada.token)).toBe('INVALID_SCOPE');
    expect((await call('organization', own, member.token)).data).toMatchObject({
      suspendedAt: (suspended.data as { suspendedAt: string }).suspendedAt,
    });
    const other = { scope: organization.scope, userId: member.userId };
    expect(await code('removeOrganizationMember', other, as.token)).toBe('SUSPENDED');
    const leaving = await app.raw('removeOrganizationMember', other, { token: member.token, via });
    expect(leaving.ok, leaving.body).toBe(true);
    const exported = (token: string) =>
      app.raw('exportAuditLogs', { scope: organization.scope }, { token }).then((answer) => answer.status);
    expect([await exported(as.token), await exported(admin.token)]).toEqual([200, 403]);

    expect(await act('suspendOrganization', id)).toMatchObject({ code: 'INVALID_STATE' });
    expect((await act('reactivateOrganization', id)).data).toMatchObject({ status: 'active' });
    expect(await act('reactivateOrganization', id)).toMatchObject({ code: 'INVALID_STATE' });
    const afterwards = await uses();
    expect({ ...afterwards, member: null, check: 'ALLOWED', read: null, related: null }).toEqual(asBefore);
  });

  it('is in both logs with the reason, in two events, and told to the owners', async () => {
    const { organization } = await world();
    const { id, owner } = organization;
    const invited = await app.person();
    const roleId = roleIdOf('Organization Viewer');
    await app.must('inviteMember', { scope: organization.scope, email: invited.email, roleId }, organization);
    const link = await app.mailedToken(invited.email);
    expect((await act('suspendOrganization', id)).ok).toBe(true);
    const rows = await app.database.pool
      .select()
      .from(auditLog)
      .where(eq(auditLog.operation, 'suspendOrganization'));
    const about = rows.filter(({ target }) => (target as { id: string }).id === id);
    expect(about.find(({ tenantId }) => tenantId === scope.id)).toMatchObject({
      event: 'operator.acted',
      actor: { id: ada.userId, name: 'Grace' },
      metadata: { reason },
    });
    expect(about.find(({ tenantId }) => tenantId === id)).toMatchObject({
      event: 'organization.suspended',
      actor: { id: ada.userId, name: 'Installation operator' },
      metadata: { reason },
    });
    expect(await code('acceptInvitation', { token: link }, invited.token)).toBe('INVALID_STATE');
    await app.app.flushMails();
    const mails = app.mails.filter(({ to, text }) => to === owner.email && text.includes(reason));
    expect(mails).toHaveLength(1);
    expect(mails[0]?.text).toContain('suspended your organization');
    const list = await call(
      'installationOrganizations',
      { scope, status: 'suspended', search: id },
      ada.token,
    );
    expect(list.data).toMatchObject({ items: [{ id, status: 'suspended' }] });
    const active = await call(
      'installationOrganizations',
      { scope, status: 'active', search: id },
      ada.token,
    );
    expect(active.data).toMatchObject({ items: [] });
  });

  it('suspends grants on both sides: of its projects to customers, and those that it has as a customer', async () => {
    const vendor = await vendorOf(app);
    const [customer, other] = [await customerOf(app), await customerOf(app)];
    const [slice, otherSlice] = [await grantTo(app, vendor, customer), await grantTo(app, vendor, other)];
    for (const { owner, token } of [customer, other]) {
      const at = owner === customer.owner ? slice.scope : otherSlice.scope;
      await app.must('createUser', { scope: at, userId: owner.userId, roleIds: [vendor.reader] }, { token });
    }
    const sliceKey = await keyIn(slice.scope, { roleId: vendor.reader }, customer.token);
    const asked = { subject: { userId: customer.owner.userId } };
    const uses = async () => [
      await decision(slice.scope, customer.token),
      await decision(slice.scope, sliceKey.token),
      (await call('exchangeApiKey', sliceKey.exchange, '')).code,
      await decision(slice.scope, vendor.token, asked),
      await decision(otherSlice.scope, other.token),
    ];
    expect(await uses()).toEqual(['ALLOWED', 'ALLOWED', null, 'ALLOWED', 'ALLOWED']);
    expect((await act('suspendOrganization', customer.id)).ok).toBe(true);
    expect(await uses()).toEqual([
      ...['INVALID_SCOPE', 'UNAUTHENTICATED', 'UNAUTHENTICATED', 'INVALID_SCOPE', 'ALLOWED'],
    ]);
    expect(await code('tags', { scope: slice.scope }, customer.token)).toBe('FORBIDDEN');
    expect((await act('reactivateOrganization', customer.id)).ok).toBe(true);
    expect(await uses()).toEqual(['ALLOWED', 'ALLOWED', null, 'ALLOWED', 'ALLOWED']);

    // Now the owner of the project is suspended instead of its customer.
    const { organization, as, project, projectId, roleId } = await world();
    const home = { ...vendor, token: as.token, scope: project, projectId, reader: roleId, writer: roleId };
    await grantTo(app, home, customer, { roleIds: [roleId] });
    const theirs = granted(customer, home);
    const user = { scope: theirs, userId: customer.owner.userId, roleIds: [roleId] };
    await app.must('createUser', user, { token: customer.token });
    const key = await keyIn(theirs, { roleId }, customer.token);
    const both = async () => [
      await decision(theirs, customer.token),
      await decision(theirs, key.token),
      (await call('exchangeApiKey', key.exchange, '')).code,
    ];
    expect(await both()).toEqual(['ALLOWED', 'ALLOWED', null]);
    expect((await act('suspendOrganization', organization.id)).ok).toBe(true);
    expect(await both()).toEqual(['INVALID_SCOPE', 'UNAUTHENTICATED', 'UNAUTHENTICATED']);
    expect((await act('reactivateOrganization', organization.id)).ok).toBe(true);
    expect(await both()).toEqual(['ALLOWED', 'ALLOWED', null]);
  });

  it('is refused to everybody else, and for what is no organization', async () => {
    const { organization } = await world();
    const support = await appoint(app, ada, 'Installation Support');
    const auditor = await appoint(app, ada, 'Installation Auditor');
    for (const { token } of [support, auditor, { token: organization.token }])
      for (const name of ['suspendOrganization', 'reactivateOrganization'] as const)
        expect(await act(name, organization.id, token)).toMatchObject({ code: 'FORBIDDEN' });
    expect(await act('suspendOrganization', ada.userId)).toMatchObject({ code: 'NOT_FOUND' });
    const short = { scope, id: organization.id, reason: 'too short' };
    expect((await call('suspendOrganization', short, ada.token)).ok).toBe(false);
    const changed = { scope: organization.scope, id: organization.id, suspendedAt: null };
    expect((await call('updateOrganization', changed, organization.token)).ok).toBe(false);
  });
});

it('refuses the apps of its projects: sign-in, code, refresh and tokens; AuthZEN says no; the key set stays', async () => {
  const { organization, as, project, projectId, member } = await world();
  const made = await app.must(
    'createProjectApp',
    { scope: project, name: 'App', redirectUris: [REDIRECT], allowedOrigins: [] },
    as,
  );
  const verifier = newVerifier();
  const codeOf = () =>
    consented(app, {
      ...{ appId: made.id, userId: member.userId, redirectUri: REDIRECT },
      challenge: challengeOf(verifier),
    });
  const token = async (fields: Record<string, string>) => {
    const { statusCode, body } = await app.server.inject({
      method: 'POST',
      url: '/api/auth/project/token',
      payload: { client_id: made.clientId, ...fields },
    });
    return { statusCode, ...(JSON.parse(body) as { code?: string; data?: Record<string, string> }) };
  };
  const exchangeOf = (its: string) => ({
    ...{ grant_type: 'authorization_code', code: its, redirect_uri: REDIRECT, code_verifier: verifier },
  });
  const first = (await token(exchangeOf(await codeOf()))).data ?? {};
  const accessToken = first['accessToken'] ?? '';
  expect((await app.raw('myPermissions', { scope: project }, { token: accessToken })).status).toBe(200);
  const pending = await codeOf();
  const browser = signInBrowser(app, { clientId: made.clientId, redirectUri: REDIRECT });
  await browser.toConsent(member.email);
  const act = (name: string) => app.raw(name, { scope, id: organization.id, reason }, { token: ada.token });
  expect((await act('suspendOrganization')).ok).toBe(true);

  expect((await app.raw('myPermissions', { scope: project }, { token: accessToken })).status).toBe(401);
  expect(await token(exchangeOf(pending))).toMatchObject({ code: 'INVALID_TOKEN' });
  const refresh = { grant_type: 'refresh_token', refresh_token: first['refreshToken'] ?? '' };
  expect(await token(refresh)).toMatchObject({ code: 'INVALID_TOKEN' });
  expect(redirectParameters(await browser.answer('approve'))).toMatchObject({ error: 'access_denied' });
  const asked = {
    subject: { type: 'user', id: member.userId },
    action: { name: 'read' },
    resource: { type: 'invoice', id: '1' },
  };
  const answer = await post(app, member.token, `${pathOf(project)}/access/v1/evaluation`, asked);
  expect(answer).toMatchObject({
    status: 200,
    body: { decision: false, context: { reason: 'SUBJECT_INACTIVE' } },
  });
  const keys = await app.server.inject({
    url: `/org/${organization.id}/prj/${projectId}/.well-known/jwks.json`,
  });
  expect(keys.statusCode).toBe(200);

  expect((await act('reactivateOrganization')).ok).toBe(true);
  expect((await token(refresh)).data?.['accessToken']).toEqual(expect.any(String));
});

it('lets deliveries of its projects, and of its slices, wait', async () => {
  const { organization, projectId } = await world();
  const vendor = await vendorOf(app);
  const slice = await grantTo(app, vendor, organization);
  const subscriptions = [
    await subscribe(app, projectId, 'https://hooks.example.test/'),
    await subscribe(app, slice.id, 'https://slices.example.test/'),
  ];
  const act = (name: string) => app.raw(name, { scope, id: organization.id, reason }, { token: ada.token });
  await app.app.flushWebhooks();
  deliveries = 0;
  expect((await act('suspendOrganization')).ok).toBe(true);
  for (const subscription of subscriptions) await enqueue(app, subscription);
  const elsewhere = await subscribe(app, vendor.projectId, 'https://other.example.test/');
  await enqueue(app, elsewhere);
  await app.app.flushWebhooks();
  expect(deliveries).toBe(1);
  expect((await act('reactivateOrganization')).ok).toBe(true);
  await app.app.flushWebhooks();
  expect(deliveries).toBe(3);
});
