import { sql } from 'drizzle-orm';
import { index, integer, pgTable, text as textColumn, uuid as uuidColumn } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { time } from '../../db/columns.ts';
import { entity, serverSet } from '../../kernel/entity.ts';
import { iso, uuid } from '../../values.ts';
import { projectApps } from '../project-apps/project-app.ts';
import { users } from '../users/user.ts';

/**
 * A signed-in browser, command line or app: also the family of its refresh tokens. Of those, only the hashes of
 * the current one and the one before are kept; any older one is recognised by its own authentication tag.
 */
export const sessions = pgTable(
  'sessions',
  {
    id: uuidColumn('id').primaryKey(),
    userId: uuidColumn('user_id')
      .notNull()
      .references(() => users.id),
    kind: textColumn('kind', { enum: ['browser', 'cli', 'projectApp'] }).notNull(),
    projectAppId: uuidColumn('project_app_id').references(() => projectApps.id, { onDelete: 'cascade' }),
    /** What its user consented to for the app; null: not restricted when he did. */
    consentedScopes: textColumn('consented_scopes').array(),
    acr: textColumn('acr', { enum: ['aal1', 'aal2'] })
      .notNull()
      .default('aal1'),
    /** How the user signed in: `pwd`, `otp`, `rc`, `fed` (RFC 8176 style). */
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
    index('sessions_expires').on(table.expiresAt),
    index('sessions_ended')
      .on(table.endedAt)
      .where(sql`ended_at is not null`),
  ],
);

export const SessionKind = z
  .enum(['browser', 'cli', 'projectApp'])
  .meta({ id: 'SessionKind', description: 'What is signed in.' });

/** A session as its user sees it. `isCurrent` is a matter of who asks, so no column holds it. */
export const Session = entity('Session', {
  table: sessions,
  doc: 'A signed-in browser, command line or app.',
  without: ['updatedAt', 'deletedAt'],
  fields: {
    kind: serverSet(SessionKind.describe('What is signed in.')),
    projectAppId: serverSet(uuid.nullable().describe('Id of the app, for sessions of apps.')),
    acr: serverSet(
      z
        .enum(['aal1', 'aal2'])
        .meta({ id: 'SessionAcr', description: 'aal1: one factor was given; aal2: two.' })
        .describe('How many factors were given.'),
    ),
    ipAddress: serverSet(z.string().nullable().describe('The address from which it was last used.')),
    userAgent: serverSet(z.string().nullable().describe('The browser or program.')),
    isCurrent: serverSet(z.boolean().describe('Whether this call belongs to it.')),
    authenticatedAt: serverSet(iso.describe('When the user last signed in.')),
    lastUsedAt: serverSet(iso.describe('When its tokens were last renewed.')),
    expiresAt: serverSet(iso.describe('When it ends unless it is used.')),
  },
  sort: ['lastUsedAt', 'createdAt'],
  order: 'DESC',
});
