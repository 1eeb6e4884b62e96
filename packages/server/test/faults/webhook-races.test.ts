import { count, sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { rowsOf } from '../../src/db/statements/rows.ts';
import { webhookAttempts, webhookDeliveries } from '../../src/schema/webhooks/webhook-delivery.ts';
import { startOwnApp, type TestApp } from '../support/app/app.ts';
import { createReceivers, enqueue, subscribe } from '../support/tenants/webhooks.ts';

/**
 * Several processes deliver from one database at once. Each event is sent once and one of them makes each attempt, in
 * every interleaving; the others take over what one drops.
 */
const DELIVERIES = Number(process.env['WEBHOOK_RACES'] ?? 400);
const PROCESSES = inject('postgresUrl') ? 4 : 1;
const SUBSCRIPTIONS = 20;

const receivers = createReceivers(() => new Date());
const apps: TestApp[] = [];
let projectId: string;
beforeAll(async () => {
  const env = { WEBHOOKS_TIMEOUT_MS: '1000' };
  for (let started = 0; started < PROCESSES; started++) {
    apps.push(
      await startOwnApp(env, apps[0], { post: (request, signal) => receivers.post(request, signal) }),
    );
  }
  const app = apps[0] as TestApp;
  const { token, account } = await app.person();
  ({ id: projectId } = await app.must('createProject', { scope: account, name: 'Races' }, { token }));
});
afterAll(async () => {
  for (const app of apps.toReversed()) await app.close();
});

describe(`${PROCESSES} processes`, () => {
  test(
    `make the first attempt of ${DELIVERIES} deliveries once each`,
    { timeout: 60_000 + DELIVERIES * 20 },
    async () => {
      const [app] = apps as [TestApp];
      const { pool } = app.database;
      const ids: string[] = [];
      for (let made = 0; made < SUBSCRIPTIONS; made++) {
        const subscribed = await subscribe(app, projectId, `https://receiver-${made}.test/`);
        ids.push(...(await enqueue(app, subscribed, DELIVERIES / SUBSCRIPTIONS)));
      }
      await Promise.all(apps.flatMap((app) => [app.app.flushWebhooks(), app.app.flushWebhooks()]));
      const sent = receivers.received.map(({ headers }) => headers['webhook-id']);
      expect(sent.length).toBe(ids.length);
      expect(new Set(sent)).toEqual(new Set(ids));
      const statuses = await pool
        .select({
          status: webhookDeliveries.status,
          attempts: webhookDeliveries.attemptCount,
          count: count(),
        })
        .from(webhookDeliveries)
        .groupBy(webhookDeliveries.status, webhookDeliveries.attemptCount);
      expect(statuses).toEqual([{ status: 'delivered', attempts: 1, count: ids.length }]);
      expect(await pool.$count(webhookAttempts)).toBe(ids.length);
      const makers = await rowsOf<{ deliveries: number }>(
        pool,
        sql`select count(*)::int as deliveries from webhook_attempts`,
      );
      process.stdout.write(
        `webhooks: ${PROCESSES} processes on ${app.database.mode}, ${makers[0]?.deliveries} first attempts, ${sent.length - ids.length} made twice\n`,
      );
    },
  );
});
