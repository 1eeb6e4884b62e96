import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { roleIdOf } from '../../src/schema/rights/built-in-ids.ts';
import { auditLog } from '../../src/schema/events/audit-log-entry.ts';
import { events } from '../../src/schema/events/event.ts';
import { installationRoleIdOf } from '../../src/access/installation-roles.ts';
import { installationTypes } from '../../src/webhooks/event-types/installation-types.ts';
import { eventCatalogue, PING } from '../../src/webhooks/event-types/catalogue.ts';
import { webhookDeliveries } from '../../src/schema/webhooks/webhook-delivery.ts';
import { webhookSubscriptions } from '../../src/schema/webhooks/webhook-subscription.ts';
import type { JsonSchema } from '../../src/kernel/output/json-schema.ts';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { startOwnApp, type TestApp } from '../support/app/app.ts';
import { codeShown } from '../support/sign-in/authenticator.ts';
import { openAppSession } from '../support/app/app-session.ts';
import type { Person, Via } from '../support/app/client.ts';
import { firstOperator, installation, operatorEnvironment } from '../support/tenants/operators.ts';
import { dataFaults } from './schema-check.ts';
import { member } from './world.ts';

/**
 * For each type of event, the operation or job that emits it emits exactly the events of the table, once each, valid
 * by the published schema; and each event of the project creates one delivery for its webhook and no other.
 */
let app: TestApp;
let schemas: ReadonlyMap<string, JsonSchema>;
let owner: Person;
let as: { token: string };
let organization: ScopeRef;
let scope: ScopeRef;
let hook: string;
let answered: () => Promise<number> = async () => 200;

const emitted = new Set<string>();
const existing = new Set<string>();
const delivered = new Set<string>();
const nodeOf = ({ id }: ScopeRef): string => id.split(':').at(-1) as string;

beforeAll(async () => {
  const post = async () => ({ status: await answered(), retryAfter: null, body: Buffer.alloc(0) });
  const env = { WEBHOOKS_RETRY_SCHEDULE_SECONDS: 'none', ...operatorEnvironment };
  app = await startOwnApp(env, undefined, { post });
  const { items } = await app.must('eventTypes', { limit: 100 });
  schemas = new Map(items.map((item) => [item.name, item.schema as JsonSchema]));
  owner = await app.person({ type: 'organization' });
  as = { token: owner.token };
  const { id } = await app.must('createOrganization', { scope: owner.account, name: 'O' }, as);
  organization = { tenant: 'organization', id };
  ({ scope } = await app.must('createProject', { scope: organization, name: 'P' }, as));
  const eventTypes = [...eventCatalogue.keys()];
  const url = 'https://hooks.example.test/';
  hook = (await app.must('createWebhookSubscription', { scope, url, eventTypes }, as)).id;
  await news();
});
afterAll(() => app.close());

/** What was recorded since the last call: events by type, and audit entries as operation and event. */
async function news() {
  await app.app.flushMails();
  const rows = (await app.database.pool.select().from(events)).filter(({ id }) => !existing.has(id));
  const entries = (await app.database.pool.select().from(auditLog)).filter(({ id }) => !existing.has(id));
  const sent = (
    await app.database.pool.select().from(webhookDeliveries).where(eq(webhookDeliveries.kind, 'event'))
  ).filter(({ id }) => !delivered.has(id));
  for (const { id } of [...rows, ...entries]) existing.add(id);
  for (const { id } of sent) delivered.add(id);
  return { rows, entries, sent };
}

/** Checks what the act recorded. `types`: the events that it emits, sorted by name. */
async function expectNamed(act: string, types: readonly string[]): Promise<void> {
  const { rows, entries, sent } = await news();
  expect(rows.map(({ type }) => type).sort(), act).toEqual(types);
  for (const { type, body, tenantId } of rows) {
    const {
      id,
      type: named,
      data,
      scope: shown,
    } = body as {
      id: string;
      type: string;
      data: unknown;
      scope: ScopeRef;
    };
    expect([id, named], act).toEqual([expect.stringMatching(/^evt_/), type]);
    expect(dataFaults(schemas.get(type) ?? {}, data), `${act}: ${type}`).toEqual([]);
    expect(nodeOf(shown), act).toBe(tenantId);
    emitted.add(type);
  }
  for (const { operation, event } of entries) {
    expect(act, `${operation} is recorded`).toBe(operation);
    if (event !== null) expect(types).toContain(event);
  }
  const ofProject = rows.filter(({ tenantId }) => tenantId === nodeOf(scope));
  expect(sent.map(({ eventId, subscriptionId }) => [eventId, subscriptionId]).sort(), act).toEqual(
    ofProject.map(({ id }) => [`evt_${id}`, hook]).sort(),
  );
}

