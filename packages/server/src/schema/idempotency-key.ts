import { index, integer, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { time } from './columns.ts';

/** Stored responses. They are sent again if the same request arrives again with the same `Idempotency-Key`. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    /** The owner of the key: the id of a user or an API key. */
    credential: text('credential').notNull(),
    operation: text('operation').notNull(),
    key: text('key').notNull(),
    /** HMAC-SHA-256 of the canonical input. */
    inputHash: text('input_hash').notNull(),
    status: integer('status').notNull(),
    /** The response without one-time secrets, or the error. */
    answer: jsonb('answer').notNull(),
    createdAt: time('created_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.credential, table.operation, table.key] }),
    index('idempotency_keys_created').on(table.createdAt),
  ],
);
