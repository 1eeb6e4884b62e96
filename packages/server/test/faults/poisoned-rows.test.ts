/**
 * Rows that the service never writes, such as a manual change or a disk fault leaves: each affects only itself.
 * Decisions deny, lists answer, jobs continue with the next row, and a log line names the fault.
 */
import { sql, type SQL } from 'drizzle-orm';
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Executor } from '../../src/kernel/scoped-db.ts';
import { startOwnApp, type TestApp } from '../support/app/app.ts';
import { appInProject, roleWith, type AppInProject } from '../support/sign-in/project-app.ts';
import { createReceivers, enqueue, subscribe } from '../support/tenants/webhooks.ts';

let app: TestApp;
let place: AppInProject;
const receivers = createReceivers(() => app.clock.now());
beforeAll(async () => {
  app = await startOwnApp({}, undefined, { post: receivers.post });
  place = await appInProject(app);
});
afterAll(() => app.close());

const as = () => ({ token: place.owner.token });
const write = (statement: SQL) => app.owner.execute(statement);
/** Bypasses foreign keys, as only a fault or an administrator can. */
const force = (statement: SQL) =>
  app.owner.transaction(async (tx: Executor) => {
    await tx.execute(sql`set local session_replication_role = 'replica'`);
    await tx.execute(statement);
  });
const logged = (text: RegExp) => app.logs.filter((line) => text.test(line));
let reported = 0;
afterEach(() => void reported++);

async function keyOf(roleId: string) {
  const key = await app.must('createApiKey', { scope: place.scope, roleId, name: 'K' }, as());
  const exchange = () =>
    app.raw('exchangeApiKey', {
      clientId: key.clientId,
      clientSecret: key.clientSecret ?? '',
      scope: key.scope,
    });
  return { id: key.id, exchange };
}
/** A change of permissions in the project, which invalidates all caches, as in a process that has just started. */
const forget = () => app.must('createGroup', { scope: place.scope, name: randomUUID() }, as());
const tokenOf = (answer: { data: unknown }) => (answer.data as { accessToken: string }).accessToken;
const may = async (token: string, action: string) =>
  (
    await app.must(
      'isAuthorized',
      { scope: place.scope, permission: { resource: 'board', action } },
      { token },
    )
  ).authorized;

describe('a stored condition that is invalid', () => {
  let editor: string;
  beforeAll(async () => {
    editor = tokenOf(await (await keyOf(await roleWith(app, place, ['edit']))).exchange());
  });
  test.each(['{"Nope": {"a": 1}}', '"text"', '[1]', '7', 'true', '{"And": {}}', '{"Equals": {"": 1}}'])(
    '%s is never met',
    async (condition) => {
      const roleId = await roleWith(app, place, ['read']);
      const { exchange } = await keyOf(roleId);
      const token = tokenOf(await exchange());
      expect([await may(token, 'read'), await may(token, 'edit')]).toEqual([true, false]);
      await write(sql`update permissions set condition = ${condition}::jsonb where tenant_id = ${place.scope.id.split(':')[1]}
        and action = 'read'`);
      await forget();
      expect(await may(token, 'read')).toBe(false);
      expect(await may(editor, 'edit')).toBe(true);
      for (const name of ['myPermissions', 'permissions', 'roles'] as const)
        expect(
          (await app.raw(name, { scope: place.scope }, name === 'myPermissions' ? { token } : as())).status,
        ).toBe(200);
      const requested = {
        scope: place.scope,
        permission: { resource: 'board', action: 'read' },
        explain: true,
      };
      expect((await app.raw('isAuthorized', requested, as())).status).toBe(200);
      await write(
        sql`update permissions set condition = null where tenant_id = ${place.scope.id.split(':')[1]}`,
      );
      await forget();
      expect(await may(token, 'read')).toBe(true);
    },
  );
});

test('a role with links to groups that are deleted or never existed keeps the rest', async () => {
  const roleId = await roleWith(app, place, ['read']);
  const token = tokenOf(await (await keyOf(roleId)).exchange());
  const tenant = place.scope.id.split(':')[1];
  await force(sql`insert into role_groups (tenant_id, role_id, to_tenant_id, group_id)
    values (${tenant}::uuid, ${roleId}::uuid, ${tenant}::uuid, ${randomUUID()}::uuid)`);
  await forget();
  expect([await may(token, 'read'), await may(token, 'edit')]).toEqual([true, false]);
  for (const select of ['{ items { id groups { id permissions { id } } } }', undefined]) {
    const answer = await app.raw(
      'roles',
      { scope: place.scope, ...(select ? {} : { relations: 'groups' }) },
      { ...as(), ...(select ? { via: 'graphql', select } : {}) },
    );
    expect({ status: answer.status, ok: answer.ok }).toEqual({ status: 200, ok: true });
  }
  await write(sql`update groups set deleted_at = now() where tenant_id = ${tenant}::uuid`);
  await forget();
  expect(await may(token, 'read')).toBe(false);
  expect((await app.raw('role', { scope: place.scope, id: roleId, relations: 'groups' }, as())).status).toBe(
    200,
  );
});

