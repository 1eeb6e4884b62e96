import { index, pgTable, text as textColumn, uuid as uuidColumn } from 'drizzle-orm/pg-core';
import { time } from '../../db/columns.ts';
import { sessions } from '../me/session.ts';
import { projectApps } from '../project-apps/project-app.ts';
import { users } from '../users/user.ts';

/**
 * Authorization codes of project apps (RFC 6749 §4.1), bound to the app, the redirect URI, the challenge and the user.
 * A used one names its session and stays as long, so that a second use ends it.
 */
export const projectCodes = pgTable(
  'project_codes',
  {
    hash: textColumn('hash').primaryKey(),
    appId: uuidColumn('app_id')
      .notNull()
      .references(() => projectApps.id, { onDelete: 'cascade' }),
    userId: uuidColumn('user_id')
      .notNull()
      .references(() => users.id),
    /** As it was asked with, character by character. */
    redirectUri: textColumn('redirect_uri').notNull(),
    challenge: textColumn('challenge').notNull(),
    /** What the user consented to; null: the app was not restricted. */
    scopes: textColumn('scopes').array(),
    acr: textColumn('acr', { enum: ['aal1', 'aal2'] }).notNull(),
    amr: textColumn('amr').array().notNull(),
    /** When the user signed in, which is earlier than the exchange. */
    authenticatedAt: time('authenticated_at').notNull(),
    /** Null until it is used. */
    sessionId: uuidColumn('session_id').references(() => sessions.id, { onDelete: 'cascade' }),
    expiresAt: time('expires_at').notNull(),
    createdAt: time('created_at').notNull().defaultNow(),
  },
  (table) => [
    index('project_codes_app').on(table.appId),
    index('project_codes_user').on(table.userId),
    index('project_codes_session').on(table.sessionId),
    index('project_codes_expiry').on(table.expiresAt),
  ],
);
