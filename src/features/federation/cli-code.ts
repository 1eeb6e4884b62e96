import { index, pgTable, text as textColumn, uuid as uuidColumn } from 'drizzle-orm/pg-core';
import { time } from '../../db/columns.ts';
import { sessions } from '../me/session.ts';
import { users } from '../users/user.ts';

/** Codes of command lines. A used one names its session and stays as long, so that a second use ends it. */
export const cliCodes = pgTable(
  'cli_codes',
  {
    hash: textColumn('hash').primaryKey(),
    userId: uuidColumn('user_id')
      .notNull()
      .references(() => users.id),
    challenge: textColumn('challenge').notNull(),
    /** Null until it is used. */
    sessionId: uuidColumn('session_id').references(() => sessions.id, { onDelete: 'cascade' }),
    expiresAt: time('expires_at').notNull(),
    createdAt: time('created_at').notNull().defaultNow(),
  },
  (table) => [index('cli_codes_user').on(table.userId), index('cli_codes_session').on(table.sessionId)],
);
