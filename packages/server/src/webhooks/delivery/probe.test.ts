import { asc, eq } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import type { Person } from '../../../test/support/app/client.ts';
import {
  createReceivers,
  enqueue,
  subscribe,
  type Receivers,
} from '../../../test/support/tenants/webhooks.ts';
import type { ScopeRef } from '../../kernel/scope.ts';
import { webhookDeliveries } from '../../schema/webhooks/webhook-delivery.ts';

/**
 * A subscription whose receiver fails for long or answers 410: which events report it, which deliveries wait, and
 * how it recovers.
 */
let app: TestApp;
let receivers: Receivers;
let owner: Person;
let project: { id: string; scope: ScopeRef };
beforeAll(async () => {
  const later: { receivers?: Receivers } = {};
  // One attempt each, so that ten deliveries are exhausted quickly.
  const env = { WEBHOOKS_RETRY_SCHEDULE_SECONDS: 'none' };
  app = await startApp(env, undefined, {
    post: (request, signal) => (later.receivers as Receivers).post(request, signal),
  });
  receivers = later.receivers = createReceivers(() => app.clock.now());
  owner = await app.person();
});
afterAll(() => app.close());
beforeEach(async () => {
  receivers.received.length = 0;
  project = await app.must('createProject', { scope: owner.account, name: 'Hooks' }, await asOwner());
});

const HOUR_MS = 3_600_000;
/** A new token, because hours pass on the test clock. */
async function asOwner(): Promise<{ token: string }> {
  const { email: providerId, password } = owner;
  const answer = await app.raw('login', { provider: 'email', providerId, providerData: { password } });
  return { token: (answer.data as { accessToken: string }).accessToken };
}
const flush = () => app.app.flushWebhooks();
/** Returns type and `disabledReason` of the webhook events in the feed. Expects the same events in the audit log. */
async function webhookEvents() {
  const options = await asOwner();
  const { items } = await app.must(
    'events',
    { scope: project.scope, types: ['webhook.*'], limit: 100 },
    options,
  );
  const entries = await app.must(
    'auditLogs',
    { scope: project.scope, event: ['webhook.*'] } as never,
    options,
  );
  expect(entries.items.map(({ event }) => event).toReversed()).toEqual(items.map(({ type }) => type));
  for (const { actor } of items) expect(actor).toMatchObject({ type: 'system', userId: null });
  return items.map(({ type, data }) => [type, (data as { disabledReason: string | null }).disabledReason]);
}
const shown = async (id: string) =>
  app.must('webhookSubscription', { scope: project.scope, id }, await asOwner());
const setActive = async (id: string, active: boolean) =>
  app.must('updateWebhookSubscription', { scope: project.scope, id, active }, await asOwner());
const deliveriesOf = (subscriptionId: string) =>
  app.database.pool
    .select()
    .from(webhookDeliveries)
    .where(eq(webhookDeliveries.subscriptionId, subscriptionId))
    .orderBy(asc(webhookDeliveries.createdAt), asc(webhookDeliveries.id));

describe('a receiver that fails', () => {
  test('is reported, disabled, pinged every six hours, and gets its waiting deliveries after it recovers', async () => {
    const subscribed = await subscribe(app, project.id, 'https://failing.test/');
    receivers.reactions.set('failing.test', 500);
    await enqueue(app, subscribed, 5);
    await flush();
    expect(await webhookEvents()).toEqual([['webhook.failing', null]]);
    await enqueue(app, subscribed, 5);
    await flush();
    expect(await webhookEvents()).toEqual([
      ['webhook.failing', null],
      ['webhook.disabled', 'failing'],
    ]);
    expect(await shown(subscribed.id)).toMatchObject({ active: true, disabledReason: 'failing' });

    const waiting = await enqueue(app, subscribed, 3);
    receivers.received.length = 0;
    app.clock.advance(6 * HOUR_MS - 60_000);
    await flush();
    expect(receivers.received).toEqual([]);
    app.clock.advance(60_000);
    await flush();
    await flush();
    expect(receivers.received).toHaveLength(1);
    app.clock.advance(HOUR_MS);
    await flush();
    expect(receivers.received).toHaveLength(1);

    receivers.reactions.clear();
    app.clock.advance(5 * HOUR_MS);
    await flush();
    const [failed, answered, ...resumed] = receivers.received;
    if (!failed || !answered) throw new Error('no probe');
    expect(resumed.map(({ headers }) => headers['webhook-id']).toSorted()).toEqual(waiting.toSorted());
    expect(JSON.parse(answered.body)).toMatchObject({
      id: answered.headers['webhook-id'],
      type: 'webhook.ping',
      sequence: 0,
      scope: project.scope,
      actor: { type: 'system' },
      data: { id: subscribed.id },
    });
    expect(failed.headers['webhook-id']).not.toBe(answered.headers['webhook-id']);
    expect(await webhookEvents()).toEqual([
      ['webhook.failing', null],
      ['webhook.disabled', 'failing'],
      ['webhook.recovered', null],
    ]);
    expect(await shown(subscribed.id)).toMatchObject({
      disabledReason: null,
      disabledAt: null,
      failingSince: null,
    });
    const probes = (await deliveriesOf(subscribed.id)).filter(({ kind }) => kind === 'probe');
    expect(probes.map(({ status, attemptCount }) => [status, attemptCount])).toEqual([
      ['exhausted', 1],
      ['delivered', 1],
    ]);
  });

  test('is not pinged while its subscription is inactive', async () => {
    const subscribed = await subscribe(app, project.id, 'https://failing.test/');
    receivers.reactions.set('failing.test', 500);
    await enqueue(app, subscribed, 10);
    await flush();
    await setActive(subscribed.id, false);
    receivers.received.length = 0;
    app.clock.advance(7 * HOUR_MS);
    await flush();
    expect(receivers.received).toEqual([]);
    // Activating the subscription resets its health without a ping.
    await enqueue(app, subscribed, 1);
    receivers.reactions.clear();
    await setActive(subscribed.id, true);
    await flush();
    expect(receivers.received).toHaveLength(1);
    expect(await shown(subscribed.id)).toMatchObject({ active: true, disabledReason: null });
  });

  test('does not affect other receivers', async () => {
    const failing = await subscribe(app, project.id, 'https://failing.test/');
    const fine = await subscribe(app, project.id, 'https://fine.test/');
    receivers.reactions.set('failing.test', 500);
    await enqueue(app, failing, 12);
    const ids = await enqueue(app, fine, 12);
    await flush();
    expect(receivers.idsAt('fine.test').toSorted()).toEqual(ids.toSorted());
    // Two of twelve deliveries wait until it recovers.
    const statuses = (await deliveriesOf(failing.id)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 'exhausted')).toHaveLength(10);
    expect(statuses.filter((status) => status === 'pending')).toHaveLength(2);
  });
});

test('a receiver that answered 410 gets no more deliveries and no pings', async () => {
  const subscribed = await subscribe(app, project.id, 'https://gone.test/');
  receivers.reactions.set('gone.test', 410);
  await enqueue(app, subscribed, 1);
  await flush();
  expect(await webhookEvents()).toEqual([['webhook.disabled', 'gone']]);
  expect(await shown(subscribed.id)).toMatchObject({ disabledReason: 'gone' });
  expect((await deliveriesOf(subscribed.id))[0]).toMatchObject({ status: 'exhausted', lastStatusCode: 410 });
  await enqueue(app, subscribed, 1);
  app.clock.advance(7 * HOUR_MS);
  await flush();
  expect(receivers.idsAt('gone.test')).toHaveLength(1);
});
