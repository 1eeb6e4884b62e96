import { boolean, foreignKey, index, integer, pgTable, unique } from 'drizzle-orm/pg-core';
import { text as textColumn, uuid as uuidColumn } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { deletedIndex, rowColumns, tenantColumn, time } from '../../db/columns.ts';
import { entity, given, optional, serverSet } from '../../kernel/entity.ts';
import { iso, refusal, text, uuid } from '../../values.ts';

const disabledReasons = ['gone', 'failing'] as const;

/** Where the events of a project are sent, and how its receiver has done. The tenant is the project. */
export const webhookSubscriptions = pgTable(
  'webhook_subscriptions',
  {
    ...rowColumns(),
    tenantId: tenantColumn(),
    url: textColumn('url').notNull(),
    /** Names, `noun.*` or `*`, as given. */
    eventTypes: textColumn('event_types').array().notNull(),
    description: textColumn('description'),
    /** What its owner wants. What the service thinks of its receiver is `disabledReason`; it is sent to if both allow. */
    active: boolean('active').notNull().default(true),
    disabledReason: textColumn('disabled_reason', { enum: disabledReasons }),
    disabledAt: time('disabled_at'),
    /** The first of the attempts since which none succeeded. */
    failingSince: time('failing_since'),
    /** Whether its last answer took longer than a second. */
    slow: boolean('slow').notNull().default(false),
    /** When its owner was last warned that it fails; null once it works again. */
    warnedAt: time('warned_at'),
    exhaustedInARow: integer('exhausted_in_a_row').notNull().default(0),
    lastDeliveredAt: time('last_delivered_at'),
    lastProbeAt: time('last_probe_at'),
    previousSecretExpiresAt: time('previous_secret_expires_at'),
    /** No key: it does not depend on its creator staying. */
    createdBy: uuidColumn('created_by').notNull(),
  },
  (table) => [
    deletedIndex('webhook_subscriptions', table),
    unique('webhook_subscriptions_tenant_id_id').on(table.tenantId, table.id),
    index('webhook_subscriptions_tenant').on(table.tenantId, table.createdAt, table.id),
  ],
);

/**
 * What deliveries are signed with, 32 bytes under the key-encryption key (sealed as `webhook_secrets:<id>`): the current
 * one, whose `expires_at` is null, and for the overlap of a rotation the one before. No answer reads this.
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

/** An absolute URL, kept as typed. Which ones may be called is not a matter of form: `assertUrlAllowed` decides. */
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

/** Where events of a project are sent. Its secret is in no field: answers that show it add it themselves. */
export const WebhookSubscription = entity('WebhookSubscription', {
  table: webhookSubscriptions,
  doc: 'Where events of a project are sent.',
  fields: {
    projectId: serverSet(uuid.describe('The project whose events are sent.')),
    url: given(
      target.meta({
        description: 'Where events are posted.',
        examples: ['https://hooks.example.com/doorward'],
      }),
    ),
    eventTypes: given(
      z.array(z.string()).describe('Types that are sent: names, all of a noun (`role.*`), or `*`.'),
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
    active: optional(z.boolean().describe('false: nothing is sent, and what happens meanwhile waits.'), true),
    disabledReason: serverSet(
      z
        .enum(disabledReasons)
        .meta({ id: 'WebhookSubscriptionDisabledReason', description: 'Why the service stopped sending.' })
        .nullable()
        .meta({
          description:
            'gone: the receiver answered 410; failing: it failed for too long. Null: not disabled.',
        }),
    ),
    disabledAt: serverSet(iso.nullable().describe('When the service stopped sending; null while it sends.')),
    failingSince: serverSet(
      iso.nullable().describe('Since when every attempt has failed; null if the last one did not.'),
    ),
    lastDeliveredAt: serverSet(iso.nullable().describe('When the receiver last took something.')),
    previousSecretExpiresAt: serverSet(
      iso.nullable().describe('Until when the old secret signs too; null outside of a rotation.'),
    ),
    createdBy: serverSet(uuid.describe('Id of the user who made it.')),
  },
  columns: { projectId: webhookSubscriptions.tenantId },
  search: ['url', 'description'],
  sort: ['createdAt', 'url'],
});
