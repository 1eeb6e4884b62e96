import { index, integer, pgTable, uuid as uuidColumn } from 'drizzle-orm/pg-core';
import { time } from '../columns.ts';
import { projectApps } from '../apps/project-app.ts';

/**
 * Ended sessions of which an app wants to know (OpenID Connect Back-Channel Logout 1.0). A row is removed when the app
 * answered, or after the last attempt.
 */
export const logoutNotices = pgTable(
  'logout_notices',
  {
    id: uuidColumn('id').primaryKey(),
    projectAppId: uuidColumn('project_app_id')
      .notNull()
      .references(() => projectApps.id, { onDelete: 'cascade' }),
    userId: uuidColumn('user_id').notNull(),
    sessionId: uuidColumn('session_id').notNull(),
    attempts: integer('attempts').notNull().default(0),
    nextAttemptAt: time('next_attempt_at').notNull(),
    createdAt: time('created_at').notNull(),
  },
  (table) => [
    index('logout_notices_due').on(table.nextAttemptAt),
    index('logout_notices_app').on(table.projectAppId),
  ],
);
