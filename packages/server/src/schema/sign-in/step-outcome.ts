import { index, pgTable, text as textColumn } from 'drizzle-orm/pg-core';
import { time } from '../columns.ts';

/**
 * The outcome of the last step of a flow, for a browser that sends the step again. It outlives the flow by half a minute. One
 * row per flow: who repeats an earlier step is led to the present page.
 */
export const stepOutcomes = pgTable(
  'step_outcomes',
  {
    /** Hash of the secret in the cookie of the flow. */
    browserHash: textColumn('browser_hash').primaryKey(),
    /** Of operation and input, keyed with that secret: the input may contain a password. */
    requestHash: textColumn('request_hash').notNull(),
    /** The answer with its cookies. */
    sealed: textColumn('sealed').notNull(),
    expiresAt: time('expires_at').notNull(),
  },
  (table) => [index('step_outcomes_expiry').on(table.expiresAt)],
);
