import { sql } from 'drizzle-orm';
import { foreignKey, index, integer, pgTable, primaryKey, unique } from 'drizzle-orm/pg-core';
import { text as textColumn, uuid as uuidColumn } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { tenantColumn, time } from '../../db/columns.ts';
import { entity, serverSet } from '../../kernel/entity.ts';
import { iso, uuid } from '../../values.ts';
import { webhookSubscriptions } from './subscription.ts';

export const deliveryStatuses = ['pending', 'delivered', 'exhausted', 'cancelled'] as const;
/** Why an attempt did not succeed. */
export const attemptErrors = [
  'timeout',
  'connection',
  'tls',
  'dns',
  'blocked',
  'redirect',
  'status',
] as const;

/** One event for one subscription. Times that decide when something is sent are those of the clock port. */
export const webhookDeliveries = pgTable(
  'webhook_deliveries',
  {
    id: uuidColumn('id').primaryKey(),
    tenantId: tenantColumn(),
    subscriptionId: uuidColumn('subscription_id').notNull(),
    /** `evt_<uuid>`, the `webhook-id` of every attempt; of a test or a probe, one that no event has. */
    eventId: textColumn('event_id').notNull(),
    eventType: textColumn('event_type').notNull(),
    /** Of an event waits while its subscription is disabled or inactive, and so does a test; a probe is sent then. */
    kind: textColumn('kind', { enum: ['event', 'test', 'probe'] }).notNull(),
    /** Exactly what is signed and sent. */
    body: textColumn('body').notNull(),
    status: textColumn('status', { enum: deliveryStatuses }).notNull().default('pending'),
    /** Attempts in all, of which each has a number. */
    attemptCount: integer('attempt_count').notNull().default(0),
    /** Attempts since the schedule began, or began anew with a replay. */
    scheduleStep: integer('schedule_step').notNull().default(0),
    /** Null once it is no longer pending. */
    nextAttemptAt: time('next_attempt_at'),
    /** Until when the attempt that is being made belongs to whoever makes it. */
    claimedUntil: time('claimed_until'),
    lastStatusCode: integer('last_status_code'),
    lastLatencyMs: integer('last_latency_ms'),
    lastError: textColumn('last_error', { enum: attemptErrors }),
    lastResponseBody: textColumn('last_response_body'),
    deliveredAt: time('delivered_at'),
    createdAt: time('created_at').notNull(),
    /** It is kept for `EVENTS_RETENTION_DAYS` from here on. */
    updatedAt: time('updated_at').notNull(),
  },
  (table) => [
    foreignKey({
      name: 'webhook_deliveries_subscription_fk',
      columns: [table.tenantId, table.subscriptionId],
      foreignColumns: [webhookSubscriptions.tenantId, webhookSubscriptions.id],
    }),
    // Whatever happens to the relay, an event is there once.
    unique('webhook_deliveries_event').on(table.subscriptionId, table.eventId),
    unique('webhook_deliveries_tenant_id_id').on(table.tenantId, table.id),
    index('webhook_deliveries_tenant').on(table.tenantId, table.createdAt, table.id),
    index('webhook_deliveries_due')
      .on(table.nextAttemptAt)
      .where(sql`status = 'pending'`),
    index('webhook_deliveries_waiting')
      .on(table.subscriptionId, table.nextAttemptAt)
      .where(sql`status = 'pending'`),
    index('webhook_deliveries_updated').using('brin', table.updatedAt),
    // For the erasure of a user of whom a delivery speaks.
    index('webhook_deliveries_user')
      .on(sql`((body::jsonb)->'data'->>'id')`, table.id)
      .where(sql`event_type like 'user.%'`),
  ],
);

/** What became of each attempt. The key makes sure that no two workers make the same one. */
export const webhookAttempts = pgTable(
  'webhook_attempts',
  {
    tenantId: tenantColumn(),
    deliveryId: uuidColumn('delivery_id').notNull(),
    /** From 1; a replay counts on. */
    number: integer('number').notNull(),
    attemptedAt: time('attempted_at').notNull(),
    statusCode: integer('status_code'),
    latencyMs: integer('latency_ms'),
    error: textColumn('error', { enum: attemptErrors }),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.deliveryId, table.number] }),
    foreignKey({
      name: 'webhook_attempts_delivery_fk',
      columns: [table.tenantId, table.deliveryId],
      foreignColumns: [webhookDeliveries.tenantId, webhookDeliveries.id],
    }).onDelete('cascade'),
  ],
);

export const WebhookDeliveryStatus = z.enum(deliveryStatuses).meta({
  id: 'WebhookDeliveryStatus',
  description:
    'pending: will be tried; delivered; exhausted: no more attempts; cancelled: its subscription is gone.',
});
const AttemptError = z
  .enum(attemptErrors)
  .meta({ id: 'WebhookDeliveryError', description: 'What kept an attempt from being delivered.' });

/** One attempt to deliver. */
export const WebhookAttempt = entity('WebhookAttempt', {
  table: webhookAttempts,
  doc: 'One attempt to deliver.',
  without: ['id', 'createdAt', 'updatedAt', 'deletedAt'],
  fields: {
    number: serverSet(z.int().describe('Counts the attempts of a delivery, from 1.')),
    attemptedAt: serverSet(iso.describe('When it began.')),
    statusCode: serverSet(z.int().nullable().describe('HTTP status of the answer; null without one.')),
    latencyMs: serverSet(z.int().nullable().describe('Milliseconds until the answer; null without one.')),
    error: serverSet(AttemptError.nullable().describe('What went wrong; null if it arrived.')),
  },
  sort: ['number'],
});

/** One event for one subscription, and what became of it. */
export const WebhookDelivery = entity('WebhookDelivery', {
  table: webhookDeliveries,
  doc: 'One event for one webhook subscription, and what became of it.',
  without: ['deletedAt'],
  fields: {
    subscriptionId: serverSet(uuid.describe('Id of the webhook subscription.')),
    eventId: serverSet(
      z.string().meta({ description: 'Id of the event: evt_<uuid>, and the webhook-id of every attempt.' }),
    ),
    eventType: serverSet(z.string().describe('Name of the type of the event.')),
    status: serverSet(WebhookDeliveryStatus.describe('What has become of it.')),
    attemptCount: serverSet(z.int().describe('How many attempts were made.')),
    nextAttemptAt: serverSet(iso.nullable().describe('When it is tried next; null if it is not.')),
    lastStatusCode: serverSet(
      z.int().nullable().describe('HTTP status of the last answer; null without one.'),
    ),
    lastLatencyMs: serverSet(
      z.int().nullable().describe('Milliseconds until the last answer; null without one.'),
    ),
    lastError: serverSet(AttemptError.nullable().describe('What went wrong last; null if nothing did.')),
    lastResponseBody: serverSet(
      z.string().nullable().meta({ description: 'The first 1000 characters of the last answer.' }),
    ),
    deliveredAt: serverSet(iso.nullable().describe('When the receiver took it; null if it has not.')),
  },
  relations: {
    attempts: {
      kind: 'children',
      to: () => WebhookAttempt,
      column: 'deliveryId',
      // Attempts are a part of the delivery, and have no operations of their own.
      permission: 'WebhookDelivery:Query',
    },
  },
  sort: ['createdAt'],
  order: 'DESC',
});