let turn = 0;
/** Runs an operation, alternately over REST and GraphQL, and expects these events. */
async function expectEvents(
  name: string,
  input: object,
  types: readonly string[],
  token: string | undefined = as.token,
) {
  const via: Via = turn++ % 2 === 0 ? 'rest' : 'graphql';
  const answer = await app.raw(name, input, { via, ...(token ? { token } : {}) });
  expect(answer.ok, `${name}: ${answer.body}`).toBe(true);
  await expectNamed(name, types);
  return answer.data as Record<string, never> & { id: string };
}

it('rows of a project emit their events', async () => {
  for (const [noun, input, change] of [
    ['Role', { name: 'R' }, { name: 'S' }],
    ['Group', { name: 'G' }, { name: 'H' }],
    ['Resource', { name: 'I', slug: 'invoice' }, { isActive: false }],
  ] as const) {
    const name = noun.toLowerCase();
    const { id } = await expectEvents(`create${noun}`, { scope, ...input }, [`${name}.created`]);
    await expectEvents(`update${noun}`, { scope, id, ...change }, [`${name}.updated`]);
    await expectEvents(`update${noun}`, { scope, id, ...change }, []);
    await expectEvents(`delete${noun}`, { scope, id }, [`${name}.deleted`]);
  }
  const resource = await expectEvents('createResource', { scope, name: 'J', slug: 'j' }, [
    'resource.created',
  ]);
  const input = { scope, resourceId: resource.id, action: 'read' };
  const permission = await expectEvents('createPermission', input, ['permission.created']);
  await expectEvents('updatePermission', { scope, id: permission.id, name: 'X' }, ['permission.updated']);
  await expectEvents('deletePermission', { scope, id: permission.id }, ['permission.deleted']);
  const tag = await expectEvents('createTag', { scope, name: 'T' }, []);
  await expectEvents('deleteTag', { scope, id: tag.id }, []);
  await expectEvents('updateProject', { scope, id: nodeOf(scope), name: 'Q' }, ['project.updated']);
  await expectEvents('rotateSigningKey', { scope }, ['signing_key.rotated']);
});

it('API keys emit their events', async () => {
  const key = await expectEvents('createApiKey', { scope, expiresAt: inDays(20) }, ['api_key.created']);
  const { id } = key;
  const { clientId, clientSecret, scope: ofKey } = key;
  await expectEvents('exchangeApiKey', { clientId, clientSecret, scope: ofKey }, ['api_key.exchanged'], '');
  await expectEvents('rotateApiKey', { scope, id }, ['api_key.rotated']);
  app.clock.advance(14 * 86_400_000);
  expect(await app.app.warnOfExpiry()).toBe(1);
  await expectNamed('warnOfExpiringApiKey', ['api_key.expiring']);
  await signIn();
  await expectEvents('revokeApiKey', { scope, id }, ['api_key.revoked']);
  await expectEvents('deleteApiKey', { scope, id }, ['api_key.deleted']);
});

it('project apps emit their events', async () => {
  const redirectUris = ['https://app.example.test/callback'];
  const input = { scope, name: 'A', redirectUris, confidential: true };
  const { id } = await expectEvents('createProjectApp', input, ['project_app.created']);
  await expectEvents('updateProjectApp', { scope, id, name: 'B' }, ['project_app.updated']);
  await expectEvents('updateProjectApp', { scope, id, name: 'B' }, []);
  const file = 'R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAkQBADs=';
  await expectEvents('uploadProjectAppLogo', { scope, id, file }, ['project_app.updated']);
  await expectEvents('rotateProjectAppSecret', { scope, id }, ['project_app.updated']);
  await openAppSession(app, id, owner.userId);
  await expectEvents('deleteProjectApp', { scope, id }, ['project_app.deleted', 'session.revoked']);
});

const inDays = (days: number) => new Date(app.clock.now().getTime() + days * 86_400_000).toISOString();

