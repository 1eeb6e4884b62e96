import { sql } from 'drizzle-orm';
import {
  foreignKey,
  index,
  integer,
  pgTable,
  primaryKey,
  unique,
  text as textColumn,
  uuid as uuidColumn,
} from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { tenantColumn, time } from '../columns.ts';
import { entity, serverSet } from '../../kernel/entity.ts';
import { iso, uuid } from '../../kernel/input/values.ts';
import { webhookSubscriptions } from './webhook-subscription.ts';

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

/**
 * Deliveries of one event to one subscription. Times that decide when something is sent come from the clock port, not
 * from the database.
 */
export const webhookDeliveries = pgTable(
  'webhook_deliveries',
  {
    id: uuidColumn('id').primaryKey(),
    tenantId: tenantColumn(),
    subscriptionId: uuidColumn('subscription_id').notNull(),
    /** `evt_<uuid>`, the `webhook-id` of every attempt. For a test or a probe, no event has this id. */
    eventId: textColumn('event_id').notNull(),
    eventType: textColumn('event_type').notNull(),
    /** While the subscription is disabled or inactive, events and tests wait and only probes are sent. */
    kind: textColumn('kind', { enum: ['event', 'test', 'probe'] }).notNull(),
    /** The exact text that is signed and sent. */
    body: textColumn('body').notNull(),
    status: textColumn('status', { enum: deliveryStatuses }).notNull().default('pending'),
    /** All attempts, including those before a replay. */
    attemptCount: integer('attempt_count').notNull().default(0),
    /** Attempts since the schedule started; a replay restarts it. */
    scheduleStep: integer('schedule_step').notNull().default(0),
    /** Null unless the delivery is pending. */
    nextAttemptAt: time('next_attempt_at'),
    /** End of the lease of the current attempt; until then no other worker makes one. */
    claimedUntil: time('claimed_until'),
    lastStatusCode: integer('last_status_code'),
    lastLatencyMs: integer('last_latency_ms'),
    lastError: textColumn('last_error', { enum: attemptErrors }),
    lastResponseBody: textColumn('last_response_body'),
    deliveredAt: time('delivered_at'),
    createdAt: time('created_at').notNull(),
    /** The delivery is purged `EVENTS_RETENTION_DAYS` after this time. */
    updatedAt: time('updated_at').notNull(),
  },
  (table) => [
    foreignKey({
      name: 'webhook_deliveries_subscription_fk',
      columns: [table.tenantId, table.subscriptionId],
      foreignColumns: [webhookSubscriptions.tenantId, webhookSubscriptions.id],
    }),
    // The relay may process an event again after a failure; this keeps its delivery unique.
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
    // Finds deliveries that contain data of a user to be erased.
    index('webhook_deliveries_user')
      .on(sql`((body::jsonb)->'data'->>'id')`, table.id)
      .where(sql`event_type like 'user.%'`),
  ],
);

/** Results of attempts. The primary key ensures that two workers cannot record the same attempt. */
export const webhookAttempts = pgTable(
  'webhook_attempts',
  {
    tenantId: tenantColumn(),
    deliveryId: uuidColumn('delivery_id').notNull(),
    /** Starts at 1; a replay continues the count. */
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
    'pending: will be attempted; delivered; exhausted: no more attempts; cancelled: the subscription was deleted.',
});
const AttemptError = z
  .enum(attemptErrors)
  .meta({ id: 'WebhookDeliveryError', description: 'Why an attempt failed.' });

/** One attempt to deliver. */
export const WebhookAttempt = entity('WebhookAttempt', {
  table: webhookAttempts,
  doc: 'One attempt to deliver.',
  without: ['id', 'createdAt', 'updatedAt', 'deletedAt'],
  fields: {
    number: serverSet(z.int().describe('Number of the attempt, from 1.')),
    attemptedAt: serverSet(iso.describe('When the attempt started.')),
    statusCode: serverSet(z.int().nullable().describe('HTTP status of the answer; null without one.')),
    latencyMs: serverSet(z.int().nullable().describe('Milliseconds until the answer; null without one.')),
    error: serverSet(AttemptError.nullable().describe('Why the attempt failed; null if it succeeded.')),
  },
  sort: ['number'],
});

/** A delivery of one event to one subscription, and the result of its attempts. */
export const WebhookDelivery = entity('WebhookDelivery', {
  table: webhookDeliveries,
  doc: 'One event for one webhook subscription, and the result of its attempts.',
  without: ['deletedAt'],
  fields: {
    subscriptionId: serverSet(uuid.describe('Id of the webhook subscription.')),
    eventId: serverSet(
      z.string().meta({ description: 'Id of the event: evt_<uuid>, and the webhook-id of every attempt.' }),
    ),
    eventType: serverSet(z.string().describe('Name of the type of the event.')),
    status: serverSet(WebhookDeliveryStatus.describe('Its status.')),
    attemptCount: serverSet(z.int().describe('Number of attempts so far.')),
    nextAttemptAt: serverSet(iso.nullable().describe('When the next attempt is due; null if there is none.')),
    lastStatusCode: serverSet(
      z.int().nullable().describe('HTTP status of the last answer; null without one.'),
    ),
    lastLatencyMs: serverSet(
      z.int().nullable().describe('Milliseconds until the last answer; null without one.'),
    ),
    lastError: serverSet(
      AttemptError.nullable().describe('Why the last attempt failed; null if it succeeded.'),
    ),
    lastResponseBody: serverSet(
      z.string().nullable().meta({ description: 'The first 1000 characters of the last answer.' }),
    ),
    deliveredAt: serverSet(iso.nullable().describe('When the receiver accepted it; null if it has not.')),
  },
  relations: {
    attempts: {
      kind: 'children',
      to: () => WebhookAttempt,
      column: 'deliveryId',
      // Attempts are part of the delivery and have no operations of their own.
      permission: 'WebhookDelivery:Query',
    },
  },
  sort: ['createdAt'],
  order: 'DESC',
});
