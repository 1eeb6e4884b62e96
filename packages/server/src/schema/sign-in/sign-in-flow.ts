import { index, pgTable, text as textColumn, unique, uuid as uuidColumn } from 'drizzle-orm/pg-core';
import { time } from '../columns.ts';

/**
 * A sign-in that waits for a provider or for the user to act on a page. The browser that began it has the flow cookie,
 * and the provider or the page sends the state back. Both together finish the flow, once, so an attacker cannot make a
 * victim finish the attacker's sign-in. The destination is fixed at the beginning and encrypted in the row; nothing
 * that is sent back changes it.
 */
export const signInFlows = pgTable(
  'sign_in_flows',
  {
    /** Hash of the state. */
    hash: textColumn('hash').primaryKey(),
    /** Hash of the secret in the flow cookie, which is new for each flow. */
    browserHash: textColumn('browser_hash').notNull(),
    sealed: textColumn('sealed').notNull(),
    /** The existing user who has proved their identity in this flow. If their password changes, the flow ends. */
    userId: uuidColumn('user_id'),
    /** Hash of the token in the newest mailed link. */
    mailedHash: textColumn('mailed_hash'),
    expiresAt: time('expires_at').notNull(),
    createdAt: time('created_at').notNull().defaultNow(),
  },
  (table) => [
    index('sign_in_flows_expiry').on(table.expiresAt),
    index('sign_in_flows_browser').on(table.browserHash),
    index('sign_in_flows_user').on(table.userId),
    unique('sign_in_flows_mailed').on(table.mailedHash),
  ],
);
