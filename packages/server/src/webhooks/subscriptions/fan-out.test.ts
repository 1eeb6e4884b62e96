import { asc, eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import type { Person } from '../../../test/support/app/client.ts';
import { events } from '../../schema/events/event.ts';
import type { ScopeRef } from '../../kernel/scope.ts';
import { webhookDeliveries } from '../../schema/webhooks/webhook-delivery.ts';
import { webhookSubscriptions } from '../../schema/webhooks/webhook-subscription.ts';

let app: TestApp;
let owner: Person;
let as: { token: string };
const url = 'https://hooks.example.test/';

beforeAll(async () => {
  app = await startOwnApp();
  owner = await app.person({ type: 'organization' });
  as = { token: owner.token };
});
afterAll(() => app.close());

const project = async (): Promise<ScopeRef> =>
  (await app.must('createProject', { scope: owner.account, name: 'Hooked' }, as)).scope;
const nodeOf = ({ id }: ScopeRef): string => id.split(':').at(-1) as string;
const eventsOf = (scope: ScopeRef) =>
  app.database.pool
    .select()
    .from(events)
    .where(eq(events.tenantId, nodeOf(scope)))
    .orderBy(events.sequence);
const deliveriesOf = (id: string) =>
  app.database.pool
    .select()
    .from(webhookDeliveries)
    .where(eq(webhookDeliveries.subscriptionId, id))
    .orderBy(asc(webhookDeliveries.id));
const typesSentTo = async (id: string) => (await deliveriesOf(id)).map(({ eventType }) => eventType);

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const act = (name: Parameters<TestApp['must']>[0], input: object) =>
    app.must(name, input as never, { ...as, via }) as Promise<{ id: string }>;

  it(
    'writes a delivery for every matching subscription, with the event as its body',
    { tags: 'race' },
    async () => {
      const scope = await project();
      const elsewhere = await project();
      const subscribe = async (eventTypes: string[], input: object = {}) =>
        (await act('createWebhookSubscription', { scope, url, eventTypes, ...input })).id;
      const all = await subscribe(['*']);
      const roles = await subscribe(['role.*']);
      const keys = await subscribe(['api_key.created', 'api_key.exchanged', 'session.*']);
      const asleep = await subscribe(['*'], { active: false });
      const disabled = await subscribe(['role.created']);
      const gone = await subscribe(['*']);
      const foreign = await subscribe(['*'], { scope: elsewhere });
      await app.database.pool
        .update(webhookSubscriptions)
        .set({ disabledReason: 'failing', disabledAt: new Date() })
        .where(eq(webhookSubscriptions.id, disabled));
      await act('deleteWebhookSubscription', { scope, id: gone });

      await act('createRole', { scope, name: 'R' });
      const key = await app.must('createApiKey', { scope }, as);
      const { clientId, clientSecret } = key;
      await app.must('exchangeApiKey', { clientId, clientSecret: clientSecret as string, scope: key.scope });
      await act('createTag', { scope, name: 'Untold' });
      const late = await subscribe(['*']);
      await app.app.flushMails();

      expect(await typesSentTo(all)).toEqual(['role.created', 'api_key.created']);
      expect(await typesSentTo(roles)).toEqual(['role.created']);
      expect(await typesSentTo(keys)).toEqual(['api_key.created', 'api_key.exchanged']);
      expect(await typesSentTo(asleep)).toEqual(['role.created', 'api_key.created']);
      expect(await typesSentTo(disabled)).toEqual(['role.created']);
      for (const none of [gone, foreign, late]) expect(await typesSentTo(none)).toEqual([]);

      const [delivery] = await deliveriesOf(roles);
      const event = (await eventsOf(scope)).find(({ type }) => type === 'role.created');
      expect(delivery).toMatchObject({ kind: 'event', status: 'pending', attemptCount: 0 });
      expect(delivery?.eventId).toBe(`evt_${event?.id}`);
      expect(JSON.parse(delivery?.body ?? '')).toEqual(event?.body);
      expect(delivery?.nextAttemptAt?.getTime()).toBeLessThanOrEqual(app.clock.now().getTime());

      // However often the relay runs.
      await app.database.pool.update(events).set({ relayAt: new Date(0) });
      await Promise.all([app.app.flushMails(), app.app.flushMails()]);
      expect(await deliveriesOf(all)).toHaveLength(2);
      expect(await typesSentTo(late)).toEqual([]);
    },
  );

  it('costs nothing without subscriptions', async () => {
    const scope = await project();
    const statements = async () => {
      const spent = await app.spent(() => act('createRole', { scope, name: 'R' }));
      await app.app.flushMails();
      return spent;
    };
    await statements();
    const quiet = await statements();
    expect(quiet.filter((item) => item.includes('relay_at') && item.includes('for update skip'))).toEqual([]);
    expect((await eventsOf(scope)).every(({ relayAt }) => relayAt === null)).toBe(true);
    const { id } = await act('createWebhookSubscription', { scope, url, eventTypes: ['role.deleted'] });
    const last = (await eventsOf(scope)).length;
    await act('createRole', { scope, name: 'Due' });
    expect(await eventsOf(scope)).toHaveLength(last + 1);
    await act('deleteWebhookSubscription', { scope, id });
    await statements();
    const again = await statements();
    expect(again).toHaveLength(quiet.length);
  });

  it('leaves nothing pending for a subscription that is deleted concurrently', { tags: 'race' }, async () => {
    const scope = await project();
    for (let round = 0; round < 5; round++) {
      const { id } = await act('createWebhookSubscription', { scope, url, eventTypes: ['*'] });
      await act('createGroup', { scope, name: `G ${round}` });
      await Promise.all([
        app.app.flushMails(),
        act('deleteWebhookSubscription', { scope, id }),
        app.app.flushMails(),
      ]);
      await app.app.flushMails();
      const left = (await deliveriesOf(id)).filter(({ status }) => status === 'pending');
      expect(left).toEqual([]);
    }
    const [due] = await app.database.pool
      .select()
      .from(events)
      .where(sql`relay_at is not null and tenant_id = ${nodeOf(scope)}::uuid`);
    expect(due).toBeUndefined();
  });
});
