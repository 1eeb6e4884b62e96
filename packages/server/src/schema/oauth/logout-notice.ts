import { index, integer, pgTable, uuid as uuidColumn } from 'drizzle-orm/pg-core';
import { time } from '../columns.ts';
import { projectApps } from '../apps/project-app.ts';

/**
 * Ended sessions that an app must still be notified about (OpenID Connect Back-Channel Logout 1.0). A row is deleted
 * when the app has answered, or after the last attempt.
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
