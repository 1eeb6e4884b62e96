import { index, pgTable, text as textColumn } from 'drizzle-orm/pg-core';
import { time, userColumn } from '../columns.ts';

/**
 * Mailed tokens. They are stored as hashes, bound to purpose, user and address, and consumed by `DELETE … RETURNING`,
 * so that of two concurrent uses only one succeeds.
 */
export const oneTimeTokens = pgTable(
  'one_time_tokens',
  {
    hash: textColumn('hash').primaryKey(),
    purpose: textColumn('purpose', { enum: ['verifyEmail', 'resetPassword'] }).notNull(),
    userId: userColumn(),
    address: textColumn('address').notNull(),
    expiresAt: time('expires_at').notNull(),
    createdAt: time('created_at').notNull().defaultNow(),
  },
  (table) => [index('one_time_tokens_user').on(table.userId, table.purpose)],
);
