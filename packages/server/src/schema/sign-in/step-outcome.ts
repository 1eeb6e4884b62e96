import { index, pgTable, text as textColumn } from 'drizzle-orm/pg-core';
import { time } from '../columns.ts';

/**
 * The outcome of the latest step of a flow, kept for half a minute for a browser that sends the step again. A flow has
 * only one row, so a browser that repeats an earlier step finds none, and is redirected to the current page.
 */
export const stepOutcomes = pgTable(
  'step_outcomes',
  {
    /** Hash of the secret in the cookie of the flow. */
    browserHash: textColumn('browser_hash').primaryKey(),
    /** Hash of operation and input, keyed with the cookie's secret because the input may contain a password. */
    requestHash: textColumn('request_hash').notNull(),
    /** The response with its cookies, encrypted. */
    sealed: textColumn('sealed').notNull(),
    expiresAt: time('expires_at').notNull(),
  },
  (table) => [index('step_outcomes_expiry').on(table.expiresAt)],
);
