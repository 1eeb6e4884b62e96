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
import { optionalUserColumn, time, userColumn } from '../columns.ts';
import { entity, serverSet } from '../../kernel/entity.ts';
import { ScopeOutput, type ScopeRef } from '../../kernel/scope.ts';
import { iso, uuid } from '../../kernel/input/values.ts';

/** Channels of notifications. Users can change the defaults (events §6). */
export const channels = ['inApp', 'email'] as const;
export type Channel = (typeof channels)[number];

interface Kind extends Readonly<Record<Channel, boolean>> {
  /** Channels that the user cannot switch off. */
  readonly locked: readonly Channel[];
  /** Also sent to the user who acted, because an attacker may have acted as them. */
  readonly security?: true;
  /**
   * The operation itself queues the mail, because it knows the address. The notification must not cause a second mail.
   */
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
  project_grant_changed: { inApp: true, email: true, ...open },
  domain_lapsed: { inApp: true, email: true, ...open },
  connection_bypassed: security,
  webhook_failing: { inApp: true, email: true, ...open },
  webhook_disabled: { inApp: true, email: true, ...open },
  new_sign_in: { inApp: true, email: true, locked: ['inApp'], security: true },
  password_changed: { ...security, mailedByAct: true },
  mfa_changed: security,
  session_reuse: security,
  sign_in_methods_changed: { ...security, mailedByAct: true },
  operator_action: security,
  impersonated: security,
} as const satisfies Record<string, Kind>;

export type NotificationType = keyof typeof kinds;
export const notificationTypes = Object.keys(kinds) as [NotificationType, ...NotificationType[]];

/** The properties of a notification type, typed so that the optional members can be read. */
export const kindOf = (type: NotificationType): Kind => kinds[type];

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
    /** Another user who is named in the text. When that user is purged, the notification is deleted too. */
    namedUserId: optionalUserColumn('named_user_id'),
  },
  (table) => [
    index('notifications_user').on(table.userId, table.createdAt, table.id),
    index('notifications_named_user').on(table.namedUserId),
    index('notifications_created').on(table.createdAt),
  ],
);

/** Preferences of users. If there is no row, the default applies. */
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
  .meta({ id: 'NotificationType', description: 'What happened.' });
export const NotificationChannel = z
  .enum(channels)
  .meta({ id: 'NotificationChannel', description: 'How a notification reaches its user.' });

const Target = z
  .object({ type: z.string().describe('Its noun, e.g. `Organization`.'), id: uuid.describe('Its id.') })
  .meta({ id: 'NotificationTarget', description: 'What a notification is about.' });

/**
 * A notification. Its text is rendered when it is created, in the language of the reader, and describes that moment.
 */
export const Notification = entity('Notification', {
  table: notifications,
  doc: 'Something that happened and that its reader should know.',
  without: ['updatedAt', 'deletedAt'],
  fields: {
    type: serverSet(NotificationTypeName.describe('What happened.')),
    title: serverSet(z.string().describe('What happened, in one line.')),
    body: serverSet(z.string().nullable().describe('More about it; null if the title says it all.')),
    target: serverSet(Target.nullable().describe('What it is about.')),
    scope: serverSet(ScopeOutput.nullable().describe('Where it happened; null: in no scope.')),
    eventId: serverSet(z.string().nullable().describe('Id of the event that caused it.')),
    readAt: serverSet(iso.nullable().describe('When it was marked as read; null before.')),
  },
  order: 'DESC',
});

/** A preference, identified by type and channel. `locked` follows from the type, so no column stores it. */
export const NotificationPreference = entity('NotificationPreference', {
  table: notificationPreferences,
  doc: 'Whether notifications of a type reach their user by a channel.',
  without: ['id', 'createdAt', 'updatedAt', 'deletedAt'],
  fields: {
    type: serverSet(NotificationTypeName.describe('The type of the notifications.')),
    channel: serverSet(NotificationChannel.describe('The channel of the notifications.')),
    enabled: serverSet(z.boolean().describe('Whether the user gets them.')),
    locked: serverSet(z.boolean().meta({ description: 'Cannot be switched off.' })),
    updatedAt: serverSet(
      iso
        .nullable()
        .meta({ description: 'When the user last changed it; null: never, so the default applies.' }),
    ),
  },
});
