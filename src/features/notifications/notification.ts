import {
  boolean,
  index,
  jsonb,
  pgTable,
  primaryKey,
  text as textColumn,
  uuid as uuidColumn,
} from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { time } from '../../db/columns.ts';
import { entity, serverSet } from '../../kernel/entity.ts';
import { ScopeOutput, type ScopeRef } from '../../kernel/scope.ts';
import { iso, uuid } from '../../values.ts';
import { users } from '../users/user.ts';

/** What users are told of, by which channels unless they choose otherwise (events §6). */
export const channels = ['inApp', 'email'] as const;
export type Channel = (typeof channels)[number];

interface Kind extends Readonly<Record<Channel, boolean>> {
  /** Channels that cannot be switched off. */
  readonly locked: readonly Channel[];
  /** Told to whoever did it too, since it may not have been he. */
  readonly security?: true;
  /** The mail is sent by the act itself, which knows the address; a notification must not be a second one. */
  readonly mailedByAct?: true;
}

const open = { locked: [] } as const;
const security = { inApp: true, email: true, security: true, locked: channels } as const;

export const kinds = {
  invitation_received: { inApp: true, email: true, locked: ['email'], mailedByAct: true },
  member_joined: { inApp: true, email: false, ...open },
  role_changed: { inApp: true, email: true, ...open },
  removed_from_organization: { inApp: true, email: true, ...open },
  api_key_expiring: { inApp: true, email: true, ...open },
  api_key_created: { inApp: true, email: false, ...open },
  webhook_failing: { inApp: true, email: true, ...open },
  webhook_disabled: { inApp: true, email: true, ...open },
  new_sign_in: { inApp: true, email: true, locked: ['inApp'], security: true },
  password_changed: { ...security, mailedByAct: true },
  mfa_changed: security,
  session_reuse: security,
  sign_in_methods_changed: { ...security, mailedByAct: true },
} as const satisfies Record<string, Kind>;

export type NotificationType = keyof typeof kinds;
export const notificationTypes = Object.keys(kinds) as [NotificationType, ...NotificationType[]];

/** The same with all members that a kind may have. */
export const kindOf = (type: NotificationType): Kind => kinds[type];

const userColumn = () =>
  uuidColumn('user_id')
    .notNull()
    .references(() => users.id);

export const notifications = pgTable(
  'notifications',
  {
    id: uuidColumn('id').primaryKey(),
    userId: userColumn(),
    type: textColumn('type', { enum: notificationTypes }).notNull(),
    title: textColumn('title').notNull(),
    body: textColumn('body'),
    target: jsonb('target').$type<z.output<typeof Target>>(),
    scope: jsonb('scope').$type<ScopeRef>(),
    eventId: textColumn('event_id'),
    readAt: time('read_at'),
    createdAt: time('created_at').notNull(),
    /** Another user whose name stands in the text: the purge of a person takes what names him, too. */
    namedUserId: uuidColumn('named_user_id').references(() => users.id),
  },
  (table) => [
    index('notifications_user').on(table.userId, table.createdAt, table.id),
    index('notifications_named_user').on(table.namedUserId),
    index('notifications_created').on(table.createdAt),
  ],
);

/** What a user chose; without a row the default holds. */
export const notificationPreferences = pgTable(
  'notification_preferences',
  {
    userId: userColumn(),
    type: textColumn('type', { enum: notificationTypes }).notNull(),
    channel: textColumn('channel', { enum: channels }).notNull(),
    enabled: boolean('enabled').notNull(),
    updatedAt: time('updated_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.type, table.channel] })],
);

export const NotificationTypeName = z
  .enum(notificationTypes)
  .meta({ id: 'NotificationType', description: 'What a notification tells.' });
export const NotificationChannel = z
  .enum(channels)
  .meta({ id: 'NotificationChannel', description: 'How notifications reach a user.' });

const Target = z
  .object({ type: z.string().describe('Its noun, e.g. `Organization`.'), id: uuid.describe('Its id.') })
  .meta({ id: 'NotificationTarget', description: 'What a notification is about.' });

/** Rendered when it was written, in the language of its reader: what it says stays true of that moment. */
export const Notification = entity('Notification', {
  table: notifications,
  doc: 'Something that happened and that its reader should know.',
  without: ['updatedAt', 'deletedAt'],
  fields: {
    type: serverSet(NotificationTypeName.describe('What it tells.')),
    title: serverSet(z.string().describe('What happened, in one line.')),
    body: serverSet(z.string().nullable().describe('More about it; null if the title says it all.')),
    target: serverSet(Target.nullable().describe('What it is about.')),
    scope: serverSet(ScopeOutput.nullable().describe('Where it happened; null: in no scope.')),
    eventId: serverSet(z.string().nullable().describe('The event that it tells of.')),
    readAt: serverSet(iso.nullable().describe('When it was marked as read; null before.')),
  },
  order: 'DESC',
});

/** Identified by type and channel. `locked` is a matter of the kind, so no column holds it. */
export const NotificationPreference = entity('NotificationPreference', {
  table: notificationPreferences,
  doc: 'Whether notifications of a type reach their user by a channel.',
  without: ['id', 'createdAt', 'updatedAt', 'deletedAt'],
  fields: {
    type: serverSet(NotificationTypeName.describe('What the notifications tell.')),
    channel: serverSet(NotificationChannel.describe('How they would come.')),
    enabled: serverSet(z.boolean().describe('Whether they come.')),
    locked: serverSet(z.boolean().meta({ description: 'Cannot be switched off.' })),
    updatedAt: serverSet(iso.nullable().meta({ description: 'Null: never chosen, the default holds.' })),
  },
});
