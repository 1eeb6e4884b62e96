import { and, eq, inArray, sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import type { Person } from '../../../test/support/app/client.ts';
import { roleIdOf } from '../../schema/rights/built-in-ids.ts';
import { auditLog } from '../../schema/events/audit-log-entry.ts';
import { events } from '../../schema/events/event.ts';
import type { ScopeRef } from '../../kernel/scope.ts';
import { apiKeys } from '../../schema/machines/api-key.ts';

/** Warnings about keys that will expire: when they are sent, how often, and to whom. */
let app: TestApp;
let owner: Person;
let scope: ScopeRef;
let as: { token: string };

beforeAll(async () => {
  app = await startOwnApp();
  owner = await app.person();
  as = { token: owner.token };
  ({ scope } = await app.must('createProject', { scope: owner.account, name: 'Rocket' }, as));
});
afterAll(() => app.close());

/** Creates a key, as if `age` days ago, that expires in `left` days. */
async function keyOf(name: string, age: number, left: number): Promise<string> {
  const { id } = await app.must('createApiKey', { scope, name }, as);
  await lives(id, age, left);
  return id;
}
const lives = (id: string, age: number, left: number) =>
  app.database.pool.execute(sql`update api_keys set created_at = now() - ${age} * interval '1 day',
    expires_at = now() + ${left} * interval '1 day' where id = ${id}::uuid`);

const run = () => app.app.warnOfExpiry();
const warnings = async (...ids: string[]) => {
  const reported = await app.database.pool
    .select({ body: events.body })
    .from(events)
    .where(and(eq(events.type, 'api_key.expiring'), inArray(sql`body->'data'->>'id'`, ids)));
  return reported.map(({ body }) => body);
};

it('warns 30, 7 and 1 days before, once each, with concurrent runs', { tags: 'race' }, async () => {
  const id = await keyOf('robot', 100, 31);
  expect(await run()).toBe(0);
  for (const [left, count] of [
    [29.9, 1],
    [6.9, 2],
    [0.9, 3],
  ] as const) {
    await lives(id, 100, left);
    const together = await Promise.all([run(), run(), run()]);
    expect(together.reduce((a, b) => a + b)).toBe(1);
    expect(await run()).toBe(0);
    expect(await warnings(id)).toHaveLength(count);
  }
  const [warning] = await warnings(id);
  expect(warning).toMatchObject({
    scope,
    actor: { type: 'system', id: null, userId: null },
    data: { id, name: 'robot', status: 'active', scope: { tenant: 'AccountProject' } },
  });
  expect(JSON.stringify(warning)).not.toContain('expiryNoticeDays');
  const entries = await app.database.pool
    .select({ event: auditLog.event, metadata: auditLog.metadata })
    .from(auditLog)
    .where(eq(auditLog.operation, 'warnOfExpiringApiKey'))
    .orderBy(auditLog.sequence);
  expect(entries.map(({ metadata }) => (metadata as { noticeDays: number }).noticeDays)).toEqual([30, 7, 1]);
  expect(new Set(entries.map(({ event }) => event))).toEqual(new Set(['api_key.expiring']));
});

it('warns of active keys only, and skips notices from before the creation', async () => {
  const [revoked, deleted, short, expired, missed] = [
    await keyOf('revoked', 100, 5),
    await keyOf('deleted', 100, 5),
    await keyOf('short', 0, 5),
    await keyOf('expired', 100, -1),
    await keyOf('missed', 100, 0.5),
  ];
  await app.must('revokeApiKey', { scope, id: revoked }, as);
  await app.must('deleteApiKey', { scope, id: deleted }, as);
  // Of several missed notices, only the latest is sent.
  expect(await run()).toBe(1);
  expect(await warnings(missed)).toHaveLength(1);
  expect(await warnings(revoked, deleted, short, expired)).toEqual([]);
  const [row] = await app.database.pool.select().from(apiKeys).where(eq(apiKeys.id, missed));
  expect(row?.expiryNoticeDays).toBe(1);
});

it('notifies the creator in their language, in the service and by mail', async () => {
  await app.must('updateMe', { locale: 'de' }, as);
  const id = await keyOf('evil.example', 100, 6.5);
  // Mails of earlier tests may still be queued.
  await app.app.flushMails();
  app.mails.length = 0;
  expect(await run()).toBe(1);
  await app.app.flushMails();
  const { items } = await app.must('myNotifications', { limit: 1 }, as);
  expect(items[0]).toMatchObject({
    type: 'api_key_expiring',
    title: 'Ein API-Schlüssel in Rocket läuft bald ab',
    body: expect.stringContaining('„evil.example“, den Sie im Projekt „Rocket“ angelegt haben') as string,
    target: { type: 'ApiKey', id },
    scope,
  });
  const mails = app.mails.filter(({ to }) => to === owner.email);
  expect(mails.map(({ subject }) => subject)).toEqual(['Ein API-Schlüssel in Rocket läuft bald ab']);
  expect(mails[0]?.text).not.toContain('evil.example');
});

it('says of the key of a service user to which organization or account it belongs', async () => {
  const head = await app.person({ type: 'organization' });
  const his = { token: head.token };
  const { id } = await app.must('createOrganization', { scope: head.account, name: 'Lantern' }, his);
  const places = [
    [{ tenant: 'organization', id }, 'Organization Viewer', 'An API key in Lantern expires soon'],
    [head.account, 'Account Onboarding', 'An API key of your account expires soon'],
  ] as const;
  for (const [place, role, title] of places) {
    const machine = { kind: 'service' as const, name: 'Robot', roleIds: [roleIdOf(role)] };
    const { id: userId } = await app.must('createUser', { scope: place, ...machine }, his);
    const key = await app.must('createApiKey', { scope: place, userId, name: 'nightly' }, his);
    await lives(key.id, 100, 6.5);
    expect(await run()).toBe(1);
    await app.app.flushMails();
    const { items } = await app.must('myNotifications', { limit: 1 }, his);
    expect(items[0]).toMatchObject({
      ...{ type: 'api_key_expiring', title, target: { type: 'ApiKey', id: key.id }, scope: place },
      body: expect.stringContaining('“nightly”') as string,
    });
  }
});

it('does not notify a user who has left the project', async () => {
  const [head, bob] = [await app.person({ type: 'organization' }), await app.person()];
  const his = { token: head.token };
  const made = await app.must('createOrganization', { scope: head.account, name: 'O' }, his);
  const { scope: place } = await app.must(
    'createProject',
    { scope: { tenant: 'organization', id: made.id }, name: 'P' },
    his,
  );
  const key = await app.must('createApiKey', { scope: place, name: 'left behind' }, his);
  await lives(key.id, 100, 6.5);
  await app.database.pool.update(apiKeys).set({ createdBy: bob.userId }).where(eq(apiKeys.id, key.id));
  expect(await run()).toBe(1);
  await app.app.flushMails();
  expect((await app.must('myNotifications', {}, { token: bob.token })).items).toEqual([]);
});
