import { asc, eq } from 'drizzle-orm';
import { Notification, NotificationPreference, notifications } from '../notifications/notification.ts';
import { preferencesOf } from '../notifications/preferences.ts';
import { list } from './section.ts';

/** What he was told, and what he wants to be told. They are kept for 90 days, so they are few. */
export const told = list(Notification.schema, ({ tx, userId }) =>
  tx
    .select()
    .from(notifications)
    .where(eq(notifications.userId, userId))
    .orderBy(asc(notifications.createdAt), asc(notifications.id)),
);

export const preferences = list(NotificationPreference.schema, ({ tx, userId }) => preferencesOf(tx, userId));
