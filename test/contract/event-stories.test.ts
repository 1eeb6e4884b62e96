import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { roleIdOf } from '../../src/access/built-in.ts';
import { auditLog, events } from '../../src/events/tables.ts';
import { eventCatalogue, PING } from '../../src/features/event-types/catalogue.ts';
import { webhookDeliveries } from '../../src/features/webhook-subscriptions/delivery.ts';
import { webhookSubscriptions } from '../../src/features/webhook-subscriptions/subscription.ts';
import type { JsonSchema } from '../../src/kernel/json-schema.ts';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { codeShown } from '../support/authenticator.ts';
import { openAppSession } from '../support/app-session.ts';
import type { Person, Via } from '../support/client.ts';
import { dataFaults } from './schema-check.ts';
import { member } from './world.ts';

/**
 * Every type of event, from the operation or job that emits it: exactly the events that the table says, once each, of
 * the schema that is answered for them, and for each event of the project one delivery to its webhook and no other.
 */
let app: TestApp;
let schemas: ReadonlyMap<string, JsonSchema>;
let owner: Person;
let as: { token: string };
let organization: ScopeRef;
let scope: ScopeRef;
let hook: string;
let answered: () => Promise<number> = async () => 200;

const heard = new Set<string>();
const known = new Set<string>();
const delivered = new Set<string>();
const nodeOf = ({ id }: ScopeRef): string => id.split(':').at(-1) as string;

