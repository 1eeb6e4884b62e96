import { asc, eq } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import {
  createReceivers,
  enqueue,
  subscribe,
  verified,
  type Receivers,
} from '../../../test/support/tenants/webhooks.ts';
import { webhookAttempts, webhookDeliveries } from '../../schema/webhooks/webhook-delivery.ts';
import { webhookSecrets, webhookSubscriptions } from '../../schema/webhooks/webhook-subscription.ts';
import { PostFault } from '../../outgoing/outgoing.ts';

/** Results of deliveries: the real queue and workers, with receivers that behave as each test needs. */
let app: TestApp;
let receivers: Receivers;
let projectId: string;
beforeAll(async () => {
  const later: { receivers?: Receivers } = {};
  // Deliveries are sent only when a test flushes.
  app = await startApp({ WEBHOOKS_TIMEOUT_MS: '1000' }, undefined, {
    post: (request, signal) => (later.receivers as Receivers).post(request, signal),
  });
  receivers = later.receivers = createReceivers(() => app.clock.now());
  const { token, account } = await app.person();
  ({ id: projectId } = await app.must('createProject', { scope: account, name: 'Hooks' }, { token }));
});
afterAll(() => app.close());
beforeEach(async () => {
  receivers.received.length = 0;
  receivers.reactions.clear();
  await app.database.pool.update(webhookSubscriptions).set({ active: false });
});

const flush = () => app.app.flushWebhooks();
const deliveriesOf = (subscriptionId: string) =>
  app.database.pool
    .select()
    .from(webhookDeliveries)
    .where(eq(webhookDeliveries.subscriptionId, subscriptionId))
    .orderBy(asc(webhookDeliveries.id));
const attemptsOf = (deliveryId: string) =>
  app.database.pool
    .select()
    .from(webhookAttempts)
    .where(eq(webhookAttempts.deliveryId, deliveryId))
    .orderBy(asc(webhookAttempts.number));
async function subscription(id: string) {
  const [row] = await app.database.pool
    .select()
    .from(webhookSubscriptions)
    .where(eq(webhookSubscriptions.id, id));
  if (!row) throw new Error('no subscription');
  return row;
}

