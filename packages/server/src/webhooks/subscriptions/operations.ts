import { and, eq, gte, lt } from 'drizzle-orm';
import { z } from 'zod';
import { fail } from '../../errors.ts';
import { actorOf } from '../../events/record.ts';
import { callerOf } from '../../kernel/context.ts';
import { pageOf, paging } from '../../kernel/input/inputs.ts';
import { mutation, query } from '../../declare.ts';
import { nodeRef, Scope, type Tenant } from '../../kernel/scope.ts';
import { isoInput, uuid } from '../../kernel/input/values.ts';
import { PING } from '../event-types/catalogue.ts';
import {
  WebhookDelivery,
  webhookDeliveries as deliveries,
  WebhookDeliveryStatus,
} from '../../schema/webhooks/webhook-delivery.ts';
import { lockSubscription, markRotated, replay } from './store.ts';
import { WebhookSubscription } from '../../schema/webhooks/webhook-subscription.ts';
import { healthy } from '../delivery/health.ts';
import { cancelDeliveries, resumeDeliveries } from '../delivery/queue.ts';
import { queueTestEvent } from '../delivery/test-event.ts';
import { EventTypeName, EventTypes } from './event-filter.ts';
import { assertWithinLimit } from './limit.ts';
import { newWebhookSecret, replaceSecret, storeSecrets } from './secrets.ts';

const tenants: readonly Tenant[] = ['accountProject', 'organizationProject'];

const WebhookSubscriptionWithSecret = WebhookSubscription.schema
  .extend({
    secret: z.string().nullable().meta({
      description: 'The signing secret: whsec_ and base64. Shown only once; null in an idempotent replay.',
    }),
  })
  .meta({
    id: 'WebhookSubscriptionWithSecret',
    description: 'A webhook subscription with its signing secret, which no other answer has.',
  });

export const webhookSubscriptions = query({
  rest: 'GET /webhook-subscriptions',
  access: 'WebhookSubscription:Query',
  summary: 'List the webhook subscriptions of a project',
  tenants,
  input: { scope: Scope, ...paging(WebhookSubscription) },
  output: pageOf(WebhookSubscription),
  run: ({ db, input }) => db.page(WebhookSubscription, input),
});

export const webhookSubscription = query({
  rest: 'GET /webhook-subscriptions/:id',
  access: 'WebhookSubscription:Query',
  summary: 'Read a webhook subscription',
  tenants,
  input: { scope: Scope, id: uuid },
  output: WebhookSubscription.schema,
  target: WebhookSubscription,
  run: ({ target }) => target,
});

export const createWebhookSubscription = mutation({
  rest: 'POST /webhook-subscriptions',
  whileImpersonating: 'refused',
  access: 'WebhookSubscription:Create',
  summary: 'Send events of a project to an address; the signing secret is shown once',
  tenants,
  input: { scope: Scope, ...WebhookSubscription.create, eventTypes: EventTypes },
  output: WebhookSubscriptionWithSecret,
  secrets: ['secret'],
  status: 201,
  codes: ['WEBHOOK_URL_NOT_ALLOWED', 'CONFLICT'],
  permissionChange: 'none',
  prepare: ({ services, input }) => services.assertUrlAllowed(input.url),
  run: async (ctx) => {
    const { db, input, scope } = ctx;
    const secret = newWebhookSecret();
    const created = await db.insert(WebhookSubscription, { ...input, createdBy: callerOf(ctx).userId });
    await storeSecrets(ctx, [{ subscription: { id: created.id, tenantId: scope.nodeId }, secret }]);
    await assertWithinLimit(ctx);
    return { ...created, secret };
  },
});

export const updateWebhookSubscription = mutation({
  rest: 'PATCH /webhook-subscriptions/:id',
  whileImpersonating: 'refused',
  access: 'WebhookSubscription:Update',
  summary: 'Change a webhook subscription; active=true enables a disabled one again',
  description: 'Deliveries that waited while it was inactive or disabled are sent as soon as it is neither.',
  tenants,
  input: { scope: Scope, id: uuid, ...WebhookSubscription.patch, eventTypes: EventTypes.optional() },
  output: WebhookSubscription.schema,
  target: WebhookSubscription,
  codes: ['WEBHOOK_URL_NOT_ALLOWED', 'CONFLICT'],
  permissionChange: 'none',
  prepare: async ({ services, input }) => {
    if (input.url !== undefined) await services.assertUrlAllowed(input.url);
  },
  run: async (ctx) => {
    const { db, input, services, tx } = ctx;
    const before = await lockSubscription(ctx, input.id);
    const resumes = input.active === true && (!before.active || before.disabledReason !== null);
    const patch = resumes ? { ...input, ...healthy } : input;
    const { row } = await db.update(WebhookSubscription, input.id, patch);
    if (resumes) {
      await resumeDeliveries(tx, { tenantId: db.scope.nodeId, ids: [input.id] }, services.clock.now());
      ctx.afterCommit(() => services.webhooksDue());
    }
    return row;
  },
});

export const deleteWebhookSubscription = mutation({
  rest: 'DELETE /webhook-subscriptions/:id',
  whileImpersonating: 'allowed',
  access: 'WebhookSubscription:Delete',
  summary: 'Delete a webhook subscription; its pending deliveries are cancelled',
  tenants,
  input: { scope: Scope, id: uuid },
  output: WebhookSubscription.schema,
  target: WebhookSubscription,
  permissionChange: 'none',
  run: async ({ db, input, services, tx }) => {
    const removed = await db.remove(WebhookSubscription, input.id);
    await cancelDeliveries(tx, { tenantId: db.scope.nodeId, ids: [input.id] }, services.clock.now());
    return removed;
  },
});