async function signIn(): Promise<string> {
  const { email: providerId, password } = owner;
  const input = { provider: 'email', providerId, providerData: { password } };
  const data = await expectEvents('login', input, ['session.created'], '');
  const signedIn = (data['signIn'] ?? data) as unknown as { accessToken: string };
  as = { token: signedIn.accessToken };
  return as.token;
}

it('memberships of organizations and projects emit their events', async () => {
  const file = 'R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAkQBADs=';
  await expectEvents('uploadOrganizationLogo', { scope: organization, id: organization.id, file }, [
    'organization.updated',
  ]);
  await expectEvents('updateOrganization', { scope: organization, id: organization.id, name: 'N' }, [
    'organization.updated',
  ]);
  const bob = await app.person();
  const viewer = roleIdOf('Organization Viewer');
  const carl = await member(app, organization.id, 'Organization Viewer');
  await news();
  await expectEvents('inviteMember', { scope: organization, email: bob.email, roleId: viewer }, [
    'invitation.created',
  ]);
  const token = await app.mailedToken(bob.email);
  await expectEvents(
    'acceptInvitation',
    { token },
    ['invitation.accepted', 'organization.member_added'],
    bob.token,
  );
  const email = 'nobody@example.test';
  const invited = await expectEvents('inviteMember', { scope: organization, email, roleId: viewer }, [
    'invitation.created',
  ]);
  await expectEvents('revokeInvitation', { scope: organization, id: invited.id }, ['invitation.revoked']);
  const roleId = roleIdOf('Organization Developer');
  await expectEvents('updateOrganizationMember', { scope: organization, userId: bob.userId, roleId }, [
    'organization.member_role_changed',
  ]);
  await expectEvents('createUser', { scope, userId: carl.userId, roleIds: [] }, ['project.user_added']);
  const roleIds = [roleIdOf('Project Viewer')];
  await expectEvents('updateUser', { scope, id: carl.userId, roleIds }, ['project.user_roles_changed']);
  await expectEvents('deleteUser', { scope, id: carl.userId }, ['project.user_removed']);
  await expectEvents('removeOrganizationMember', { scope: organization, userId: bob.userId }, [
    'organization.member_removed',
  ]);
  const managed = await expectEvents('createUser', { scope, name: 'Managed', roleIds: [] }, [
    'project.user_added',
    'user.created',
  ]);
  await expectEvents('updateUser', { scope, id: managed.id, name: 'Renamed' }, ['user.updated']);
});

it('domains of organizations emit their events', async () => {
  const named = await expectEvents(
    'createOrganizationDomain',
    { scope: organization, domain: 'events.example.test' },
    [],
  );
  const { id } = named;
  const record = named['record'] as unknown as { readonly name: string; readonly value: string };
  app.records.set(record.name, [record.value]);
  const target = { scope: organization, id };
  await expectEvents('verifyOrganizationDomain', target, ['organization_domain.verified']);
  await expectEvents('verifyOrganizationDomain', target, []);
  app.records.clear();
  for (let day = 0; day < 4; day++) {
    app.clock.advance(25 * 3_600_000);
    await app.app.recheckDomains();
  }
  await expectNamed('recheckOrganizationDomain', ['organization_domain.lapsed']);
  await signIn();
  await expectEvents('deleteOrganizationDomain', target, ['organization_domain.deleted']);
});

it('connections of organizations emit their events', async () => {
  const domain = await expectEvents(
    'createOrganizationDomain',
    { scope: organization, domain: 'company.example.test' },
    [],
  );
  const created = await expectEvents(
    'createOrganizationConnection',
    {
      scope: organization,
      name: 'Company',
      issuer: 'https://login.example.test',
      clientId: 'doorward',
      clientSecret: 'a secret',
      domainIds: [domain.id],
      defaultRoleId: roleIdOf('Organization Viewer'),
    },
    ['organization_connection.created'],
  );
  const target = { scope: organization, id: created.id };
  await expectEvents('updateOrganizationConnection', { ...target, name: 'Firm' }, [
    'organization_connection.updated',
  ]);
  const own = await expectEvents(
    'createOrganizationDomain',
    { scope: organization, domain: 'example.test' },
    [],
  );
  const record = own['record'] as unknown as { readonly name: string; readonly value: string };
  app.records.set(record.name, [record.value]);
  const proof = { scope: organization, id: own.id };
  await expectEvents('verifyOrganizationDomain', proof, ['organization_domain.verified']);
  // As after a sign-in through it.
  await app.database.pool.execute(sql`update organization_connections set proved_at = now()`);
  const insisting = { ...target, domainIds: [own.id], status: 'active', enforced: true };
  await expectEvents('updateOrganizationConnection', insisting, ['organization_connection.updated']);
  const { token } = await member(app, organization.id, 'Organization Owner');
  const { factor, secret } = await app.must('createMfaFactor', {}, { token });
  await app.must('verifyMfaFactor', { id: factor.id, code: codeShown(secret, app.clock.now()) }, { token });
  await news();
  await app.must('tags', { scope: organization }, { token });
  await expectNamed('bypassConnection', ['organization_connection.bypassed']);
  await app.must('updateOrganizationConnection', { ...target, enforced: false }, { token });
  await news();
  await expectEvents('deleteOrganizationConnection', target, ['organization_connection.deleted']);
  await expectEvents('deleteOrganizationDomain', proof, ['organization_domain.deleted']);
});

