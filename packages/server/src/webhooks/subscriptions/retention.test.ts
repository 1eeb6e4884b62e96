import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import type { Person } from '../../../test/support/app/client.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import type { ScopeRef } from '../../kernel/scope.ts';
import { webhookAttempts, webhookDeliveries } from '../../schema/webhooks/webhook-delivery.ts';
import { webhookSubscriptions } from '../../schema/webhooks/webhook-subscription.ts';

/** Retention of deliveries, and erasure of personal data in them. */
let app: TestApp;
let owner: Person;
let as: { token: string };
let scope: ScopeRef;
const DAY_MS = 86_400_000;
const url = 'https://hooks.example.test/';

beforeAll(async () => {
  app = await startOwnApp({
    EVENTS_RETENTION_DAYS: '10',
    PRIVACY_DELETION_RETENTION_DAYS: '5',
  });
  owner = await app.person();
  as = { token: owner.token };
  ({ scope } = await app.must('createProject', { scope: owner.account, name: 'Kept' }, as));
});
afterAll(() => app.close());

const signIn = async () => {
  const { email: providerId, password } = owner;
  const input = { provider: 'email' as const, providerId, providerData: { password } };
  as = { token: (await app.must('login', input)).accessToken };
};
const subscribe = async (input: object = {}) =>
  (await app.must('createWebhookSubscription', { scope, url, eventTypes: ['*'], ...input }, as)).id;
const tested = async (id: string) => (await app.must('testWebhookSubscription', { scope, id }, as)).id;
const stateOf = async (id: string) => {
  const [row] = await app.database.pool.select().from(webhookDeliveries).where(eq(webhookDeliveries.id, id));
  return row?.status ?? 'gone';
};
const becomes = (id: string, status: 'delivered' | 'exhausted') =>
  app.database.pool
    .update(webhookDeliveries)
    .set({ status, nextAttemptAt: null, updatedAt: app.clock.now() })
    .where(eq(webhookDeliveries.id, id));

it('purges finished deliveries after the retention, cancels those that only wait, and keeps due ones', async () => {
  const live = await subscribe();
  const inactive = await subscribe({ active: false });
  const disabled = await subscribe();
  await app.database.pool
    .update(webhookSubscriptions)
    .set({ disabledReason: 'failing', disabledAt: app.clock.now() })
    .where(eq(webhookSubscriptions.id, disabled));
  const due = await tested(live);
  const delivered = await tested(live);
  const exhausted = await tested(live);
  const waiting = [await tested(inactive), await tested(disabled)];
  await becomes(delivered, 'delivered');
  await becomes(exhausted, 'exhausted');
  await app.database.pool.insert(webhookAttempts).values({
    tenantId: scope.id.split(':')[1] as string,
    deliveryId: delivered,
    number: 1,
    attemptedAt: app.clock.now(),
    statusCode: 200,
  });

  app.clock.advance(9 * DAY_MS);
  await app.purge();
  for (const id of waiting) expect(await stateOf(id)).toBe('pending');
  expect([await stateOf(delivered), await stateOf(exhausted)]).toEqual(['delivered', 'exhausted']);
  app.clock.advance(2 * DAY_MS);
  await app.purge();
  for (const id of waiting) expect(await stateOf(id)).toBe('cancelled');
  expect([await stateOf(delivered), await stateOf(exhausted)]).toEqual(['gone', 'gone']);
  expect(await app.database.pool.select().from(webhookAttempts)).toEqual([]);
  expect(await stateOf(due)).toBe('pending');
  app.clock.advance(11 * DAY_MS);
  await app.purge();
  for (const id of waiting) expect(await stateOf(id)).toBe('gone');
});

it('purges a deleted subscription with its secrets after its deliveries', async () => {
  await signIn();
  const id = await subscribe();
  const delivery = await tested(id);
  await app.must('deleteWebhookSubscription', { scope, id }, as);
  // `deletedAt` comes from the clock of the database, not from the test clock.
  await app.database.pool
    .update(webhookSubscriptions)
    .set({ deletedAt: app.clock.now() })
    .where(eq(webhookSubscriptions.id, id));
  const left = async (table: string, column: string) =>
    (
      await rowsOf(
        app.database.pool,
        sql`select 1 from ${sql.identifier(table)} where ${sql.identifier(column)} = ${id}::uuid`,
      )
    ).length;
  app.clock.advance(6 * DAY_MS);
  await app.purge();
  expect([await stateOf(delivery), await left('webhook_subscriptions', 'id')]).toEqual(['cancelled', 1]);
  app.clock.advance(5 * DAY_MS);
  await app.purge();
  await app.purge();
  expect([
    await stateOf(delivery),
    await left('webhook_subscriptions', 'id'),
    await left('webhook_secrets', 'subscription_id'),
  ]).toEqual(['gone', 0, 0]);
});

it('keeps only the id of an erased user, also in later deliveries', async () => {
  await signIn();
  const id = await subscribe({ active: false, eventTypes: ['user.*'] });
  const name = 'Brunhilde Birnbaum';
  const user = await app.must('createUser', { scope, name, roleIds: [] }, as);
  await app.must('updateUser', { scope, id: user.id, name: `${name} II` }, as);
  await app.app.flushMails();
  const bodies = async () =>
    (
      await app.database.pool
        .select({ body: webhookDeliveries.body })
        .from(webhookDeliveries)
        .where(eq(webhookDeliveries.subscriptionId, id))
    ).map(({ body }) => body);
  expect(await bodies()).toHaveLength(2);
  expect((await bodies()).every((body) => body.includes(name))).toBe(true);
  await app.must('deleteUser', { scope, id: user.id }, as);
  await app.database.pool.execute(
    sql`update users set purge_at = now() - interval '1 day' where id = ${user.id}::uuid`,
  );
  await app.purge();
  const erased = await bodies();
  expect(erased.join()).not.toContain('Brunhilde');
  expect(erased.map((body) => (JSON.parse(body) as { data: unknown }).data)).toEqual(
    erased.map(() => ({ id: user.id })),
  );
});

it('leaves nothing of a deleted project', async () => {
  const { id: projectId, scope: own } = await app.must(
    'createProject',
    { scope: owner.account, name: 'Short' },
    as,
  );
  const input = { scope: own, url, eventTypes: ['*'] };
  const { id } = await app.must('createWebhookSubscription', input, as);
  await app.must('testWebhookSubscription', { scope: own, id }, as);
  await app.must('deleteProject', { scope: owner.account, id: projectId }, as);
  const dead = await app.database.pool
    .select()
    .from(webhookSubscriptions)
    .where(eq(webhookSubscriptions.id, id));
  expect(dead[0]?.deletedAt).not.toBeNull();
  app.clock.advance(60 * DAY_MS);
  await app.purge();
  for (const table of ['webhook_subscriptions', 'webhook_deliveries', 'webhook_secrets']) {
    const rows = await rowsOf(
      app.database.pool,
      sql`select 1 from ${sql.identifier(table)} where tenant_id = ${projectId}::uuid`,
    );
    expect(rows, table).toEqual([]);
  }
});
