import { sql } from 'drizzle-orm';
import { bigint, char, index, integer, jsonb, pgTable, text, unique, uuid } from 'drizzle-orm/pg-core';
import { time } from '../db/query/columns.ts';
import { nodes } from '../db/tenancy/nodes.ts';

/** The audit log, insert-only: per tenant node a gapless sequence whose hashes form a chain (events §7). */
export const auditLog = pgTable(
  'audit_log',
  {
    id: uuid('id').primaryKey(),
    tenantId: uuid('tenant_id')
      .notNull()
      .references(() => nodes.id),
    sequence: bigint('sequence', { mode: 'number' }).notNull(),
    occurredAt: time('occurred_at').notNull(),
    scope: jsonb('scope').notNull(),
    operation: text('operation').notNull(),
    event: text('event'),
    outcome: text('outcome', { enum: ['success', 'denied', 'failed'] }).notNull(),
    code: text('code'),
    reason: text('reason'),
    actor: jsonb('actor').notNull(),
    target: jsonb('target'),
    changes: jsonb('changes'),
    metadata: jsonb('metadata').notNull(),
    ipAddress: text('ip_address'),
    userAgent: text('user_agent'),
    requestId: text('request_id').notNull(),
    previousHash: char('previous_hash', { length: 64 }).notNull(),
    hash: char('hash', { length: 64 }).notNull(),
    personalDigest: char('personal_digest', { length: 64 }).notNull(),
    salt: text('salt'),
  },
  (table) => [
    unique('audit_log_sequence').on(table.tenantId, table.sequence),
    index('audit_log_actor').on(sql`(actor->>'userId')`, table.id),
    index('audit_log_user')
      .on(sql`(target->>'id')`, table.id)
      .where(sql`target->>'type' = 'User'`),
    // Finds the checkpoints up to which entries may be deleted (src/events/audit/retention.ts).
    index('audit_log_checkpoints')
      .on(table.tenantId, table.occurredAt)
      .where(sql`operation = 'auditCheckpoint'`),
  ],
);

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
    /** The envelope of events §2. */
    body: jsonb('body').notNull(),
    /** When the relay takes the event; null: it is relayed, or no consumer takes it. */
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

/** Mails from the transaction that queues them until they are sent. */
export const mails = pgTable(
  'mails',
  {
    id: uuid('id').primaryKey(),
    /** Address, subject and bodies, sealed: a mail contains a token that a database dump must not reveal. */
    sealed: text('sealed').notNull(),
    /** A keyed hash of the address, to find the mails of a deleted user. */
    recipient: text('recipient'),
    attempts: integer('attempts').notNull().default(0),
    nextAttemptAt: time('next_attempt_at').notNull().defaultNow(),
    createdAt: time('created_at').notNull().defaultNow(),
  },
  (table) => [index('mails_due').on(table.nextAttemptAt)],
);