beforeAll(async () => {
  const post = async () => ({ status: await answered(), retryAfter: null, body: Buffer.alloc(0) });
  const env = { WEBHOOKS_RETRY_SCHEDULE_SECONDS: 'none' };
  app = await startApp(env, undefined, { post });
  const { items } = await app.must('eventTypes', { limit: 100 });
  schemas = new Map(items.map((one) => [one.name, one.schema as JsonSchema]));
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

/** What was written since it was last asked: events, by their type, and audit entries as operation and event. */
async function news() {
  await app.app.flushMails();
  const rows = (await app.database.pool.select().from(events)).filter(({ id }) => !known.has(id));
  const entries = (await app.database.pool.select().from(auditLog)).filter(({ id }) => !known.has(id));
  const sent = (
    await app.database.pool.select().from(webhookDeliveries).where(eq(webhookDeliveries.kind, 'event'))
  ).filter(({ id }) => !delivered.has(id));
  for (const { id } of [...rows, ...entries]) known.add(id);
  for (const { id } of sent) delivered.add(id);
  return { rows, entries, sent };
}

/** Checks what the act left behind. `types`: the events that it emits, in the order of their names. */
async function expectTold(act: string, types: readonly string[]): Promise<void> {
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
    heard.add(type);
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
/** Runs an operation, over the transports by turns. */
async function told(
  name: string,
  input: object,
  types: readonly string[],
  token: string | undefined = as.token,
) {
  const via: Via = turn++ % 2 === 0 ? 'rest' : 'graphql';
  const answer = await app.raw(name, input, { via, ...(token ? { token } : {}) });
  expect(answer.ok, `${name}: ${answer.body}`).toBe(true);
  await expectTold(name, types);
  return answer.data as Record<string, never> & { id: string };
}

it('tells of rows of a project', async () => {
  for (const [noun, input, change] of [
    ['Role', { name: 'R' }, { name: 'S' }],
    ['Group', { name: 'G' }, { name: 'H' }],
    ['Resource', { name: 'I', slug: 'invoice' }, { isActive: false }],
  ] as const) {
    const name = noun.toLowerCase();
    const { id } = await told(`create${noun}`, { scope, ...input }, [`${name}.created`]);
    await told(`update${noun}`, { scope, id, ...change }, [`${name}.updated`]);
    await told(`update${noun}`, { scope, id, ...change }, []);
    await told(`delete${noun}`, { scope, id }, [`${name}.deleted`]);
  }
  const resource = await told('createResource', { scope, name: 'J', slug: 'j' }, ['resource.created']);
  const input = { scope, resourceId: resource.id, action: 'read' };
  const permission = await told('createPermission', input, ['permission.created']);
  await told('updatePermission', { scope, id: permission.id, name: 'X' }, ['permission.updated']);
  await told('deletePermission', { scope, id: permission.id }, ['permission.deleted']);
  const tag = await told('createTag', { scope, name: 'T' }, []);
  await told('deleteTag', { scope, id: tag.id }, []);
  await told('updateProject', { scope, id: nodeOf(scope), name: 'Q' }, ['project.updated']);
  await told('rotateSigningKey', { scope }, ['signing_key.rotated']);
});

it('tells of API keys', async () => {
  const key = await told('createApiKey', { scope, expiresAt: inDays(20) }, ['api_key.created']);
  const { id } = key;
  const { clientId, clientSecret, scope: ofKey } = key;
  await told('exchangeApiKey', { clientId, clientSecret, scope: ofKey }, ['api_key.exchanged'], '');
  await told('rotateApiKey', { scope, id }, ['api_key.rotated']);
  app.clock.advance(14 * 86_400_000);
  expect(await app.app.warnOfExpiry()).toBe(1);
  await expectTold('warnOfExpiringApiKey', ['api_key.expiring']);
  await signIn();
  await told('revokeApiKey', { scope, id }, ['api_key.revoked']);
  await told('deleteApiKey', { scope, id }, ['api_key.deleted']);
});

it('tells of project apps', async () => {
  const redirectUris = ['https://app.example.test/callback'];
  const input = { scope, name: 'A', redirectUris, confidential: true };
  const { id } = await told('createProjectApp', input, ['project_app.created']);
  await told('updateProjectApp', { scope, id, name: 'B' }, ['project_app.updated']);
  await told('updateProjectApp', { scope, id, name: 'B' }, []);
  await told('rotateProjectAppSecret', { scope, id }, ['project_app.updated']);
  await openAppSession(app, id, owner.userId);
  await told('deleteProjectApp', { scope, id }, ['project_app.deleted', 'session.revoked']);
});

const inDays = (days: number) => new Date(app.clock.now().getTime() + days * 86_400_000).toISOString();

async function signIn(): Promise<string> {
  const { email: providerId, password } = owner;
  const input = { provider: 'email', providerId, providerData: { password } };
  const data = await told('login', input, ['session.created'], '');
  const signedIn = (data['signIn'] ?? data) as unknown as { accessToken: string };
  as = { token: signedIn.accessToken };
  return as.token;
}

it('tells of people in organizations and projects', async () => {
  await told('updateOrganization', { scope: organization, id: organization.id, name: 'N' }, [
    'organization.updated',
  ]);
  const bob = await app.person();
  const viewer = roleIdOf('Organization Viewer');
  const carl = await member(app, organization.id, 'Organization Viewer');
  await news();
  await told('inviteMember', { scope: organization, email: bob.email, roleId: viewer }, [
    'invitation.created',
  ]);
  const token = await app.mailedToken(bob.email);
  await told('acceptInvitation', { token }, ['invitation.accepted', 'organization.member_added'], bob.token);
  const email = 'nobody@example.test';
  const invited = await told('inviteMember', { scope: organization, email, roleId: viewer }, [
    'invitation.created',
  ]);
  await told('revokeInvitation', { scope: organization, id: invited.id }, ['invitation.revoked']);
  const roleId = roleIdOf('Organization Developer');
  await told('updateOrganizationMember', { scope: organization, userId: bob.userId, roleId }, [
    'organization.member_role_changed',
  ]);
  await told('createUser', { scope, userId: carl.userId, roleIds: [] }, ['project.user_added']);
  const roleIds = [roleIdOf('Project Viewer')];
  await told('updateUser', { scope, id: carl.userId, roleIds }, ['project.user_roles_changed']);
  await told('deleteUser', { scope, id: carl.userId }, ['project.user_removed']);
  await told('removeOrganizationMember', { scope: organization, userId: bob.userId }, [
    'organization.member_removed',
  ]);
  const managed = await told('createUser', { scope, name: 'Managed', roleIds: [] }, [
    'project.user_added',
    'user.created',
  ]);
  await told('updateUser', { scope, id: managed.id, name: 'Renamed' }, ['user.updated']);
});

it('tells of an account', async () => {
  const ada = await app.person();
  await news();
  await told('updateMe', { name: 'Ada' }, ['user.updated'], ada.token);
  const created = await told('createMfaFactor', {}, [], ada.token);
  const { factor, secret } = created as unknown as { factor: { id: string }; secret: string };
  const code = codeShown(secret, app.clock.now());
  await told('verifyMfaFactor', { id: factor.id, code }, ['user.mfa_changed'], ada.token);
  const { accessToken, refreshToken } = { accessToken: ada.token, refreshToken: ada.refreshToken };
  const next = await app.must('refreshSession', { accessToken, refreshToken });
  app.clock.advance(60_000);
  expect((await app.raw('refreshSession', { accessToken, refreshToken })).code).toBe('UNAUTHENTICATED');
  await expectTold('refreshSession', ['session.reuse_detected']);
  expect(next.refreshToken).not.toBe(refreshToken);

  const dan = await app.person();
  await news();
  const added = { provider: 'email', providerId: 'dan@elsewhere.example' };
  await told('addMyAuthenticationMethod', added, ['user.sign_in_methods_changed'], dan.token);

  const eve = await app.person({ verified: false });
  await expectTold('register', ['session.created', 'user.created']);
  const token = await app.mailedToken(eve.email);
  await told('verifyEmail', { token }, ['user.email_verified'], '');
  const passwords = { currentPassword: eve.password, newPassword: 'another horse battery 77' };
  await told('changeMyPassword', passwords, ['user.password_changed'], eve.token);
  await told('logout', { refreshToken: eve.refreshToken }, ['session.revoked'], eve.token);
  const zoe = await app.person();
  await news();
  await told('deleteMe', {}, ['session.revoked', 'user.deleted'], zoe.token);
});

it('tells of receivers, from what came of deliveries', async () => {
  const url = 'https://other.example.test/';
  const input = { scope, url, eventTypes: ['api_key.exchanged'] };
  const { id } = await told('createWebhookSubscription', input, []);
  const set = (values: Partial<typeof webhookSubscriptions.$inferInsert>) =>
    app.database.pool.update(webhookSubscriptions).set(values).where(eq(webhookSubscriptions.id, id));
  // The other subscription hears of it, and is not to fail by it.
  await app.must('updateWebhookSubscription', { scope, id: hook, active: false }, as);
  const tried = async (exhaustedInARow: number, answer: () => Promise<number>) => {
    await set({ exhaustedInARow });
    await app.must('testWebhookSubscription', { scope, id }, as);
    await news();
    answered = answer;
    await app.app.flushWebhooks();
  };
  await tried(4, async () => 500);
  await expectTold('deliverWebhook', ['webhook.failing']);
  await tried(9, async () => 500);
  await expectTold('deliverWebhook', ['webhook.disabled']);
  await set({ disabledReason: null, disabledAt: null, exhaustedInARow: 0 });
  // Disabled while it is being asked.
  await tried(0, async () => {
    await set({ disabledReason: 'failing', disabledAt: app.clock.now() });
    return 200;
  });
  await expectTold('deliverWebhook', ['webhook.recovered']);
});

it('tells of what ends', async () => {
  const short = { scope: organization, name: 'Short' };
  const project = await told('createProject', short, ['project.created']);
  await told('deleteProject', { scope: organization, id: project.id }, ['project.deleted']);
  const brief = { scope: owner.account, name: 'Brief' };
  const { id } = await told('createOrganization', brief, [
    'organization.created',
    'organization.member_added',
  ]);
  await told('deleteOrganization', { scope: { tenant: 'organization', id }, id }, ['organization.deleted']);
});

it('has told of every type, but for the ping, which is no event', () => {
  expect([...heard, PING].sort()).toEqual([...eventCatalogue.keys()].sort());
});