it('accounts emit their events', async () => {
  const ada = await app.person();
  await news();
  await expectEvents('updateMe', { name: 'Ada' }, ['user.updated'], ada.token);
  const created = await expectEvents('createMfaFactor', {}, [], ada.token);
  const { factor, secret } = created as unknown as { factor: { id: string }; secret: string };
  const code = codeShown(secret, app.clock.now());
  await expectEvents('verifyMfaFactor', { id: factor.id, code }, ['user.mfa_changed'], ada.token);
  const { accessToken, refreshToken } = { accessToken: ada.token, refreshToken: ada.refreshToken };
  const next = await app.must('refreshSession', { accessToken, refreshToken });
  app.clock.advance(60_000);
  expect((await app.raw('refreshSession', { accessToken, refreshToken })).code).toBe('UNAUTHENTICATED');
  await expectNamed('refreshSession', ['session.reuse_detected']);
  expect(next.refreshToken).not.toBe(refreshToken);

  const dan = await app.person();
  await news();
  const added = { provider: 'email', providerId: 'dan@elsewhere.example' };
  await expectEvents('addMyAuthenticationMethod', added, ['user.sign_in_methods_changed'], dan.token);

  const eve = await app.person({ verified: false });
  await expectNamed('register', ['session.created', 'user.created']);
  const token = await app.mailedToken(eve.email);
  await expectEvents('verifyEmail', { token }, ['user.email_verified'], '');
  const passwords = { currentPassword: eve.password, newPassword: 'another horse battery 77' };
  await expectEvents('changeMyPassword', passwords, ['user.password_changed'], eve.token);
  await expectEvents('logout', { refreshToken: eve.refreshToken }, ['session.revoked'], eve.token);
  const zoe = await app.person();
  await news();
  await expectEvents('deleteMe', {}, ['session.revoked', 'user.deleted'], zoe.token);
});

it('webhook subscriptions emit events about the outcome of deliveries', async () => {
  const url = 'https://other.example.test/';
  const input = { scope, url, eventTypes: ['api_key.exchanged'] };
  const { id } = await expectEvents('createWebhookSubscription', input, []);
  const set = (values: Partial<typeof webhookSubscriptions.$inferInsert>) =>
    app.database.pool.update(webhookSubscriptions).set(values).where(eq(webhookSubscriptions.id, id));
  // The other subscription receives the event too, and must not fail because of it.
  await app.must('updateWebhookSubscription', { scope, id: hook, active: false }, as);
  const tried = async (exhaustedInARow: number, answer: () => Promise<number>) => {
    await set({ exhaustedInARow });
    await app.must('testWebhookSubscription', { scope, id }, as);
    await news();
    answered = answer;
    await app.app.flushWebhooks();
  };
  await tried(4, async () => 500);
  await expectNamed('deliverWebhook', ['webhook.failing']);
  await tried(9, async () => 500);
  await expectNamed('deliverWebhook', ['webhook.disabled']);
  await set({ disabledReason: null, disabledAt: null, exhaustedInARow: 0 });
  // The subscription is disabled while its receiver is handling a request.
  await tried(0, async () => {
    await set({ disabledReason: 'failing', disabledAt: app.clock.now() });
    return 200;
  });
  await expectNamed('deliverWebhook', ['webhook.recovered']);
});

