import { asc, eq } from 'drizzle-orm';
import { Notification, NotificationPreference, notifications } from '../../schema/people/notification.ts';
import { preferencesOf } from '../notifications/preferences.ts';
import { list } from './section.ts';

/** The notifications that the user received. They are kept for 90 days, so they are few. */
export const receivedNotifications = list(Notification.schema, ({ tx, userId }) =>
  tx
    .select()
    .from(notifications)
    .where(eq(notifications.userId, userId))
    .orderBy(asc(notifications.createdAt), asc(notifications.id)),
);

export const preferences = list(NotificationPreference.schema, ({ tx, userId }) => preferencesOf(tx, userId));