const DAY_SECONDS = 86_400;

export const rotateWebhookSecret = mutation({
  rest: 'POST /webhook-subscriptions/:id/rotate-secret',
  whileImpersonating: 'refused',
  access: 'WebhookSubscription:RotateSecret',
  summary: 'Rotate the signing secret; the old one signs too during a grace period',
  description: 'While two secrets sign, another rotation needs force, which ends the older one at once.',
  tenants,
  input: {
    scope: Scope,
    id: uuid,
    graceSeconds: z
      .int()
      .min(0)
      .max(7 * DAY_SECONDS)
      .default(DAY_SECONDS)
      .meta({ description: 'Seconds for which the old secret still signs; 0 ends it at once.' }),
    force: z
      .boolean()
      .default(false)
      .describe('true: rotate although two secrets sign, and end the older one at once.'),
  },
  output: WebhookSubscriptionWithSecret,
  secrets: ['secret'],
  target: WebhookSubscription,
  codes: ['ROTATION_IN_PROGRESS'],
  permissionChange: 'none',
  run: async (ctx) => {
    const { input, scope, services } = ctx;
    const { id, graceSeconds, force } = input;
    const now = services.clock.now();
    const before = await lockSubscription(ctx, id);
    if (!force && before.previousSecretExpiresAt !== null && before.previousSecretExpiresAt > now) {
      throw fail('ROTATION_IN_PROGRESS');
    }
    const until = graceSeconds > 0 ? new Date(now.getTime() + graceSeconds * 1000) : null;
    const secret = newWebhookSecret();
    await replaceSecret(ctx, { id, tenantId: scope.nodeId }, secret, until);
    const rotated = await markRotated(ctx, id, until);
    ctx.record({ target: { type: 'WebhookSubscription', id }, metadata: { graceSeconds, force } });
    return { ...rotated, secret };
  },
});

export const webhookDeliveries = query({
  rest: 'GET /webhook-subscriptions/deliveries',
  access: 'WebhookDelivery:Query',
  summary: 'List the deliveries to the webhook subscriptions of a project',
  description: 'Includes those of deleted subscriptions.',
  tenants,
  input: {
    scope: Scope,
    ...paging(WebhookDelivery),
    subscriptionId: uuid.optional().describe('Only deliveries of this subscription.'),
    status: WebhookDeliveryStatus.optional().describe('Only deliveries with this status.'),
    eventType: EventTypeName.optional().describe('Only deliveries of this type.'),
    from: isoInput.optional().meta({ description: 'Only deliveries created at this time or later.' }),
    to: isoInput.optional().meta({ description: 'Only deliveries created before this time.' }),
  },
  output: pageOf(WebhookDelivery),
  run: ({ db, input }) => {
    const { subscriptionId, status, eventType, from, to } = input;
    return db.page(WebhookDelivery, input, [
      subscriptionId === undefined ? undefined : eq(deliveries.subscriptionId, subscriptionId),
      status && eq(deliveries.status, status),
      eventType === undefined ? undefined : eq(deliveries.eventType, eventType),
      and(from && gte(deliveries.createdAt, from), to && lt(deliveries.createdAt, to)),
    ]);
  },
});

export const replayWebhookDelivery = mutation({
  rest: 'POST /webhook-subscriptions/deliveries/:id/replay',
  whileImpersonating: 'allowed',
  access: 'WebhookDelivery:Replay',
  summary: 'Deliver again at once, under the same event id',
  tenants,
  input: { scope: Scope, id: uuid },
  output: WebhookDelivery.schema,
  target: WebhookDelivery,
  codes: ['INVALID_STATE'],
  permissionChange: 'none',
  run: (ctx) => {
    ctx.afterCommit(() => ctx.services.webhooksDue());
    return replay(ctx, ctx.input.id);
  },
});

export const testWebhookSubscription = mutation({
  rest: 'POST /webhook-subscriptions/:id/test',
  whileImpersonating: 'allowed',
  access: 'WebhookSubscription:Test',
  summary: 'Send a ping, or an example of an event type',
  description:
    'The data of an example has `test: true`. Neither is an event, so the feed does not contain it.',
  tenants,
  input: {
    scope: Scope,
    id: uuid,
    eventType: EventTypeName.default(PING).describe('The type to send an example of; a ping if left out.'),
  },
  output: WebhookDelivery.schema,
  status: 202,
  target: WebhookSubscription,
  permissionChange: 'none',
  run: async (ctx) => {
    const { db, input, scope, services, tx, call } = ctx;
    const { id } = await lockSubscription(ctx, input.id);
    const deliveryId = await queueTestEvent(tx, services.ids, {
      kind: 'test',
      type: input.eventType,
      subscription: { id, tenantId: scope.nodeId },
      scope: nodeRef(scope),
      actor: actorOf(ctx.principal),
      requestId: call.requestId,
      now: services.clock.now(),
    });
    ctx.afterCommit(() => services.webhooksDue());
    ctx.record({
      target: { type: 'WebhookSubscription', id },
      metadata: { eventType: input.eventType, deliveryId },
    });
    return db.get(WebhookDelivery, deliveryId);
  },
});
