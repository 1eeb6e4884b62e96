import { pgTable, text as textColumn } from 'drizzle-orm/pg-core';
import { time } from '../columns.ts';

/**
 * The tokens that may create the first user, at most one per process. Several processes that start together each print
 * a link that works, and restarting a process invalidates its previous link.
 */
export const firstUserTokens = pgTable('first_user_tokens', {
  /** Identifies the process, so that its next start finds the row. */
  issuer: textColumn('issuer').primaryKey(),
  hash: textColumn('hash').notNull().unique(),
  expiresAt: time('expires_at').notNull(),
});
