import { index, pgTable, text as textColumn, uuid as uuidColumn } from 'drizzle-orm/pg-core';
import { time, userColumn } from '../columns.ts';
import { openidScopes } from '../apps/openid-scope.ts';
import { sessions } from '../sign-in/session.ts';
import { projectApps } from '../apps/project-app.ts';

/**
 * Authorization codes of project apps (RFC 6749 §4.1), bound to the app, the redirect URI, the challenge and the user.
 * A used code stays as long as its session, so that a second use can end the session.
 */
export const projectCodes = pgTable(
  'project_codes',
  {
    hash: textColumn('hash').primaryKey(),
    appId: uuidColumn('app_id')
      .notNull()
      .references(() => projectApps.id, { onDelete: 'cascade' }),
    userId: userColumn(),
    /** Exactly as in the authorization request. */
    redirectUri: textColumn('redirect_uri').notNull(),
    challenge: textColumn('challenge').notNull(),
    /** The permissions that the user consented to; null if the app was not restricted. */
    scopes: textColumn('scopes').array(),
    /** The scopes of OpenID Connect that were granted; they are not permissions. */
    openidScopes: textColumn('openid_scopes', { enum: openidScopes }).array().notNull().default([]),
    /** Resource servers that the request named (RFC 8707). If it named none, the exchange may name some. */
    resources: textColumn('resources').array().notNull().default([]),
    /** Repeated in the id_token, which ties it to one authorization request. */
    nonce: textColumn('nonce'),
    /** The organization for which the user signed in; null for none. */
    organizationId: uuidColumn('organization_id'),
    acr: textColumn('acr', { enum: ['aal1', 'aal2'] }).notNull(),
    amr: textColumn('amr').array().notNull(),
    /** The browser sign-in from which the code comes; null: a version without browser sign-ins wrote the row. */
    ssoSessionId: uuidColumn('sso_session_id'),
    /** When the user signed in, which is before the exchange. */
    authenticatedAt: time('authenticated_at').notNull(),
    /** Null until the code is used. */
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