it('grants of a project emit their events', async () => {
  const customer = await app.person({ type: 'organization' });
  const { id } = await app.must('createOrganization', { scope: customer.account, name: 'C' }, customer);
  const place = { tenant: 'organization' as const, id };
  const role = await app.must('createRole', { scope, name: 'Granted' }, as);
  await news();
  const offer = async () => {
    const email = `grant-${turn}@example.test`;
    const input = { scope, email, name: 'Acme', roleIds: [role.id] };
    const grant = await expectEvents('createProjectGrant', input, ['project_grant.created']);
    return { id: grant.id, token: await app.mailedToken(email) };
  };
  const declined = await offer();
  const answer = { scope: place, token: declined.token };
  const twice = (type: string) => [`project_grant.${type}`, `project_grant.${type}`];
  await expectEvents('declineProjectGrant', answer, twice('declined'), customer.token);
  const { id: grantId, token } = await offer();
  await expectEvents('acceptProjectGrant', { scope: place, token }, twice('accepted'), customer.token);
  await expectEvents('updateProjectGrant', { scope, id: grantId, name: 'B' }, twice('updated'));
  await expectEvents('suspendProjectGrant', { scope, id: grantId }, twice('suspended'));
  await expectEvents('resumeProjectGrant', { scope, id: grantId }, twice('resumed'));
  const slice = { tenant: 'organizationProject' as const, id: `${id}:${nodeOf(scope)}` };
  await app.must('createUser', { scope: slice, userId: customer.userId, roleIds: [role.id] }, customer);
  const { rows, sent } = await news();
  expect(rows.map(({ type }) => type).sort()).toEqual(['project.user_added', 'project_grant.user_changed']);
  // The webhook of the project gets what the owner may know.
  expect(sent.map(({ eventType }) => eventType)).toEqual(['project_grant.user_changed']);
  for (const { type, body } of rows) {
    expect(dataFaults(schemas.get(type) ?? {}, (body as { data: unknown }).data), type).toEqual([]);
    emitted.add(type);
  }
  await expectEvents('revokeProjectGrant', { scope, id: grantId }, twice('revoked'));
});

it('expiry and deletion emit their events', async () => {
  const short = { scope: organization, name: 'Short' };
  const project = await expectEvents('createProject', short, ['project.created']);
  const policy = { version: 1, roles: { Clerk: {} } };
  const applied = ['policy.applied', 'role.created'];
  await expectEvents('applyPolicy', { scope: project.scope, id: project.id, policy }, applied);
  await expectEvents('deleteProject', { scope: organization, id: project.id }, ['project.deleted']);
  const brief = { scope: owner.account, name: 'Brief' };
  const { id } = await expectEvents('createOrganization', brief, [
    'organization.created',
    'organization.member_added',
  ]);
  await expectEvents('deleteOrganization', { scope: { tenant: 'organization', id }, id }, [
    'organization.deleted',
  ]);
});

it('operators emit events in the log of the installation and in those of its tenants', async () => {
  const { token } = await firstOperator(app);
  const bob = await app.person();
  await news();
  const reason = 'Ticket 4711: the list stays empty';
  const at = { scope: installation, reason };
  const roleId = installationRoleIdOf('Installation Support');
  const { userId } = bob;
  await expectEvents('createOperator', { ...at, userId, roleId }, ['operator.added'], token);
  await expectEvents('deleteOperator', { ...at, userId }, ['operator.removed'], token);
  await expectEvents('suspendUser', { ...at, id: userId }, ['operator.acted', 'user.suspended'], token);
  await expectEvents('reactivateUser', { ...at, id: userId }, ['operator.acted', 'user.reactivated'], token);
  for (const act of ['suspend', 'reactivate'] as const) {
    const event = act === 'suspend' ? 'organization.suspended' : 'organization.reactivated';
    const its = { ...at, id: organization.id };
    await expectEvents(`${act}Organization`, its, ['operator.acted', event], token);
  }
  const started = await expectEvents(
    'impersonateUser',
    { ...at, id: owner.userId },
    ['impersonation.started', 'impersonation.started'],
    token,
  );
  const { accessToken, impersonationId: id } = started as unknown as Record<string, string>;
  await app.must('tags', { scope: organization }, { token: accessToken });
  await expectNamed('enterOrganization', ['impersonation.entered']);
  await expectEvents(
    'endImpersonation',
    { scope: installation, id },
    ['impersonation.ended', 'impersonation.ended'],
    token,
  );
});

it('every type was emitted except the ping, which is not recorded as an event', () => {
  const declared = [...eventCatalogue.keys(), ...installationTypes.keys()];
  expect([...emitted, PING].sort()).toEqual(declared.sort());
});
