import { eq, sql } from 'drizzle-orm';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import type { Person } from '../../../test/support/app/client.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import type { ScopeRef } from '../../kernel/scope.ts';
import { webhookAttempts, webhookDeliveries } from '../../schema/webhooks/webhook-delivery.ts';
import { webhookSecrets, webhookSubscriptions } from '../../schema/webhooks/webhook-subscription.ts';

let app: TestApp;
let owner: Person;
let as: { token: string };
let scope: ScopeRef;
const url = 'https://hooks.example.test/in?tenant=1';

beforeAll(async () => {
  app = await startApp({ WEBHOOKS_MAX_PER_PROJECT: '4' });
  owner = await app.person({ type: 'organization' });
  as = { token: owner.token };
});
afterAll(() => app.close());

const project = async (): Promise<ScopeRef> =>
  (await app.must('createProject', { scope: owner.account, name: 'Hooked' }, as)).scope;
const subscribe = (input: object = {}) =>
  app.must('createWebhookSubscription', { scope, url, eventTypes: ['*'], ...input }, as);
const nodeOf = ({ id }: ScopeRef): string => id.split(':').at(-1) as string;

/** The keys that sign deliveries, in the format of receivers. */
async function keysOf(id: string): Promise<string[]> {
  const rows = await app.database.pool
    .select()
    .from(webhookSecrets)
    .where(eq(webhookSecrets.subscriptionId, id));
  return rows
    .filter(({ expiresAt }) => expiresAt === null || expiresAt > app.clock.now())
    .sort((a, b) => Number(a.expiresAt !== null) - Number(b.expiresAt !== null))
    .map((row) => app.app.kek.open(row.sealed, `webhook_secrets:${row.id}`).toString('base64'))
    .map((key) => `whsec_${key}`);
}

const entriesOf = (operation: string) =>
  rowsOf<{ event: string | null; target: { id: string }; changes: unknown; metadata: unknown }>(
    app.database.pool,
    sql`select event, target, changes, metadata from audit_log
      where operation = ${operation} and tenant_id = ${nodeOf(scope)}::uuid order by sequence`,
  );

