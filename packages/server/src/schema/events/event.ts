import { sql } from 'drizzle-orm';
import { bigint, index, integer, jsonb, pgTable, text, unique, uuid } from 'drizzle-orm/pg-core';
import { time } from '../columns.ts';
import { nodes } from '../nodes.ts';

/** The outbox: events in commit order per tenant node. */
export const events = pgTable(
  'events',
  {
    id: uuid('id').primaryKey(),
    tenantId: uuid('tenant_id')
      .notNull()
      .references(() => nodes.id),
    sequence: bigint('sequence', { mode: 'number' }).notNull(),
    type: text('type').notNull(),
    occurredAt: time('occurred_at').notNull(),
    /** The event envelope (events §2). */
    body: jsonb('body').notNull(),
    /** When the relay should process the event; null: it has been relayed, or no consumer takes its type. */
    relayAt: time('relay_at'),
    relayAttempts: integer('relay_attempts').notNull().default(0),
  },
  (table) => [
    unique('events_sequence').on(table.tenantId, table.sequence),
    // Rows are inserted and purged in time order, so a BRIN index is precise enough and makes writes almost free.
    index('events_occurred').using('brin', table.occurredAt),
    index('events_user')
      .on(sql`(body->'data'->>'id')`, table.id)
      .where(sql`type like 'user.%'`),
    index('events_invited')
      .on(sql`(body->'data'->>'email')`, table.id)
      .where(sql`type like 'invitation.%'`),
    index('events_to_relay')
      .on(table.relayAt, table.id)
      .where(sql`relay_at is not null`),
  ],
);