describe('a delivery', () => {
  test('is sent once, signed, and its result is recorded', async () => {
    const subscribed = await subscribe(app, projectId, 'https://fine.test/hook');
    const [eventId] = await enqueue(app, subscribed);
    await flush();
    await flush();
    expect(receivers.received).toHaveLength(1);
    const [sent] = receivers.received as [Receivers['received'][number]];
    expect(verified(subscribed, sent).id).toBe(eventId);
    expect(sent.headers['webhook-id']).toBe(eventId);
    const [delivery] = await deliveriesOf(subscribed.id);
    expect(delivery).toMatchObject({
      status: 'delivered',
      attemptCount: 1,
      nextAttemptAt: null,
      claimedUntil: null,
      lastStatusCode: 204,
      lastError: null,
      lastResponseBody: 'heard',
      body: sent.body,
    });
    expect(delivery?.deliveredAt).toEqual((await subscription(subscribed.id)).lastDeliveredAt);
    expect(await attemptsOf(delivery?.id ?? '')).toMatchObject([{ number: 1, statusCode: 204, error: null }]);
  });

  test('that fails is attempted ten times with the same id and body and new signatures, and is exhausted then', async () => {
    const subscribed = await subscribe(app, projectId, 'https://broken.test/');
    receivers.reactions.set('broken.test', 500);
    const [eventId] = await enqueue(app, subscribed);
    const waits: number[] = [];
    for (let attempt = 1; attempt <= 10; attempt++) {
      await flush();
      const [delivery] = await deliveriesOf(subscribed.id);
      expect(delivery).toMatchObject({ attemptCount: attempt, lastError: 'status', lastStatusCode: 500 });
      if (delivery?.nextAttemptAt)
        waits.push(delivery.nextAttemptAt.getTime() - delivery.updatedAt.getTime());
      await flush();
      app.clock.advance((waits.at(-1) ?? 0) + 1000);
    }
    expect(waits.map((wait) => wait / 1000)).toEqual([
      5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400,
    ]);
    await flush();
    const [delivery] = await deliveriesOf(subscribed.id);
    expect(delivery).toMatchObject({ status: 'exhausted', attemptCount: 10, nextAttemptAt: null });
    expect(receivers.idsAt('broken.test')).toEqual(Array<string>(10).fill(eventId ?? ''));
    expect(new Set(receivers.received.map(({ body }) => body)).size).toBe(1);
    expect(new Set(receivers.received.map(({ headers }) => headers['webhook-signature'])).size).toBe(10);
    const numbers = (await attemptsOf(delivery?.id ?? '')).map(({ number }) => number);
    expect(numbers).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(await subscription(subscribed.id)).toMatchObject({ exhaustedInARow: 1 });
  });

  test('waits as long as Retry-After says', async () => {
    const subscribed = await subscribe(app, projectId, 'https://busy.test/');
    receivers.reactions.set('busy.test', { status: 429, retryAfter: '7200' });
    await enqueue(app, subscribed);
    await flush();
    const [delivery] = await deliveriesOf(subscribed.id);
    expect(Number(delivery?.nextAttemptAt) - Number(delivery?.updatedAt)).toBe(7_200_000);
  });

  test.each([
    ['connection', new PostFault('connection', null)],
    ['tls', new PostFault('tls', null)],
    ['redirect', 302],
    ['timeout', 'hang'],
  ] as const)('remembers that it failed by %s', async (error, reaction) => {
    const subscribed = await subscribe(app, projectId, 'https://failing.test/');
    receivers.reactions.set('failing.test', reaction);
    await enqueue(app, subscribed);
    await flush();
    const [delivery] = await deliveriesOf(subscribed.id);
    expect(delivery).toMatchObject({ status: 'pending', lastError: error, attemptCount: 1 });
    expect(await attemptsOf(delivery?.id ?? '')).toMatchObject([{ number: 1, error }]);
  });

  test('to a target that became forbidden is blocked before anything is sent', async () => {
    const subscribed = await subscribe(app, projectId, 'https://127.0.0.1/');
    await enqueue(app, subscribed);
    await flush();
    expect((await deliveriesOf(subscribed.id))[0]).toMatchObject({ status: 'pending', lastError: 'blocked' });
    expect(receivers.received).toEqual([]);
  });

  test('is signed with both secrets during a rotation, and with the new one after it', async () => {
    const subscribed = await subscribe(app, projectId, 'https://rotating.test/');
    const overlapEnds = new Date(app.clock.now().getTime() + 60_000);
    await app.database.pool
      .update(webhookSecrets)
      .set({ expiresAt: overlapEnds })
      .where(eq(webhookSecrets.subscriptionId, subscribed.id));
    const next = Buffer.alloc(32, 9);
    const id = '0190aaaa-0000-7000-8000-000000000001';
    const sealed = app.app.kek.seal(next, `webhook_secrets:${id}`);
    const { id: subscriptionId } = subscribed;
    await app.database.pool
      .insert(webhookSecrets)
      .values({ id, tenantId: projectId, subscriptionId, sealed });
    receivers.reactions.set('rotating.test', 500);
    await enqueue(app, subscribed);
    await flush();
    app.clock.advance(60_001);
    receivers.reactions.clear();
    await flush();
    const [first, second] = receivers.received.map(({ headers }) => headers['webhook-signature']?.split(' '));
    expect(first).toHaveLength(2);
    expect(second).toHaveLength(1);
    expect(new Set([...(first ?? []), ...(second ?? [])]).size).toBe(3);
  });

  test(
    'waits while its subscription is inactive, disabled or deleted, in another project too',
    { tags: 'independent' },
    async () => {
      const quiet = await Promise.all(
        ['one', 'two', 'three'].map((name) => subscribe(app, projectId, `https://${name}.test/`)),
      );
      const states = [{ active: false }, { disabledReason: 'failing' as const }, { deletedAt: new Date() }];
      for (const [index, subscribed] of quiet.entries()) {
        await enqueue(app, subscribed, 3);
        await app.database.pool
          .update(webhookSubscriptions)
          .set(states[index] ?? {})
          .where(eq(webhookSubscriptions.id, subscribed.id));
      }
      await flush();
      expect(receivers.received).toEqual([]);
      for (const subscribed of quiet) {
        expect(
          (await deliveriesOf(subscribed.id)).map(({ status, attemptCount }) => [status, attemptCount]),
        ).toEqual(Array(3).fill(['pending', 0]));
      }
    },
  );
});

