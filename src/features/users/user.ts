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
import { deletedIndex, links, rowColumns, time } from '../../db/columns.ts';
import { nodes } from '../../db/nodes.ts';
import { entity, given, optional, serverSet, type Reading } from '../../kernel/entity.ts';
import { metadata, text, url, uuid } from '../../values.ts';
import { organizationMembers, projectUserRoles, projectUsers } from '../memberships/membership.ts';
import { Role } from '../roles/role.ts';
import { taggedBy, tagIds, tags } from '../tags/tag.ts';

/** A person or managed user, known to the whole installation. What a tenant says of him stands in memberships. */
export const users = pgTable(
  'users',
  {
    ...rowColumns(),
    name: textColumn('name').notNull(),
    /** Canonical address of the primary verified sign-in method, else of the primary one. */
    email: textColumn('email'),
    emailVerified: boolean('email_verified').notNull().default(false),
    pictureUrl: textColumn('picture_url'),
    locale: textColumn('locale', { enum: ['en', 'de', 'es', 'fr'] }),
    status: textColumn('status', { enum: ['active', 'disabled'] })
      .notNull()
      .default('active'),
    isManaged: boolean('is_managed').notNull().default(false),
    /** The tenant that created a managed user, and alone may change who he is; null for everybody else. */
    managedBy: uuidColumn('managed_by').references(() => nodes.id),
    /** Until then an unverified address is tolerated; null for managed users. */
    verificationDeadline: time('verification_deadline'),
    /** From when on a deleted user is purged, if not after the retention. */
    purgeAt: time('purge_at'),
  },
  (table) => [deletedIndex('users', table), index('users_email').on(table.email)],
);

/** Tags of a user belong to the scope that put them on him. */
export const userTags = links(
  'user_tags',
  { column: 'user_id', table: () => users, anyTenant: true },
  { column: 'tag_id', table: () => tags },
);

export const UserStatus = z
  .enum(['active', 'disabled'])
  .meta({ id: 'UserStatus', description: 'Whether a user may sign in and act.' });

export const Locale = z
  .enum(['en', 'de', 'es', 'fr'])
  .meta({ id: 'UserLocale', description: 'Language of mails and notifications.' });

/** What the scope says of a user: organization values, and in a project its own over them (model §3). */
const membershipMetadata = ({ scope }: Reading): SQL => {
  const of = (
    table: PgTable & { metadata: PgColumn; tenantId: PgColumn; userId: PgColumn },
    nodeId: string | null,
  ) =>
    sql`coalesce((select ${table.metadata} from ${table} where ${table.tenantId} = ${nodeId}::uuid and ${table.userId} = ${users.id}), '{}'::jsonb)`;
  return sql`(${of(organizationMembers, scope.organizationId)} || ${of(projectUsers, scope.projectId)})`;
};

/** A user as answers show him; `metadata` is that of his membership in the scope of the call. */
export const User = entity('User', {
  table: users,
  doc: 'A person or a managed user.',
  fields: {
    name: given(text(1, 255).meta({ description: 'What people call them.', examples: ['Grace Hopper'] })),
    email: serverSet(z.string().nullable().describe('The primary verified address; null for managed users.')),
    emailVerified: serverSet(z.boolean().describe('Whether the user has proved that the address is theirs.')),
    pictureUrl: optional(url.nullable().describe('Where their picture is; null without one.'), null),
    locale: serverSet(Locale.nullable().describe('Language of their mails; null: that of the browser.')),
    status: serverSet(UserStatus.describe('Whether they may sign in and act.')),
    isManaged: serverSet(
      z.boolean().describe('true: a tenant created them, and they cannot sign in by themselves.'),
    ),
    metadata: optional(metadata.describe('JSON that the scope of the call keeps about the user.'), {}),
    tagIds,
  },
  computed: { metadata: membershipMetadata },
  // An organization sees its members, a project who takes part in it.
  within: (scope) =>
    inArray(
      users.id,
      scope.level === 'organization'
        ? sql`(select ${organizationMembers.userId} from ${organizationMembers} where ${organizationMembers.tenantId} = ${scope.nodeId})`
        : sql`(select ${projectUsers.userId} from ${projectUsers} where ${projectUsers.tenantId} = ${scope.nodeId})`,
    ),
  relations: {
    roles: {
      kind: 'links',
      to: () => Role,
      // Both tables name their columns alike.
      table: ({ level }) => (level === 'organization' ? organizationMembers : projectUserRoles),
      from: 'userId',
      target: 'roleId',
      targetTenant: 'roleTenantId',
    },
    tags: taggedBy(() => userTags),
  },
  search: ['name', 'email'],
  sort: ['createdAt', 'name', 'email', 'updatedAt'],
});

/** The part of a user that goes with a sign-in. */
export const SignedInUser = z
  .object({
    id: uuid.describe('Id of the user.'),
    name: z.string().describe('What people call them.'),
    email: z.string().nullable().describe('Their primary address; null without one.'),
    pictureUrl: z.string().nullable().describe('Where their picture is; null without one.'),
    locale: Locale.nullable().describe('Language of their mails; null: that of the browser.'),
  })
  .meta({ id: 'SignedInUser', description: 'Who has signed in.' });
