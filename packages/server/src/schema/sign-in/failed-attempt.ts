import {
  index,
  integer,
  pgTable,
  primaryKey,
  text as textColumn,
  uuid as uuidColumn,
} from 'drizzle-orm/pg-core';
import { time, userColumn } from '../columns.ts';

/** How many wrong secrets an account got from one network, in a window that begins with the first of them. */
export const failedAttempts = pgTable(
  'failed_attempts',
  {
    userId: userColumn(),
    network: textColumn('network').notNull(),
    failures: integer('failures').notNull(),
    windowEndsAt: time('window_ends_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.network] })],
);

/**
 * The wrong secrets of an account in a sliding window of 24 hours. The table stays small: beyond a hundred rows only
 * known networks can add to it, and `failedAttempts` limits each network.
 */
export const accountFailures = pgTable(
  'account_failures',
  {
    id: uuidColumn('id').primaryKey(),
    userId: userColumn(),
    failedAt: time('failed_at').notNull(),
  },
  (table) => [index('account_failures_user').on(table.userId, table.failedAt)],
);

/** Networks of complete sign-ins, second factor included, with the time of the last one. */
export const knownNetworks = pgTable(
  'known_networks',
  {
    userId: userColumn(),
    network: textColumn('network').notNull(),
    signedInAt: time('signed_in_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.network] })],
);
