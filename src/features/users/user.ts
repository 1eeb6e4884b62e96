import {
  boolean,
  index,
  pgTable,
  primaryKey,
  text as textColumn,
  uuid as uuidColumn,
} from 'drizzle-orm/pg-core';
import { sql } from 'drizzle-orm';
import { foreignKey } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { metadataColumn, rowColumns, time } from '../../db/columns.ts';
import { nodes } from '../../db/nodes.ts';
import { entity, given, serverSet } from '../../kernel/entity.ts';
import { metadata, text, uuid } from '../../kernel/values.ts';
import { roles } from '../roles/role.ts';

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
    /** Until then an unverified address is tolerated; null for managed users. */
    verificationDeadline: time('verification_deadline'),
  },
  (table) => [index('users_email').on(table.email)],
);

/** Who takes part in a project, and what the project says of him. */
export const projectUsers = pgTable(
  'project_users',
  {
    tenantId: uuidColumn('tenant_id')
      .notNull()
      .references(() => nodes.id),
    userId: uuidColumn('user_id')
      .notNull()
      .references(() => users.id),
    metadata: metadataColumn(),
    createdAt: time('created_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.userId] }),
    index('project_users_user').on(table.userId),
  ],
);

/** Roles of a user in a project: own roles of the project, or built-in ones of the project level. */
export const projectUserRoles = pgTable(
  'project_user_roles',
  {
    tenantId: uuidColumn('tenant_id').notNull(),
    userId: uuidColumn('user_id').notNull(),
    roleId: uuidColumn('role_id').notNull(),
    roleTenantId: uuidColumn('role_tenant_id').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.userId, table.roleId] }),
    index('project_user_roles_role').on(table.roleId),
    foreignKey({
      name: 'project_user_roles_member_fk',
      columns: [table.tenantId, table.userId],
      foreignColumns: [projectUsers.tenantId, projectUsers.userId],
    }).onDelete('cascade'),
    foreignKey({
      name: 'project_user_roles_role_fk',
      columns: [table.roleTenantId, table.roleId],
      foreignColumns: [roles.tenantId, roles.id],
    }),
  ],
);

export const Locale = z.enum(['en', 'de', 'es', 'fr']).meta({ id: 'UserLocale' });

/** A user as answers show him; `metadata` is that of his membership in the scope of the call. */
export const User = entity('User', {
  table: users,
  doc: 'A person or a managed user.',
  fields: {
    name: given(text(1, 255)),
    email: serverSet(z.string().nullable()),
    emailVerified: serverSet(z.boolean()),
    pictureUrl: serverSet(z.string().nullable()),
    locale: serverSet(Locale.nullable()),
    status: serverSet(z.enum(['active', 'disabled']).meta({ id: 'UserStatus' })),
    isManaged: serverSet(z.boolean()),
    metadata: serverSet(metadata),
  },
  // The user row has none: outside a scope, and until memberships are joined, it is empty (model §3).
  computed: { metadata: sql`'{}'::json` },
  search: ['name', 'email'],
  sort: ['createdAt', 'name', 'email', 'updatedAt'],
});

/** The part of a user that goes with a sign-in. */
export const SignedInUser = z
  .object({
    id: uuid,
    name: z.string(),
    email: z.string().nullable(),
    pictureUrl: z.string().nullable(),
    locale: Locale.nullable(),
  })
  .meta({ id: 'SignedInUser' });
