import { inArray, sql, type SQL } from 'drizzle-orm';
import {
  boolean,
  index,
  pgTable,
  text as textColumn,
  uuid as uuidColumn,
  type PgColumn,
  type PgTable,
} from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { deletedIndex, links, rowColumns, time } from '../columns.ts';
import { nodes } from '../nodes.ts';
import { entity, required, optional, serverSet, type ReadContext } from '../../kernel/entity.ts';
import { iso, metadata, text, url, uuid } from '../../kernel/input/values.ts';
import { usersNodeOf } from '../../kernel/scope.ts';
import {
  accountServiceUsers,
  membershipTableOf,
  organizationMembers,
  projectUserRoles,
  projectUsers,
} from '../rights/membership.ts';
import { Role } from '../rights/role.ts';
import { taggedBy, tagIds, tags } from '../rights/tag.ts';
import { languages } from '../../languages.ts';

/** Users of the whole installation. What a tenant stores about a user is in the user's membership. */
export const users = pgTable(
  'users',
  {
    ...rowColumns(),
    name: textColumn('name').notNull(),
    /** Canonical address of the primary verified sign-in method, or of the primary one if none is verified. */
    email: textColumn('email'),
    emailVerified: boolean('email_verified').notNull().default(false),
    pictureUrl: textColumn('picture_url'),
    locale: textColumn('locale', { enum: languages }),
    /** `suspended` is set by an operator of the installation, and no tenant can change it. */
    status: textColumn('status', { enum: ['active', 'disabled', 'suspended'] })
      .notNull()
      .default('active'),
    suspendedAt: time('suspended_at'),
    /** The status to restore when a suspension ends; null if the user is not suspended. */
    statusBefore: textColumn('status_before', { enum: ['active', 'disabled'] }),
    isManaged: boolean('is_managed').notNull().default(false),
    /** Fixed at creation. A service user is managed and never has an address, sign-in method or session. */
    kind: textColumn('kind', { enum: ['person', 'service'] })
      .notNull()
      .default('person'),
    /** The tenant that created a managed user; only this tenant may change the profile. Null for other users. */
    managedBy: uuidColumn('managed_by').references(() => nodes.id),
    /** The user may act without a verified address until this time; null for managed users. */
    verificationDeadline: time('verification_deadline'),
    /** When a deleted user is purged; null: at the end of the retention. */
    purgeAt: time('purge_at'),
  },
  (table) => [
    deletedIndex('users', table),
    index('users_email').on(table.email),
    // For operators, who list and search all users.
    index('users_created').on(table.createdAt, table.id),
    index('users_domain').on(sql`split_part(${table.email}, '@', 2)`),
    index('users_words').using('gin', sql`to_tsvector('simple', ${table.name})`),
  ],
);

export type UserRow = typeof users.$inferSelect;

/** Tags of a user. They belong to the scope that assigned them. */
export const userTags = links(
  'user_tags',
  { column: 'user_id', table: () => users, anyTenant: true },
  { column: 'tag_id', table: () => tags },
);

export const UserStatus = z.enum(['active', 'disabled', 'suspended']).meta({
  id: 'UserStatus',
  description: 'Whether a user may sign in and act; suspended: by an operator of the installation.',
});

/** The statuses that a tenant can set: it can neither suspend a user nor end a suspension. */
export const ChangeableStatus = z
  .enum(['active', 'disabled'])
  .meta({ id: 'ChangeableUserStatus', description: 'Whether a managed user may act.' });

export const UserKind = z
  .enum(['person', 'service'])
  .meta({ id: 'UserKind', description: 'Whether the user is a person or a machine.' });

export const Locale = z
  .enum(languages)
  .meta({ id: 'UserLocale', description: 'Language of mails and notifications.' });

/** The metadata of a user in a scope: that of the organization or account, overridden by the project's (model §3). */
const membershipMetadata = ({ scope }: ReadContext): SQL => {
  const metadataIn = (
    table: PgTable & { metadata: PgColumn; tenantId: PgColumn; userId: PgColumn },
    nodeId: string | null,
  ) =>
    sql`coalesce((select ${table.metadata} from ${table} where ${table.tenantId} = ${nodeId}::uuid and ${table.userId} = ${users.id}), '{}'::jsonb)`;
  const ofOwner =
    scope.organizationId === null
      ? metadataIn(accountServiceUsers, scope.accountId)
      : metadataIn(organizationMembers, scope.organizationId);
  return sql`(${ofOwner} || ${metadataIn(projectUsers, usersNodeOf(scope))})`;
};

/** A user in responses; `metadata` is that of their membership in the scope of the call. */
export const User = entity('User', {
  table: users,
  doc: 'A person or a managed user.',
  fields: {
    name: required(text(1, 255).meta({ description: 'Their name.', examples: ['Grace Hopper'] })),
    email: serverSet(z.string().nullable().describe('The primary verified address; null for managed users.')),
    emailVerified: serverSet(z.boolean().describe('Whether the user has verified the address.')),
    pictureUrl: optional(url.nullable().describe('Address of their picture; null without one.'), null),
    locale: serverSet(Locale.nullable().describe('Language of their mails; null: that of the browser.')),
    status: serverSet(UserStatus.describe('Whether they may sign in and act.')),
    suspendedAt: serverSet(
      iso.nullable().meta({ description: 'When an operator suspended them; null unless suspended.' }),
    ),
    kind: serverSet(UserKind.describe('A person, or a service user: a machine that acts by API keys only.')),
    isManaged: serverSet(
      z.boolean().describe('true: a tenant created them, and they cannot sign in by themselves.'),
    ),
    metadata: optional(metadata.describe('JSON that the scope of the call keeps about the user.'), {}),
    tagIds,
  },
  computed: { metadata: membershipMetadata },
  // An organization contains its members, an account its service users, and a project its users.
  within: ({ level, nodeId }) => {
    const table = membershipTableOf(level);
    return inArray(users.id, sql`(select ${table.userId} from ${table} where ${table.tenantId} = ${nodeId})`);
  },
  relations: {
    roles: {
      kind: 'links',
      to: () => Role,
      // The tables have the same column names.
      table: ({ level }) => (level === 'project' ? projectUserRoles : membershipTableOf(level)),
      from: 'userId',
      target: 'roleId',
      targetTenant: 'roleTenantId',
    },
    tags: taggedBy(() => userTags),
  },
  search: ['name', 'email'],
  sort: ['createdAt', 'name', 'email', 'updatedAt'],
});

/** The user in the response of a sign-in. */
export const SignedInUser = z
  .object({
    id: uuid.describe('Id of the user.'),
    name: z.string().describe('Their name.'),
    email: z.string().nullable().describe('Their primary address; null without one.'),
    pictureUrl: z.string().nullable().describe('Address of their picture; null without one.'),
    locale: Locale.nullable().describe('Language of their mails; null: that of the browser.'),
  })
  .meta({ id: 'SignedInUser', description: 'The user who signed in.' });
