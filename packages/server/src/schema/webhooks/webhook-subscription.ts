import { sql } from 'drizzle-orm';
import {
  boolean,
  foreignKey,
  index,
  integer,
  pgTable,
  unique,
  uniqueIndex,
  text as textColumn,
  uuid as uuidColumn,
} from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { managed, managedColumns, managedOf } from '../managed.ts';
import { deletedIndex, rowColumns, tenantColumn, time } from '../columns.ts';
import { entity, required, optional, serverSet } from '../../kernel/entity.ts';
import { iso, refusal, rowName, text, uuid } from '../../kernel/input/values.ts';

const disabledReasons = ['gone', 'failing'] as const;

/** Receivers of a project's events, and their health. `tenantId` is the project, or the slice of a grant. */
export const webhookSubscriptions = pgTable(
  'webhook_subscriptions',
  {
    ...rowColumns(),
    tenantId: tenantColumn(),
    ...managedColumns(),
    /** The name by which policy documents refer to the subscription; without a name, none can manage it. */
    name: textColumn('name'),
    url: textColumn('url').notNull(),
    /** Names of event types, `noun.*` or `*`, as in the input. */
    eventTypes: textColumn('event_types').array().notNull(),
    description: textColumn('description'),
    /**
     * Set by the owner, whereas the service sets `disabledReason`. Events are sent only if the subscription is active
     * and not disabled.
     */
    active: boolean('active').notNull().default(true),
    disabledReason: textColumn('disabled_reason', { enum: disabledReasons }),
    disabledAt: time('disabled_at'),
    /** Time of the first failed attempt since the last success. */
    failingSince: time('failing_since'),
    /** Whether the receiver took longer than a second for its last response. */
    slow: boolean('slow').notNull().default(false),
    /** When the owner was last warned of failures; null after a success. */
    warnedAt: time('warned_at'),
    exhaustedInARow: integer('exhausted_in_a_row').notNull().default(0),
    lastDeliveredAt: time('last_delivered_at'),
    lastProbeAt: time('last_probe_at'),
    previousSecretExpiresAt: time('previous_secret_expires_at'),
    /** No foreign key, because the subscription outlives its creator. */
    createdBy: uuidColumn('created_by').notNull(),
  },
  (table) => [
    deletedIndex('webhook_subscriptions', table),
    unique('webhook_subscriptions_tenant_id_id').on(table.tenantId, table.id),
    index('webhook_subscriptions_tenant').on(table.tenantId, table.createdAt, table.id),
    uniqueIndex('webhooks_name_taken')
      .on(table.tenantId, table.name)
      .where(sql`deleted_at is null`),
  ],
);

/**
 * Signing secrets: 32 bytes, encrypted with the key-encryption key (context `webhook_secrets:<id>`). The current secret
 * has no `expires_at`; during the overlap of a rotation the former one is here too. No response reads this table.
 */
export const webhookSecrets = pgTable(
  'webhook_secrets',
  {
    id: uuidColumn('id').primaryKey(),
    tenantId: tenantColumn(),
    subscriptionId: uuidColumn('subscription_id').notNull(),
    sealed: textColumn('sealed').notNull(),
    createdAt: time('created_at').notNull().defaultNow(),
    expiresAt: time('expires_at'),
  },
  (table) => [
    foreignKey({
      name: 'webhook_secrets_subscription_fk',
      columns: [table.tenantId, table.subscriptionId],
      foreignColumns: [webhookSubscriptions.tenantId, webhookSubscriptions.id],
    }).onDelete('cascade'),
    index('webhook_secrets_subscription').on(table.tenantId, table.subscriptionId),
  ],
);

/** An absolute URL, stored as typed. `assertUrlAllowed` decides whether the service may call it. */
const target = z
  .string()
  .check((payload) => {
    const typed = payload.value;
    if (typed.length > 2048) payload.issues.push(refusal('too_long', typed));
    else if (
      /[\s\p{Cc}\p{Cs}\\#]/u.test(typed) ||
      !/^[a-z]+:\/\/[^/?]/i.test(typed) ||
      !URL.canParse(typed)
    ) {
      payload.issues.push(refusal('format', typed));
    }
  })
  .meta({ format: 'uri', maxLength: 2048 });

/**
 * A receiver of a project's events. The secret is not a field; the operations that show it add it to their responses.
 */
export const WebhookSubscription = entity('WebhookSubscription', {
  table: webhookSubscriptions,
  doc: 'Where events of a project are sent.',
  fields: {
    projectId: serverSet(uuid.describe('The project whose events are sent.')),
    name: optional(
      rowName.nullable().meta({
        description: 'Its name, which no other of the project has. A policy document needs it.',
        examples: ['Search index'],
      }),
      null,
    ),
    url: required(
      target.meta({
        description: 'Where events are posted.',
        examples: ['https://hooks.example.com/doorward'],
      }),
    ),
    eventTypes: required(
      z.array(z.string()).describe('Types that are sent: names, all types of a noun (`role.*`), or `*`.'),
    ),
    description: optional(
      text(0, 500, { multiline: true })
        .nullable()
        .meta({
          description: 'What the receiver does with it.',
          examples: ['Keeps the search index up to date.'],
        }),
      null,
    ),
    active: optional(z.boolean().describe('false: nothing is sent, and new deliveries wait.'), true),
    disabledReason: serverSet(
      z
        .enum(disabledReasons)
        .meta({ id: 'WebhookSubscriptionDisabledReason', description: 'Why the service stopped sending.' })
        .nullable()
        .meta({
          description:
            'gone: the receiver answered 410; failing: attempts failed for too long. Null: not disabled.',
        }),
    ),
    disabledAt: serverSet(iso.nullable().describe('When the service stopped sending; null while it sends.')),
    failingSince: serverSet(
      iso.nullable().describe('Since when every attempt has failed; null if the last one did not.'),
    ),
    lastDeliveredAt: serverSet(iso.nullable().describe('When the receiver last accepted a delivery.')),
    previousSecretExpiresAt: serverSet(
      iso.nullable().describe('Until when the old secret signs too; null without a rotation.'),
    ),
    createdBy: serverSet(uuid.describe('Id of the user who created it.')),
    managed,
  },
  computed: {
    managed: managedOf(webhookSubscriptions),
    // The tenant is the project, or the slice of a grant.
    projectId: sql`coalesce((select g.tenant_id from project_grants g where g.id = ${webhookSubscriptions.tenantId}), ${webhookSubscriptions.tenantId})`,
  },
  search: ['name', 'url', 'description'],
  sort: ['createdAt', 'name', 'url'],
});
