import { index, integer, pgTable, text as textColumn, uuid as uuidColumn } from 'drizzle-orm/pg-core';
import { time } from '../../db/columns.ts';
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
    projectAppId: uuidColumn('project_app_id'),
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
  (table) => [index('sessions_user').on(table.userId)],
);
