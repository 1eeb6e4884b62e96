import { sql } from 'drizzle-orm';
import { bigint, char, index, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import { INSTALLATION_ID } from '../kernel/scope.ts';

/** The node of the installation. It owns built-in rows, and has the audit log and events of the installation. */
export const SYSTEM_NODE = INSTALLATION_ID;

/**
 * The tenant tree: one row per account, organization, project and accepted project grant, under the same id. A node is
 * the unit of isolation: every tenant-owned row names its node. It also stores the tenant's counters: the policy
 * version, and the gapless sequences of its audit log and events.
 */
export const nodes = pgTable(
  'nodes',
  {
    id: uuid('id').primaryKey(),
    kind: text('kind', { enum: ['account', 'organization', 'project', 'grant', 'system'] }).notNull(),
    parentId: uuid('parent_id'),
    policyVersion: bigint('policy_version', { mode: 'number' }).notNull().default(0),
    auditSequence: bigint('audit_sequence', { mode: 'number' }).notNull().default(0),
    auditHash: char('audit_hash', { length: 64 }).notNull().default('0'.repeat(64)),
    /** Sequence of the last signed checkpoint entry, and its time (src/events/audit/checkpoints.ts). */
    auditCheckpoint: bigint('audit_checkpoint', { mode: 'number' }).notNull().default(0),
    auditCheckpointAt: timestamp('audit_checkpoint_at', { withTimezone: true, precision: 3 })
      .notNull()
      .defaultNow(),
    eventSequence: bigint('event_sequence', { mode: 'number' }).notNull().default(0),
    deletedAt: timestamp('deleted_at', { withTimezone: true, precision: 3 }),
    /** When a deleted node may be purged before its retention ends; null otherwise. The purge sets it to null again. */
    purgeAt: timestamp('purge_at', { withTimezone: true, precision: 3 }),
  },
  (table) => [
    index('nodes_parent').on(table.parentId),
    index('nodes_purge')
      .on(table.purgeAt)
      .where(sql`purge_at is not null`),
  ],
);
