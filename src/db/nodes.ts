import { sql } from 'drizzle-orm';
import { bigint, char, index, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';

/** The node of built-in rows. No scope ever resolves to it. */
export const SYSTEM_NODE = '00000000-0000-0000-0000-000000000000';

/**
 * The tenant tree: one row per account, organization and project, with the id of the thing itself. It is the
 * unit of isolation (every tenant-owned row names its node) and the place where a tenant's counters live:
 * the version of its policy, and the gapless sequences of its audit log and events.
 */
export const nodes = pgTable(
  'nodes',
  {
    id: uuid('id').primaryKey(),
    kind: text('kind', { enum: ['account', 'organization', 'project', 'system'] }).notNull(),
    parentId: uuid('parent_id'),
    policyVersion: bigint('policy_version', { mode: 'number' }).notNull().default(0),
    auditSequence: bigint('audit_sequence', { mode: 'number' }).notNull().default(0),
    auditHash: char('audit_hash', { length: 64 }).notNull().default('0'.repeat(64)),
    /** The entry of the last signed checkpoint, and when that was (src/events/checkpoints.ts). */
    auditCheckpoint: bigint('audit_checkpoint', { mode: 'number' }).notNull().default(0),
    auditCheckpointAt: timestamp('audit_checkpoint_at', { withTimezone: true, precision: 3 })
      .notNull()
      .defaultNow(),
    eventSequence: bigint('event_sequence', { mode: 'number' }).notNull().default(0),
    deletedAt: timestamp('deleted_at', { withTimezone: true, precision: 3 }),
    /** From when on a deleted node is purged, if not after its retention; null again once it was. */
    purgeAt: timestamp('purge_at', { withTimezone: true, precision: 3 }),
  },
  (table) => [
    index('nodes_parent').on(table.parentId),
    index('nodes_purge')
      .on(table.purgeAt)
      .where(sql`purge_at is not null`),
  ],
);
