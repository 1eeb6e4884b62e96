import { and, eq, inArray, ne, sql } from 'drizzle-orm';
import { fail } from '../../errors.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import {
  channels,
  kindOf,
  notificationPreferences,
  notificationTypes,
  type Channel,
  type NotificationType,
} from '../../schema/people/notification.ts';

/** A stored preference, or the default of its type and channel. */
interface Preference {
  readonly type: NotificationType;
  readonly channel: Channel;
  readonly enabled: boolean;
  readonly locked: boolean;
  readonly updatedAt: Date | null;
}

type PreferenceRow = typeof notificationPreferences.$inferSelect;

function preferenceOf(type: NotificationType, channel: Channel, chosen?: PreferenceRow): Preference {
  const locked = kindOf(type).locked.includes(channel);
  return {
    type,
    channel,
    locked,
    // A stored preference is ignored if the channel has been locked since.
    enabled: locked || (chosen?.enabled ?? kindOf(type)[channel]),
    updatedAt: chosen?.updatedAt ?? null,
  };
}

const isOf = (
  chosen: Pick<PreferenceRow, 'type' | 'channel'>,
  type: NotificationType,
  channel: Channel,
): boolean => chosen.type === type && chosen.channel === channel;

/** Returns the user's preference for every type and channel, in the order of declaration. */
export async function preferencesOf(tx: Executor, userId: string): Promise<Preference[]> {
  const chosen = await tx
    .select()
    .from(notificationPreferences)
    .where(eq(notificationPreferences.userId, userId));
  return notificationTypes.flatMap((type) =>
    channels.map((channel) =>
      preferenceOf(
        type,
        channel,
        chosen.find((preference) => isOf(preference, type, channel)),
      ),
    ),
  );
}

/** Returns a function that tells which of these users get notifications of the type, by channel. */
export async function acceptingUsers(
  tx: Executor,
  type: NotificationType,
  userIds: readonly string[],
): Promise<(userId: string, channel: Channel) => boolean> {
  const chosen = await tx
    .select()
    .from(notificationPreferences)
    .where(
      and(inArray(notificationPreferences.userId, [...userIds]), eq(notificationPreferences.type, type)),
    );
  return (userId, channel) =>
    preferenceOf(
      type,
      channel,
      chosen.find((preference) => preference.userId === userId && isOf(preference, type, channel)),
    ).enabled;
}

interface Choice {
  readonly type: NotificationType;
  readonly channel: Channel;
  readonly enabled: boolean;
}

/**
 * Stores a preference. `changed` is false if the user had made the same choice before, or if the channel is locked and
 * therefore always on.
 * @throws VALIDATION_ERROR for switching off a locked channel
 */
export async function setPreference(
  tx: Executor,
  userId: string,
  { type, channel, enabled }: Choice,
  now: Date,
): Promise<{ readonly preference: Preference; readonly changed: boolean }> {
  if (kindOf(type).locked.includes(channel)) {
    if (enabled) return { preference: preferenceOf(type, channel), changed: false };
    throw fail('VALIDATION_ERROR', {
      details: [{ path: 'enabled', code: 'not_allowed' }],
      fix: `Notifications of type ${type} by ${channel} cannot be switched off.`,
    });
  }
  const table = notificationPreferences;
  const [changed] = await tx
    .insert(table)
    .values({ userId, type, channel, enabled, updatedAt: now })
    .onConflictDoUpdate({
      target: [table.userId, table.type, table.channel],
      set: { enabled, updatedAt: now },
      setWhere: ne(table.enabled, sql`excluded.enabled`),
    })
    .returning();
  if (changed) return { preference: preferenceOf(type, channel, changed), changed: true };
  const [stored] = await tx
    .select()
    .from(table)
    .where(and(eq(table.userId, userId), eq(table.type, type), eq(table.channel, channel)));
  return { preference: preferenceOf(type, channel, stored), changed: false };
}
