import { sql } from 'drizzle-orm';
import { index, integer, pgTable, text as textColumn, uuid as uuidColumn } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { time, userColumn } from '../columns.ts';
import { entity, serverSet } from '../../kernel/entity.ts';
import { iso, uuid } from '../../kernel/input/values.ts';
import { openidScopes } from '../apps/openid-scope.ts';
import { projectApps } from '../apps/project-app.ts';

/**
 * A signed-in browser, command line or app, and the chain of its refresh tokens. The row contains only the hashes of
 * the current token and its predecessor. The authentication tags of older tokens prove that the service issued them.
 */
export const sessions = pgTable(
  'sessions',
  {
    id: uuidColumn('id').primaryKey(),
    userId: userColumn(),
    kind: textColumn('kind', { enum: ['browser', 'cli', 'projectApp', 'impersonation'] }).notNull(),
    /** The operator who impersonates the user, and the operator's own session, with which this session ends. */
    impersonatorId: uuidColumn('impersonator_id'),
    impersonatorSessionId: uuidColumn('impersonator_session_id'),
    impersonationReason: textColumn('impersonation_reason'),
    /** Organizations whose owners were notified that this session entered by impersonation or bypassed the provider. */
    enteredOrganizations: uuidColumn('entered_organizations').array(),
    projectAppId: uuidColumn('project_app_id').references(() => projectApps.id, { onDelete: 'cascade' }),
    /** For a browser sign-in (`sign-in/sso`): the project to whose apps the browser is signed in. Otherwise null. */
    ssoProjectId: uuidColumn('sso_project_id'),
    /**
     * For a browser sign-in: the issuer of the provider that the user used, or `connection <id>` for the provider of an
     * organization. Null: GitHub, or no provider.
     */
    ssoIssuer: textColumn('sso_issuer'),
    /** For the session of an app: the browser sign-in that it began in, and ends with. */
    ssoSessionId: uuidColumn('sso_session_id'),
    /** For a browser sign-in: when the user last entered the second factor. */
    factorAt: time('factor_at'),
    /**
     * For the session of an app: the organization for which the user signed in, or null. For any other session: the
     * organization whose provider vouched for the user and to which the session is bound, or null.
     */
    organizationId: uuidColumn('organization_id'),
    /** The scopes that the user consented to; null if the app was unrestricted at that time. */
    consentedScopes: textColumn('consented_scopes').array(),
    /** The scopes of OpenID Connect that were granted; they are not permissions. */
    openidScopes: textColumn('openid_scopes', { enum: openidScopes }).array().notNull().default([]),
    /** Resource servers that tokens of this session name as audience, besides this service (RFC 8707). */
    resources: textColumn('resources').array().notNull().default([]),
    acr: textColumn('acr', { enum: ['aal1', 'aal2'] })
      .notNull()
      .default('aal1'),
    /** How the user signed in: `pwd`, `mail`, `fed`, `pop`, `otp`, `rc`, `mfa` (in the style of RFC 8176). */
    amr: textColumn('amr').array().notNull(),
    ipAddress: textColumn('ip_address'),
    userAgent: textColumn('user_agent'),
    authenticatedAt: time('authenticated_at').notNull(),
    lastUsedAt: time('last_used_at').notNull(),
    expiresAt: time('expires_at').notNull(),
    endedAt: time('ended_at'),
    createdAt: time('created_at').notNull().defaultNow(),
    generation: integer('generation').notNull().default(0),
    refreshHash: textColumn('refresh_hash').notNull(),
    previousHash: textColumn('previous_hash'),
    rotatedAt: time('rotated_at'),
  },
  (table) => [
    index('sessions_user').on(table.userId),
    index('sessions_app').on(table.projectAppId),
    index('sessions_sso')
      .on(table.ssoSessionId)
      .where(sql`sso_session_id is not null`),
    index('sessions_organization')
      .on(table.organizationId, table.userId)
      .where(sql`organization_id is not null`),
    index('sessions_impersonator')
      .on(table.impersonatorId)
      .where(sql`impersonator_id is not null`),
    index('sessions_expires').on(table.expiresAt),
    index('sessions_ended')
      .on(table.endedAt)
      .where(sql`ended_at is not null`),
  ],
);

export type SessionRow = typeof sessions.$inferSelect;

export const SessionKind = z.enum(['browser', 'cli', 'projectApp', 'impersonation']).meta({
  id: 'SessionKind',
  description: 'What is signed in; impersonation: an operator of the installation acts for the user.',
});

/** A session as its user sees it. `isCurrent` depends on the caller, so it has no column. */
export const Session = entity('Session', {
  table: sessions,
  doc: 'A signed-in browser, command line or app.',
  without: ['updatedAt', 'deletedAt'],
  fields: {
    kind: serverSet(SessionKind.describe('What is signed in.')),
    projectAppId: serverSet(uuid.nullable().describe('Id of the app, for sessions of apps.')),
    ssoProjectId: serverSet(
      uuid
        .nullable()
        .describe('Id of the project to whose apps the browser is signed in; null: any other session.'),
    ),
    ssoSessionId: serverSet(
      uuid.nullable().describe('For an app: id of the session of the browser with which its session ends.'),
    ),
    organizationId: serverSet(
      uuid
        .nullable()
        .describe(
          'For an app: id of the organization for which you signed in. Else: id of the organization through whose provider you signed in, and which alone the session reaches. Null: none.',
        ),
    ),
    acr: serverSet(
      z
        .enum(['aal1', 'aal2'])
        .meta({ id: 'SessionAcr', description: 'aal1: the user gave one factor; aal2: two.' })
        .describe('How many factors the user gave.'),
    ),
    ipAddress: serverSet(
      z
        .string()
        .nullable()
        .describe('The IP address that opened the session. For an app: the one that exchanged the code.'),
    ),
    userAgent: serverSet(z.string().nullable().describe('The browser or program.')),
    isCurrent: serverSet(z.boolean().describe('Whether this call is made in this session.')),
    authenticatedAt: serverSet(iso.describe('When the user last signed in.')),
    lastUsedAt: serverSet(iso.describe('When the tokens were last renewed.')),
    expiresAt: serverSet(iso.describe('When the session ends unless its tokens are renewed.')),
  },
  sort: ['lastUsedAt', 'createdAt'],
  order: 'DESC',
});