describe.each(storyTransports(import.meta))('over %s', (via) => {
  beforeAll(async () => {
    scope = await project();
  });
  const raw = (name: string, input: object, token = owner.token) =>
    app.raw(name, { scope, ...input }, { token, via });
  const done = async (name: string, input: object) => {
    const answer = await raw(name, input);
    expect(answer.ok, answer.body).toBe(true);
    return answer.data as Record<string, unknown> & { id: string };
  };

  it('creates, reads, changes and deletes a subscription, whose secret is shown once', async () => {
    const eventTypes = ['role.*', 'api_key.exchanged', 'role.*'];
    const answer = await raw('createWebhookSubscription', { url, eventTypes });
    const created = answer.data as Record<string, unknown> & { id: string };
    if (via === 'rest') expect(answer.status).toBe(201);
    expect(created).toMatchObject({
      projectId: nodeOf(scope),
      url,
      eventTypes: ['role.*', 'api_key.exchanged'],
      description: null,
      active: true,
      disabledReason: null,
      disabledAt: null,
      failingSince: null,
      lastDeliveredAt: null,
      previousSecretExpiresAt: null,
      createdBy: owner.userId,
    });
    const { id } = created;
    const secret = created['secret'] as string;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await keysOf(id)).toEqual([secret]);

    const read = await done('webhookSubscription', { id });
    expect(Object.keys(read)).not.toContain('secret');
    const page = await done('webhookSubscriptions', { search: 'tenant=1', sortField: 'url' });
    expect(page['items']).toMatchObject([{ id }]);
    expect(JSON.stringify(page)).not.toContain(secret);

    const description = 'All of it';
    const changed = await done('updateWebhookSubscription', { id, description, eventTypes: ['*'] });
    expect(changed).toMatchObject({ id, url, description, eventTypes: ['*'] });
    expect((await entriesOf('updateWebhookSubscription')).at(-1)).toMatchObject({
      event: null,
      target: { id },
      changes: { description: { from: null, to: description } },
    });
    const unchanged = (await entriesOf('updateWebhookSubscription')).length;
    await done('updateWebhookSubscription', { id, description, active: true });
    expect(await entriesOf('updateWebhookSubscription')).toHaveLength(unchanged);

    const removed = await done('deleteWebhookSubscription', { id });
    expect(removed['deletedAt']).toEqual(expect.any(String));
    for (const name of ['webhookSubscription', 'deleteWebhookSubscription', 'testWebhookSubscription']) {
      expect((await raw(name, { id })).code, name).toBe('NOT_FOUND');
    }
  });

  it('accepts types of the catalogue and addresses that it may call', async () => {
    for (const eventTypes of [[], ['invented.thing'], ['invented.*'], ['role'], ['role.c*'], ['']]) {
      const { code, details } = await raw('createWebhookSubscription', { url, eventTypes });
      expect([code, details?.length], String(eventTypes)).toEqual(['VALIDATION_ERROR', 1]);
    }
    const addresses: [string, string][] = [
      ['http://hooks.example.test/', 'WEBHOOK_URL_NOT_ALLOWED'],
      ['ftp://hooks.example.test/', 'WEBHOOK_URL_NOT_ALLOWED'],
      ['https://user:word@hooks.example.test/', 'WEBHOOK_URL_NOT_ALLOWED'],
      ['hooks.example.test', 'VALIDATION_ERROR'],
      ['https://', 'VALIDATION_ERROR'],
      ['https://hooks.example.test/#top', 'VALIDATION_ERROR'],
      [' https://hooks.example.test/', 'VALIDATION_ERROR'],
      [`https://hooks.example.test/${'x'.repeat(2048)}`, 'VALIDATION_ERROR'],
    ];
    const { id } = await subscribe();
    for (const [refused, code] of addresses) {
      const made = await raw('createWebhookSubscription', { url: refused, eventTypes: ['*'] });
      expect(made.code, refused).toBe(code);
      expect((await raw('updateWebhookSubscription', { id, url: refused })).code, refused).toBe(code);
    }
    await done('deleteWebhookSubscription', { id });
  });

  it('limits the subscriptions of a project, also under concurrent creations', { tags: 'race' }, async () => {
    const before = scope;
    scope = await project();
    const answers = await Promise.all(
      Array.from({ length: 7 }, () => raw('createWebhookSubscription', { url, eventTypes: ['*'] })),
    );
    expect(answers.filter(({ ok }) => ok)).toHaveLength(4);
    const refused = answers.filter(({ ok }) => !ok);
    expect(refused.map(({ code }) => code)).toEqual(['CONFLICT', 'CONFLICT', 'CONFLICT']);
    expect(refused[0]?.details).toMatchObject([{ path: 'scope', code: 'limit' }]);
    const { id } = answers.find(({ ok }) => ok)?.data as { id: string };
    await done('deleteWebhookSubscription', { id });
    await subscribe();
    scope = before;
  });

  it('signs with two secrets during a rotation, and with no more', async () => {
    const { id, secret: first } = await subscribe();
    const rotate = (input: object = {}) => raw('rotateWebhookSecret', { id, graceSeconds: 60, ...input });
    const second = (await rotate()).data as { secret: string; previousSecretExpiresAt: string };
    expect(second.secret).not.toBe(first);
    const left = new Date(second.previousSecretExpiresAt).getTime() - app.clock.now().getTime();
    expect(left).toBeGreaterThan(50_000);
    expect(left).toBeLessThanOrEqual(60_000);
    expect(await keysOf(id)).toEqual([second.secret, first]);

    const early = await rotate();
    expect([early.code, early.status]).toEqual(['ROTATION_IN_PROGRESS', via === 'rest' ? 409 : early.status]);
    const third = (await rotate({ force: true })).data as { secret: string };
    expect(await keysOf(id)).toEqual([third.secret, second.secret]);
    app.clock.advance(61_000);
    expect(await keysOf(id)).toEqual([third.secret]);

    const fourth = (await rotate({ graceSeconds: 0 })).data as { secret: string };
    expect(fourth).toMatchObject({ previousSecretExpiresAt: null });
    expect(await keysOf(id)).toEqual([fourth.secret]);
    await rotate({ graceSeconds: 0 });
    expect((await entriesOf('rotateWebhookSecret')).filter(({ target }) => target.id === id)).toHaveLength(4);
    for (const graceSeconds of [-1, 604_801]) {
      expect((await rotate({ graceSeconds })).code).toBe('VALIDATION_ERROR');
    }
    const inTables = await rowsOf<{ sealed: string }>(
      app.database.pool,
      sql`select sealed from webhook_secrets`,
    );
    expect(inTables.every(({ sealed }) => sealed.startsWith(app.app.kek.currentPrefix))).toBe(true);
    await done('deleteWebhookSubscription', { id });
  });

  it('lets one of two concurrent rotations succeed', { tags: 'race' }, async () => {
    const { id } = await subscribe();
    const answers = await Promise.all([1, 2].map(() => raw('rotateWebhookSecret', { id })));
    expect(answers.map(({ code }) => code ?? 'ok').sort()).toEqual(['ROTATION_IN_PROGRESS', 'ok']);
    expect(await keysOf(id)).toHaveLength(2);
    await done('deleteWebhookSubscription', { id });
  });

  it('sends a ping or an example, which the feed does not contain', async () => {
    const { id } = await subscribe({ active: false });
    const answer = await raw('testWebhookSubscription', { id });
    if (via === 'rest') expect(answer.status).toBe(202);
    expect(answer.data).toMatchObject({
      subscriptionId: id,
      eventType: 'webhook.ping',
      status: 'pending',
      attemptCount: 0,
      lastStatusCode: null,
      lastError: null,
      deliveredAt: null,
    });
    const example = await done('testWebhookSubscription', { id, eventType: 'api_key.revoked' });
    const stored = await app.database.pool
      .select()
      .from(webhookDeliveries)
      .where(eq(webhookDeliveries.subscriptionId, id))
      .orderBy(webhookDeliveries.id);
    const [ping, key] = stored.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
    expect(ping).toMatchObject({
      type: 'webhook.ping',
      version: 1,
      sequence: 0,
      scope,
      actor: { type: 'user', id: owner.userId, userId: owner.userId },
      data: { id, projectId: nodeOf(scope) },
    });
    expect(key).toMatchObject({
      id: example['eventId'],
      type: 'api_key.revoked',
      data: { status: 'revoked', test: true },
    });
    const unknown = await raw('testWebhookSubscription', { id, eventType: 'role.*' });
    expect(unknown.details).toMatchObject([{ path: 'eventType', code: 'enum' }]);
    const feed = await app.must('events', { scope }, as);
    expect((feed.items as { type: string }[]).map(({ type }) => type)).not.toContain('webhook.ping');
    expect((await entriesOf('testWebhookSubscription')).at(-1)).toMatchObject({
      event: null,
      metadata: { eventType: 'api_key.revoked', deliveryId: example.id },
    });
    await done('deleteWebhookSubscription', { id });
  });

  it('lists deliveries with their attempts, with filters', async () => {
    const { id } = await subscribe({ active: false });
    const other = await subscribe({ active: false });
    const ping = await done('testWebhookSubscription', { id });
    const key = await done('testWebhookSubscription', { id, eventType: 'role.created' });
    await done('testWebhookSubscription', { id: other.id });
    const attempt = (number: number, statusCode: number | null) => ({
      tenantId: nodeOf(scope),
      deliveryId: ping.id,
      number,
      attemptedAt: new Date(app.clock.now().getTime() + number),
      statusCode,
      latencyMs: 12,
      error: statusCode === null ? ('timeout' as const) : ('status' as const),
    });
    await app.database.pool.insert(webhookAttempts).values([attempt(2, 500), attempt(1, null)]);

    const ids = async (input: object) =>
      ((await done('webhookDeliveries', { subscriptionId: id, ...input }))['items'] as { id: string }[]).map(
        (item) => item.id,
      );
    expect(await ids({})).toEqual([key.id, ping.id]);
    expect(await ids({ sortOrder: 'ASC' })).toEqual([ping.id, key.id]);
    expect(await ids({ eventType: 'role.created' })).toEqual([key.id]);
    expect(await ids({ status: 'pending', ids: [ping.id] })).toEqual([ping.id]);
    expect(await ids({ status: 'delivered' })).toEqual([]);
    expect(await ids({ to: key['createdAt'] })).toEqual([ping.id]);
    expect(await ids({ from: key['createdAt'] })).toEqual([key.id]);
    expect(await ids({ subscriptionId: randomUUID() })).toEqual([]);
    if (via === 'rest') {
      const [answer] = (await done('webhookDeliveries', { ids: [ping.id], relations: ['attempts'] }))[
        'items'
      ] as { attempts: object[] }[];
      expect(answer?.attempts).toEqual([
        {
          number: 1,
          attemptedAt: expect.any(String) as string,
          statusCode: null,
          latencyMs: 12,
          error: 'timeout',
        },
        {
          number: 2,
          attemptedAt: expect.any(String) as string,
          statusCode: 500,
          latencyMs: 12,
          error: 'status',
        },
      ]);
    }
    const before = scope;
    scope = await project();
    expect(await ids({})).toEqual([]);
    expect((await raw('replayWebhookDelivery', { id: ping.id })).code).toBe('NOT_FOUND');
    scope = before;
    await done('deleteWebhookSubscription', { id });
    await done('deleteWebhookSubscription', { id: other.id });
  });

  it('replays delivered and exhausted deliveries, but not cancelled ones', async () => {
    const { id } = await subscribe({ active: false });
    const delivery = await done('testWebhookSubscription', { id });
    const becomes = (status: 'delivered' | 'exhausted') =>
      app.database.pool
        .update(webhookDeliveries)
        .set({ status, attemptCount: 10, scheduleStep: 10, nextAttemptAt: null, deliveredAt: new Date() })
        .where(eq(webhookDeliveries.id, delivery.id));
    for (const status of ['delivered', 'exhausted'] as const) {
      await becomes(status);
      const again = await done('replayWebhookDelivery', { id: delivery.id });
      expect(again).toMatchObject({
        status: 'pending',
        attemptCount: 10,
        eventId: delivery['eventId'],
        deliveredAt: null,
      });
      expect(new Date(again['nextAttemptAt'] as string).getTime()).toBeLessThanOrEqual(
        app.clock.now().getTime(),
      );
      const [row] = await app.database.pool
        .select()
        .from(webhookDeliveries)
        .where(eq(webhookDeliveries.id, delivery.id));
      expect(row?.scheduleStep).toBe(0);
    }
    const kept = await done('testWebhookSubscription', { id });
    await app.database.pool
      .update(webhookDeliveries)
      .set({ status: 'delivered', nextAttemptAt: null })
      .where(eq(webhookDeliveries.id, kept.id));
    await done('deleteWebhookSubscription', { id });
    const page = await done('webhookDeliveries', { subscriptionId: id });
    expect(page['items']).toMatchObject([
      { id: kept.id, status: 'delivered' },
      { id: delivery.id, status: 'cancelled', nextAttemptAt: null },
    ]);
    for (const gone of [delivery, kept]) {
      expect((await raw('replayWebhookDelivery', { id: gone.id })).code).toBe('INVALID_STATE');
    }
  });

  it('enables a disabled subscription again, and sends what waited', async () => {
    const { id } = await subscribe();
    const { id: deliveryId } = await done('testWebhookSubscription', { id });
    const disabledAt = app.clock.now();
    const tomorrow = new Date(disabledAt.getTime() + 86_400_000);
    await app.database.pool
      .update(webhookSubscriptions)
      .set({
        disabledReason: 'failing',
        disabledAt,
        failingSince: disabledAt,
        warnedAt: disabledAt,
        exhaustedInARow: 10,
      })
      .where(eq(webhookSubscriptions.id, id));
    await app.database.pool
      .update(webhookDeliveries)
      .set({ nextAttemptAt: tomorrow })
      .where(eq(webhookDeliveries.id, deliveryId));

    const described = await done('updateWebhookSubscription', { id, description: 'Down' });
    expect(described).toMatchObject({ active: true, disabledReason: 'failing' });
    const again = await done('updateWebhookSubscription', { id, active: true });
    expect(again).toMatchObject({ active: true, disabledReason: null, disabledAt: null, failingSince: null });
    const [row] = await app.database.pool
      .select()
      .from(webhookSubscriptions)
      .where(eq(webhookSubscriptions.id, id));
    expect(row).toMatchObject({ exhaustedInARow: 0, warnedAt: null });
    expect((await entriesOf('updateWebhookSubscription')).at(-1)).toMatchObject({
      changes: { disabledReason: { from: 'failing', to: null } },
    });
    const page = await done('webhookDeliveries', { subscriptionId: id });
    const [delivery] = page['items'] as { nextAttemptAt: string }[];
    expect(new Date(delivery?.nextAttemptAt ?? 0).getTime()).toBeLessThan(tomorrow.getTime());
    await done('deleteWebhookSubscription', { id });
  });
});