describe('the worker', () => {
  test(
    'sends many deliveries once each, and a receiver that hangs delays no other',
    { tags: 'race' },
    async () => {
      const [hanging, healthy] = await Promise.all([
        subscribe(app, projectId, 'https://hanging.test/'),
        subscribe(app, projectId, 'https://healthy.test/'),
      ]);
      let answer = (_status: number): void => undefined;
      receivers.reactions.set('hanging.test', new Promise<number>((resolve) => (answer = resolve)));
      await enqueue(app, hanging, 30);
      const ids = await enqueue(app, healthy, 60);
      let whileHanging = 0;
      const stillHanging = new Promise<void>((resolve) => {
        receivers.reactions.set('healthy.test', 204);
        const count = setInterval(() => {
          whileHanging = receivers.idsAt('healthy.test').length;
          if (whileHanging === ids.length) {
            clearInterval(count);
            resolve();
          }
        }, 5);
      });
      const flushing = flush();
      await stillHanging;
      // The receiver that hangs got only its first ten deliveries meanwhile.
      expect(receivers.idsAt('hanging.test')).toHaveLength(10);
      expect(receivers.idsAt('healthy.test').toSorted()).toEqual(ids.toSorted());
      receivers.reactions.set('hanging.test', 204);
      answer(500);
      await flushing;
      app.clock.advance(120_000);
      await flush();
      const statuses = (await deliveriesOf(hanging.id)).map(({ status }) => status);
      expect(statuses).toEqual(Array(30).fill('delivered'));
    },
  );

  test('makes the next attempt after the lease of one without result expired', async () => {
    const subscribed = await subscribe(app, projectId, 'https://fine.test/');
    const [eventId] = await enqueue(app, subscribed);
    // The state after a process was killed while sending.
    await app.database.pool
      .update(webhookDeliveries)
      .set({ attemptCount: 1, claimedUntil: new Date(app.clock.now().getTime() + 6000) })
      .where(eq(webhookDeliveries.subscriptionId, subscribed.id));
    await flush();
    expect(receivers.received).toEqual([]);
    app.clock.advance(6001);
    await flush();
    expect(receivers.idsAt('fine.test')).toEqual([eventId]);
    const [delivery] = await deliveriesOf(subscribed.id);
    expect(delivery).toMatchObject({ status: 'delivered', attemptCount: 2, scheduleStep: 1 });
    expect(await attemptsOf(delivery?.id ?? '')).toMatchObject([{ number: 2 }]);
  });

  test('does not change a delivery that was cancelled while it was sent', { tags: 'race' }, async () => {
    const subscribed = await subscribe(app, projectId, 'https://hanging.test/');
    let answer = (_status: number): void => undefined;
    receivers.reactions.set('hanging.test', new Promise<number>((resolve) => (answer = resolve)));
    await enqueue(app, subscribed);
    const flushing = flush();
    await expect.poll(() => receivers.received.length).toBe(1);
    await app.database.pool
      .update(webhookDeliveries)
      .set({ status: 'cancelled', nextAttemptAt: null })
      .where(eq(webhookDeliveries.subscriptionId, subscribed.id));
    answer(500);
    await flushing;
    const [delivery] = await deliveriesOf(subscribed.id);
    expect(delivery).toMatchObject({ status: 'cancelled', nextAttemptAt: null, lastError: null });
    expect(await attemptsOf(delivery?.id ?? '')).toMatchObject([{ number: 1, error: 'status' }]);
  });

  test(
    'sends nothing without a secret that it can decrypt, and continues with the others',
    { tags: 'independent' },
    async () => {
      const [sealed, fine] = await Promise.all([
        subscribe(app, projectId, 'https://sealed.test/'),
        subscribe(app, projectId, 'https://fine.test/'),
      ]);
      await app.database.pool
        .update(webhookSecrets)
        .set({ sealed: 'v1.AAAAAAAA.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' })
        .where(eq(webhookSecrets.subscriptionId, sealed.id));
      await enqueue(app, sealed);
      const ids = await enqueue(app, fine, 3);
      await flush();
      expect(receivers.received.map(({ headers }) => headers['webhook-id']).toSorted()).toEqual(
        ids.toSorted(),
      );
      expect((await deliveriesOf(sealed.id))[0]).toMatchObject({ status: 'pending' });
      expect(app.logs.join()).toContain(
        `the secret of the webhook subscription ${sealed.id} cannot be opened`,
      );
    },
  );
});
