import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { events } from '../../src/schema/events/event.ts';
import { PostFault } from '../../src/outgoing/outgoing.ts';
import { webhookDeliveries } from '../../src/schema/webhooks/webhook-delivery.ts';
import { startOwnApp, type TestApp } from '../support/app/app.ts';
import { createReceivers, type Reaction, type Receivers } from '../support/tenants/webhooks.ts';

/** A receiver is down for a day, by the clock of the test. No event is lost, and none changes its id. */
const EVENTS = Number(process.env['OUTAGE_EVENTS'] ?? 30);
const HOURS_DOWN = 24;
const HOUR_MS = 3_600_000;

let app: TestApp;
let receivers: Receivers;
beforeAll(async () => {
  const later: { receivers?: Receivers } = {};
  app = await startOwnApp({ WEBHOOKS_TIMEOUT_MS: '1000' }, undefined, {
    post: (request, signal) => (later.receivers as Receivers).post(request, signal),
    random: Math.random,
  });
  receivers = later.receivers = createReceivers(() => app.clock.now());
});
afterAll(() => app.close());

test(
  `${EVENTS} events reach a receiver that is down for a day`,
  { timeout: 60_000 + EVENTS * 500 },
  async () => {
    const { account, email: providerId, password } = await app.person();
    const signIn = async (): Promise<{ token: string }> => {
      const answer = await app.raw('login', { provider: 'email', providerId, providerData: { password } });
      return { token: (answer.data as { accessToken: string }).accessToken };
    };
    const { id: projectId, scope } = await app.must(
      'createProject',
      { scope: account, name: 'Down' },
      await signIn(),
    );
    const hook = { scope, url: 'https://receiver.test/', eventTypes: ['role.*'] };
    const { id: subscriptionId } = await app.must('createWebhookSubscription', hook, await signIn());

    const ways: Reaction[] = [
      500,
      502,
      503,
      302,
      { status: 429, retryAfter: '1800' },
      new PostFault('connection', null),
    ];
    for (let hour = 0; hour < HOURS_DOWN; hour++) {
      receivers.reactions.set('receiver.test', ways[hour % ways.length] ?? 500);
      // All events occur in the first half of the day, so that they are at all stages of the retry schedule.
      if (hour % 4 === 0 && hour < 12) {
        const as = await signIn();
        for (let made = 0; made < EVENTS / 3; made++)
          await app.must('createRole', { scope, name: `R${made}` }, as);
      }
      await app.app.flushWebhooks();
      app.clock.advance(HOUR_MS);
    }
    expect(receivers.received.length).toBeGreaterThan(EVENTS);
    const failed = receivers.received.length;

    receivers.reactions.clear();
    for (let hours = 0; hours < 24; hours += 4) {
      await app.app.flushWebhooks();
      app.clock.advance(4 * HOUR_MS);
    }
    const happened = await app.database.pool.select().from(events).where(eq(events.tenantId, projectId));
    const roles = happened.filter(({ type }) => type === 'role.created');
    const { totalCount } = await app.must('roles', { scope, limit: 1, isSystem: false }, await signIn());
    expect(roles.length).toBe(totalCount);
    const bodies = new Map<string, string>();
    for (const { headers, body } of receivers.received) {
      const id = headers['webhook-id'] ?? '';
      expect(bodies.get(id) ?? body).toBe(body);
      bodies.set(id, body);
    }
    for (const { id, body } of roles) expect(JSON.parse(bodies.get(`evt_${id}`) ?? 'null')).toEqual(body);
    expect(bodies.size).toBe(roles.length);
    const deliveries = await app.database.pool
      .select()
      .from(webhookDeliveries)
      .where(eq(webhookDeliveries.subscriptionId, subscriptionId));
    expect(deliveries.map(({ status }) => status)).toEqual(roles.map(() => 'delivered'));
    expect(receivers.received.length - failed).toBe(roles.length);
    process.stdout.write(
      `webhooks: ${roles.length} events, receiver down for ${HOURS_DOWN} h, ${failed} failed attempts, all delivered\n`,
    );
  },
);
