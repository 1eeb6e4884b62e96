import { index, pgTable, text as textColumn, uuid as uuidColumn } from 'drizzle-orm/pg-core';
import { time, userColumn } from '../columns.ts';
import { sessions } from '../sign-in/session.ts';

/**
 * Authorization codes of command lines. A used code refers to its session and is kept as long as the session, so that a
 * second use can end it.
 */
export const cliCodes = pgTable(
  'cli_codes',
  {
    hash: textColumn('hash').primaryKey(),
    userId: userColumn(),
    challenge: textColumn('challenge').notNull(),
    /** How and when the user signed in. The previous version writes neither: it signs in through GitHub only. */
    amr: textColumn('amr').array().notNull().default(['fed']),
    authenticatedAt: time('authenticated_at').notNull().defaultNow(),
    /** Null until the code is used. */
    sessionId: uuidColumn('session_id').references(() => sessions.id, { onDelete: 'cascade' }),
    expiresAt: time('expires_at').notNull(),
    createdAt: time('created_at').notNull().defaultNow(),
  },
  (table) => [index('cli_codes_user').on(table.userId), index('cli_codes_session').on(table.sessionId)],
);
