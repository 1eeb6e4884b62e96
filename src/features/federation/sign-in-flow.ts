import { index, pgTable, text as textColumn, unique, uuid as uuidColumn } from 'drizzle-orm/pg-core';
import { time } from '../../db/columns.ts';

/**
 * A sign-in on its way through another site, or through a page that asks the user. The browser that began it holds the
 * flow cookie, the other site or the page hands back the state; only both together end it, once. So nobody can be led
 * into the end of somebody else's sign-in. What is to happen at the end is sealed in the row: it is decided at the
 * beginning, by nothing that comes back.
 */
export const signInFlows = pgTable(
  'sign_in_flows',
  {
    /** Of the state. */
    hash: textColumn('hash').primaryKey(),
    /** Of the flow cookie, which is new for each. */
    browserHash: textColumn('browser_hash').notNull(),
    sealed: textColumn('sealed').notNull(),
    /** Who has shown here who they are, if it is a user already: the flow ends with their password. */
    userId: uuidColumn('user_id'),
    /** Of the token of a link that was mailed; the newest alone. */
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
