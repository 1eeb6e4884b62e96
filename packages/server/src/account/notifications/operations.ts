import { and, eq, isNull, sql } from 'drizzle-orm';
import { z } from 'zod';
import { pageOfOwn } from '../../db/query/page.ts';
import { fail } from '../../errors.ts';
import { callerOf } from '../../kernel/context.ts';
import { pageOf, paging } from '../../kernel/input/inputs.ts';
import { mutation, query } from '../../declare.ts';
import { uuid } from '../../kernel/input/values.ts';
import { nodeOfUser } from '../../people/user-node.ts';
import {
  Notification,
  NotificationChannel,
  NotificationPreference,
  notifications,
  NotificationTypeName,
} from '../../schema/people/notification.ts';
import { setPreference, preferencesOf } from './preferences.ts';

type Row = z.output<typeof Notification.schema>;

const unreadOf = (userId: string) => and(eq(notifications.userId, userId), isNull(notifications.readAt));

export const myNotifications = query({
  rest: 'GET /me/notifications',
  summary: 'List your notifications of the last 90 days',
  access: 'session',
  input: {
    ...paging(Notification),
    unreadOnly: z.boolean().default(false).describe('true: only unread notifications.'),
  },
  output: z
    .object({
      ...pageOf(Notification).shape,
      unreadCount: z.int().meta({ description: 'How many of all your notifications are unread.' }),
    })
    .meta({ id: 'NotificationPage', description: 'A page of Notification.' }),
  run: async (ctx) => {
    const { tx, services, input } = ctx;
    const { userId } = callerOf(ctx);
    const page = await pageOfOwn(tx, services.cursors, {
      entity: Notification,
      list: 'myNotifications',
      input,
      userId,
      filters: [input.unreadOnly ? isNull(notifications.readAt) : undefined],
    });
    const [unread] = await tx
      .select({ count: sql<number>`count(*)::int` })
      .from(notifications)
      .where(unreadOf(userId));
    return { ...page, items: page.items as Row[], unreadCount: unread?.count ?? 0 };
  },
});

export const markMyNotificationRead = mutation({
  rest: 'POST /me/notifications/:id/read',
  whileImpersonating: 'refused',
  summary: 'Mark one of your notifications as read',
  access: 'session',
  permissionChange: 'none',
  input: { id: uuid },
  output: Notification.schema,
  run: async (ctx) => {
    const { tx, services, input } = ctx;
    const { userId } = callerOf(ctx);
    const own = and(eq(notifications.id, input.id), eq(notifications.userId, userId));
    const [updated] = await tx
      .update(notifications)
      .set({ readAt: services.clock.now() })
      .where(and(own, isNull(notifications.readAt)))
      .returning();
    if (updated) {
      const target = { type: 'Notification', id: updated.id };
      ctx.record({ target, node: await nodeOfUser(tx, userId) });
      return updated;
    }
    const [alreadyRead] = await tx.select().from(notifications).where(own);
    if (!alreadyRead) throw fail('NOT_FOUND');
    ctx.unchanged();
    return alreadyRead;
  },
});

export const markAllMyNotificationsRead = mutation({
  rest: 'POST /me/notifications/read-all',
  whileImpersonating: 'refused',
  summary: 'Mark all of your notifications as read',
  access: 'session',
  permissionChange: 'none',
  input: {},
  output: z
    .object({ updated: z.int().meta({ description: 'How many were unread.' }) })
    .meta({ id: 'UpdatedCount', description: 'How many rows changed.' }),
  run: async (ctx) => {
    const { tx, services } = ctx;
    const { userId } = callerOf(ctx);
    const read = await tx
      .update(notifications)
      .set({ readAt: services.clock.now() })
      .where(unreadOf(userId))
      .returning({ id: notifications.id });
    const updated = read.length;
    if (updated === 0) ctx.unchanged();
    else ctx.record({ target: null, node: await nodeOfUser(tx, userId), metadata: { updated } });
    return { updated };
  },
});

export const myNotificationPreferences = query({
  rest: 'GET /me/notification-preferences',
  summary: 'List which notifications you get, and through which channels',
  description: 'Every type with every channel, including defaults.',
  access: 'session',
  input: {},
  output: pageOf(NotificationPreference),
  run: async (ctx) => {
    const items = await preferencesOf(ctx.tx, callerOf(ctx).userId);
    return { items, totalCount: items.length, hasNextPage: false, nextCursor: null };
  },
});

export const setMyNotificationPreference = mutation({
  rest: 'PUT /me/notification-preferences',
  whileImpersonating: 'refused',
  summary: 'Choose whether you get a type of notification through a channel',
  access: 'session',
  permissionChange: 'none',
  input: {
    type: NotificationTypeName,
    channel: NotificationChannel,
    enabled: z.boolean().describe('Whether you get such notifications through this channel.'),
  },
  output: NotificationPreference.schema,
  run: async (ctx) => {
    const { tx, services, input } = ctx;
    const { userId } = callerOf(ctx);
    const { preference, changed } = await setPreference(tx, userId, input, services.clock.now());
    if (changed) {
      const target = { type: 'User', id: userId };
      ctx.record({ target, node: await nodeOfUser(tx, userId), metadata: { ...input } });
    } else ctx.unchanged();
    return preference;
  },
});