test('events of unknown types and shapes delay no other one, in the relay and in the feed', async () => {
  const tenant = place.scope.id.split(':')[1];
  const from = 1_000_000;
  const odd = [
    ['nonsense.happened', '{}'],
    ['role.created', '[]'],
    ['api_key.created', '{"data": null}'],
    ['organization.member_added', '{"id": 7, "data": {"userId": "x"}}'],
    ['', 'null'],
  ];
  for (const [index, [type = '', body = '']] of odd.entries())
    await write(sql`insert into events (id, tenant_id, sequence, type, occurred_at, body, relay_at)
      values (${randomUUID()}::uuid, ${tenant}::uuid, ${from + index}, ${type}, now(), ${body}::jsonb, now() - interval '1 minute')`);
  const { email } = await app.person();
  const before = app.mails.length;
  await app.must('requestPasswordReset', { email });
  const subscription = await subscribe(app, tenant ?? '', 'https://good.example/hook');
  await app.must('createRole', { scope: place.scope, name: 'Heard of' }, as());
  await app.app.flushWebhooks();
  await app.app.flushMails();
  expect(receivers.idsAt('good.example').length).toBeGreaterThanOrEqual(1);
  expect(app.mails.length).toBeGreaterThan(before);
  expect(subscription.projectId).toBe(tenant);
  const feed = await app.raw('events', { scope: place.scope, limit: 100 }, as());
  expect(feed.status, feed.body).toBe(200);
  expect(feed.body).toContain('"Heard of"');
  await write(sql`delete from events where sequence >= ${from}`);
});

test('a mail that no key decrypts is skipped, and the next one is sent', async () => {
  await write(
    sql`insert into mails (id, sealed, next_attempt_at) values (${randomUUID()}::uuid, 'no seal at all', now() - interval '1 day')`,
  );
  const { email } = await app.person();
  await app.must('requestPasswordReset', { email });
  await app.app.flushMails();
  expect(app.mails.filter(({ to }) => to === email).length).toBeGreaterThanOrEqual(2);
  expect(logged(/a mail could not be sent/).length).toBeGreaterThanOrEqual(1);
  await write(sql`delete from mails where sealed = 'no seal at all'`);
});

test('subscriptions with impossible addresses and secrets delay only their own deliveries', async () => {
  const tenant = place.scope.id.split(':')[1] ?? '';
  for (const url of ['', 'http://[bad', 'not a url', 'https://user:pass@x.example/']) {
    const broken = await subscribe(app, tenant, 'https://broken.example/');
    await write(sql`update webhook_subscriptions set url = ${url} where id = ${broken.id}::uuid`);
    await enqueue(app, broken);
  }
  const unsealed = await subscribe(app, tenant, 'https://unsealed.example/');
  await write(
    sql`update webhook_secrets set sealed = 'no seal' where subscription_id = ${unsealed.id}::uuid`,
  );
  await enqueue(app, unsealed);
  const [sent] = await enqueue(app, await subscribe(app, tenant, 'https://fine.example/'));
  await app.app.flushWebhooks();
  expect(receivers.idsAt('fine.example')).toContain(sent);
  expect(receivers.idsAt('unsealed.example')).toEqual([]);
  const list = await app.raw('webhookSubscriptions', { scope: place.scope, limit: 100 }, as());
  expect(list.status, list.body).toBe(200);
});

test('a signing key that no key decrypts signs nothing, and every other project works', async () => {
  const other = await appInProject(app, {}, place.owner);
  const key = await app.must('createApiKey', { scope: other.scope, name: 'K' }, as());
  await write(sql`update signing_key_secrets set sealed = 'no seal' where key_id in
    (select id from signing_keys where tenant_id = ${other.scope.id.split(':')[1]})`);
  const exchange = { clientId: key.clientId, clientSecret: key.clientSecret ?? '', scope: key.scope };
  expect((await app.raw('exchangeApiKey', exchange)).status).not.toBe(200);
  expect((await app.raw('signingKeys', { scope: other.scope }, as())).status).toBe(200);
  const { exchange: elsewhere } = await keyOf(await roleWith(app, place, ['read']));
  expect((await elsewhere()).status).toBe(200);
  expect((await app.raw('me', {}, as())).status).toBe(200);
});

test('odd values in other columns break no list, and a key with an impossible network admits no caller', async () => {
  const tenant = place.scope.id.split(':')[1];
  await app.must('createTag', { scope: place.scope, name: 'odd' }, as());
  await write(
    sql`update tags set metadata = '[]'::jsonb, color = '</script>' where name = 'odd' and tenant_id = ${tenant}::uuid`,
  );
  const tags = await app.raw('tags', { scope: place.scope, limit: 100 }, as());
  expect(tags.status, tags.body).toBe(200);
  const { id, exchange } = await keyOf(await roleWith(app, place, ['read']));
  await write(sql`update api_keys set allowed_cidrs = '{nonsense,999.0.0.0/99}' where id = ${id}::uuid`);
  await forget();
  const refused = await exchange();
  expect([401, 403]).toContain(refused.status);
  expect((await app.raw('apiKeys', { scope: place.scope, limit: 100 }, as())).status).toBe(200);
  process.stdout.write(`poisoned rows: ${reported + 1} kinds, each spoiled only itself\n`);
});
