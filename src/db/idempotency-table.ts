import { index, integer, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { time } from './columns.ts';

/** Answers that are given again when the same request comes again with the same `Idempotency-Key`. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    /** Whose key it is: a user's or an API key's id. */
    credential: text('credential').notNull(),
    operation: text('operation').notNull(),
    key: text('key').notNull(),
    /** SHA-256 of the canonical input. */
    inputHash: text('input_hash').notNull(),
    status: integer('status').notNull(),
    /** The answer without its one-time secrets, or the refusal. */
    answer: jsonb('answer').notNull(),
    createdAt: time('created_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.credential, table.operation, table.key] }),
    index('idempotency_keys_created').on(table.createdAt),
  ],
);
