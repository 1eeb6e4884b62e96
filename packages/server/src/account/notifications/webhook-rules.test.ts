import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import type { Person } from '../../../test/support/app/client.ts';
import { member } from '../../../test/contract/world.ts';
import { resourceIdOf, roleIdOf } from '../../schema/rights/built-in-ids.ts';
import type { ScopeRef } from '../../kernel/scope.ts';

/** Recipients and texts of notifications about failing webhooks. */
let app: TestApp;
let status = 200;
let owner: Person;
let as: { token: string };
let organization: ScopeRef;
let scope: ScopeRef;

beforeAll(async () => {
  const post = async () => ({ status, retryAfter: null, body: Buffer.alloc(0) });
  // One attempt each, so that every failure exhausts a delivery.
  const env = { WEBHOOKS_RETRY_SCHEDULE_SECONDS: 'none' };
  app = await startApp(env, undefined, { post });
  owner = await app.person({ type: 'organization' });
  as = { token: owner.token };
  const { id } = await app.must('createOrganization', { scope: owner.account, name: 'Acme' }, as);
  organization = { tenant: 'organization', id };
  ({ scope } = await app.must('createProject', { scope: organization, name: 'Shop' }, as));
});
afterAll(() => app.close());

const subscribe = async (token = owner.token, url = 'https://hooks.example.test/in?secret=sesame') =>
  (await app.must('createWebhookSubscription', { scope, url, eventTypes: ['role.created'] }, { token })).id;
const tried = async (id: string, times: number) => {
  for (let n = 0; n < times; n++) await app.must('testWebhookSubscription', { scope, id }, as);
  await app.app.flushWebhooks();
  await app.app.flushMails();
};
const webhookNotificationsOf = async ({ token }: Person) =>
  (await app.must('myNotifications', {}, { token })).items.filter(({ type }) => type.startsWith('webhook_'));

it('warns the users who can repair the webhook, then reports that it was disabled', async () => {
  const admin = await member(app, organization.id, 'Organization Admin');
  const viewer = await member(app, organization.id, 'Organization Viewer');
  const projectAdmin = await member(app, organization.id, 'Organization Viewer');
  const conditional = await member(app, organization.id, 'Organization Viewer');
  const creator = await member(app, organization.id, 'Organization Developer');
  const gone = await member(app, organization.id, 'Organization Admin');
  const roleIds = [roleIdOf('Project Admin')];
  await app.must('createUser', { scope, userId: projectAdmin.userId, roleIds }, as);
  const permission = await app.must(
    'createPermission',
    {
      scope,
      resourceId: resourceIdOf('WebhookSubscription'),
      action: 'Update',
      condition: { Equals: { 'user.id': 'nobody' } },
    },
    as,
  );
  const group = await app.must('createGroup', { scope, name: 'G', permissionIds: [permission.id] }, as);
  const role = await app.must('createRole', { scope, name: 'Maybe', groupIds: [group.id] }, as);
  await app.must('createUser', { scope, userId: conditional.userId, roleIds: [role.id] }, as);
  await app.must('updateMe', { locale: 'de' }, { token: admin.token });

  const id = await subscribe(creator.token);
  await app.must('deleteUser', { scope: organization, id: gone.userId }, as);
  status = 500;
  await tried(id, 4);
  expect(await webhookNotificationsOf(owner)).toEqual([]);
  await tried(id, 1);
  const [warned] = await webhookNotificationsOf(owner);
  expect(warned).toMatchObject({
    type: 'webhook_failing',
    title: 'A webhook of Shop is failing',
    target: { type: 'WebhookSubscription', id },
    scope,
  });
  expect(warned?.body).toContain('the project “Shop” to hooks.example.test');
  await tried(id, 5);
  for (const person of [owner, projectAdmin, creator]) {
    expect((await webhookNotificationsOf(person)).map(({ title }) => title)).toEqual([
      'A webhook of Shop was disabled',
      'A webhook of Shop is failing',
    ]);
  }
  expect((await webhookNotificationsOf(admin)).map(({ title }) => title)).toEqual([
    'Ein Webhook von Shop wurde deaktiviert',
    'Ein Webhook von Shop schlägt fehl',
  ]);
  for (const person of [viewer, conditional, gone]) expect(await webhookNotificationsOf(person)).toEqual([]);
  const mails = app.mails.filter(({ to }) => to === creator.email).map(({ subject }) => subject);
  expect(mails).toEqual(expect.arrayContaining(['A webhook of Shop was disabled']));
  expect(JSON.stringify([app.mails, await webhookNotificationsOf(owner)])).not.toContain('sesame');
});

it('reports that a receiver with status 410 wants no more events', async () => {
  const id = await subscribe();
  status = 410;
  await tried(id, 1);
  const [reported] = await webhookNotificationsOf(owner);
  expect(reported).toMatchObject({ type: 'webhook_disabled', target: { id } });
  expect(reported?.body).toContain('(410 Gone)');
});
