import { index, pgTable, text as textColumn, uuid as uuidColumn } from 'drizzle-orm/pg-core';
import { time } from '../columns.ts';

/** Challenges that authenticators sign. They are random, stored as a hash, and consumed by `DELETE … RETURNING`. */
export const passkeyChallenges = pgTable(
  'passkey_challenges',
  {
    id: uuidColumn('id').primaryKey(),
    purpose: textColumn('purpose', { enum: ['registration', 'signIn', 'flow'] }).notNull(),
    hash: textColumn('hash').notNull(),
    /** The only session or flow that may use the challenge; null: anyone who has it. */
    boundTo: textColumn('bound_to'),
    expiresAt: time('expires_at').notNull(),
  },
  (table) => [index('passkey_challenges_expiry').on(table.expiresAt)],
);
