import { index, pgTable, text as textColumn, unique, uuid as uuidColumn } from 'drizzle-orm/pg-core';
import { time } from '../../db/columns.ts';

/**
 * A sign-in that waits for another site, or for the answer of the user on a page. The browser that began it holds the
 * flow cookie, the other site or the page sends the state back; only both together end the flow, once. So nobody can be
 * led into the end of another person's sign-in. What happens at the end is decided at the beginning and sealed in the
 * row; nothing that is sent back changes it.
 */
export const signInFlows = pgTable(
  'sign_in_flows',
  {
    /** Hash of the state. */
    hash: textColumn('hash').primaryKey(),
    /** Hash of the flow cookie, which is new for each flow. */
    browserHash: textColumn('browser_hash').notNull(),
    sealed: textColumn('sealed').notNull(),
    /** The existing user who has proved in this flow who they are. A change of their password ends the flow. */
    userId: uuidColumn('user_id'),
    /** Hash of the token of the newest link that was mailed. */
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
