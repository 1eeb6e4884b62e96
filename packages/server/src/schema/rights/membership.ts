import { sql } from 'drizzle-orm';
import {
  foreignKey,
  index,
  pgTable,
  primaryKey,
  uuid as uuidColumn,
  type PgColumn,
} from 'drizzle-orm/pg-core';
import { metadataColumn, tenantColumn, time, userColumn } from '../columns.ts';
import { roles } from './role.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';

/**
 * Columns of a membership. Users exist in the whole installation; what a tenant stores about a user (role, metadata) is
 * in the membership and is deleted with it.
 */
const membershipColumns = () => ({
  tenantId: tenantColumn(),
  userId: userColumn(),
  metadata: metadataColumn(),
  createdAt: time('created_at').notNull().defaultNow(),
  updatedAt: time('updated_at').notNull().defaultNow(),
});

/**
 * Finds members by `externalId` in their metadata. Longer values are not indexed, because the size of an index entry is
 * limited.
 */
const externalIdIndex = (name: string, table: Readonly<Record<'tenantId' | 'metadata', PgColumn>>) =>
  index(`${name}_external_id`)
    .on(table.tenantId, sql`(${table.metadata} ->> 'externalId')`)
    .where(
      sql`jsonb_typeof(${table.metadata} -> 'externalId') = 'string' and char_length(${table.metadata} ->> 'externalId') <= 255`,
    );

/** Creates a table of memberships with exactly one role. */
const withOneRole = <N extends string>(name: N) =>
  pgTable(
    name,
    {
      ...membershipColumns(),
      roleId: uuidColumn('role_id').notNull(),
      roleTenantId: uuidColumn('role_tenant_id').notNull(),
    },
    (table) => [
      primaryKey({ columns: [table.tenantId, table.userId] }),
      index(`${name}_user`).on(table.userId),
      index(`${name}_role`).on(table.roleId),
      externalIdIndex(name, table),
      foreignKey({
        name: `${name}_role_fk`,
        columns: [table.roleTenantId, table.roleId],
        foreignColumns: [roles.tenantId, roles.id],
      }),
    ],
  );

/** Members of an organization. */
export const organizationMembers = withOneRole('organization_members');

/** Service users of an account: machines that act in it by API keys. People own accounts without being members. */
export const accountServiceUsers = withOneRole('account_service_users');

/** Users of a project. */
export const projectUsers = pgTable('project_users', membershipColumns(), (table) => [
  primaryKey({ columns: [table.tenantId, table.userId] }),
  index('project_users_user').on(table.userId),
  externalIdIndex('project_users', table),
]);

export type ProjectUserRow = typeof projectUsers.$inferSelect;

/** Roles of a user in a project: custom roles of the project, or built-in roles for projects. */
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

const tables = {
  account: accountServiceUsers,
  organization: organizationMembers,
  project: projectUsers,
  get installation(): never {
    throw new Error('the installation has no members');
  },
};

/** The table of the memberships on a level. @throws Error for the installation, which has operators and no members */
export const membershipTableOf = <L extends ResolvedScope['level']>(level: L): (typeof tables)[L] =>
  tables[level];
