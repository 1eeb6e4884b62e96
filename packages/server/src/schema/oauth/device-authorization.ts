import { index, integer, pgTable, text as textColumn, unique, uuid as uuidColumn } from 'drizzle-orm/pg-core';
import { optionalUserColumn, time } from '../columns.ts';
import { projectApps } from '../apps/project-app.ts';
import { openidScopes } from '../apps/openid-scope.ts';

/**
 * Devices without a browser that wait for their user (RFC 8628), for an app or for a command line of this service. The
 * device keeps the device code; the user types the user code in a browser, signs in and decides. The row is deleted
 * when the device gets its tokens, or after ten minutes.
 */
export const deviceAuthorizations = pgTable(
  'device_authorizations',
  {
    /** Hash of the device code. */
    hash: textColumn('hash').primaryKey(),
    userCodeHash: textColumn('user_code_hash').notNull(),
    /** Null for a command line, which gets a session of this service. */
    appId: uuidColumn('app_id').references(() => projectApps.id, { onDelete: 'cascade' }),
    /** The permissions that the app requests; null for all that it may request. */
    scopes: textColumn('scopes').array(),
    openidScopes: textColumn('openid_scopes', { enum: openidScopes }).array().notNull().default([]),
    /** The organization that the device names, by id or slug; null if the user chooses. */
    organization: textColumn('organization'),
    /** Where the request of the device came from. The page shows this to the user. */
    ipAddress: textColumn('ip_address'),
    userAgent: textColumn('user_agent'),
    intervalSeconds: integer('interval_seconds').notNull(),
    /** When the device last polled for tokens. */
    polledAt: time('polled_at'),
    /** Null until the user decides. */
    decision: textColumn('decision', { enum: ['approved', 'denied'] }),
    /** The user who approved, and how they signed in. */
    userId: optionalUserColumn(),
    /** The organization for which the user approved; null: none. */
    organizationId: uuidColumn('organization_id'),
    /** The organization whose provider vouched for the user; null: the user signed in with a method of their own. */
    boundTo: uuidColumn('bound_to'),
    /** The permissions that the user consented to; null if the app was not restricted. */
    consentedScopes: textColumn('consented_scopes').array(),
    acr: textColumn('acr', { enum: ['aal1', 'aal2'] }),
    amr: textColumn('amr').array(),
    authenticatedAt: time('authenticated_at'),
    expiresAt: time('expires_at').notNull(),
    createdAt: time('created_at').notNull().defaultNow(),
  },
  (table) => [
    unique('device_authorizations_user_code').on(table.userCodeHash),
    index('device_authorizations_app').on(table.appId),
    index('device_authorizations_user').on(table.userId),
    index('device_authorizations_expiry').on(table.expiresAt),
  ],
);
