import { foreignKey, index, pgTable, primaryKey, uuid as uuidColumn } from 'drizzle-orm/pg-core';
import { metadataColumn, tenantColumn, time } from '../../db/columns.ts';
import { roles } from '../roles/role.ts';
import { users } from '../users/user.ts';

/**
 * Who belongs where, and with which roles. A user is known to the whole installation; what a tenant says of him
 * (role, metadata) stands here and goes away with his membership.
 */
const membershipColumns = () => ({
  tenantId: tenantColumn(),
  userId: uuidColumn('user_id')
    .notNull()
    .references(() => users.id),
  metadata: metadataColumn(),
  createdAt: time('created_at').notNull().defaultNow(),
  updatedAt: time('updated_at').notNull().defaultNow(),
});

/** Who belongs to an organization, with exactly one role. */
export const organizationMembers = pgTable(
  'organization_members',
  {
    ...membershipColumns(),
    roleId: uuidColumn('role_id').notNull(),
    roleTenantId: uuidColumn('role_tenant_id').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.userId] }),
    index('organization_members_user').on(table.userId),
    index('organization_members_role').on(table.roleId),
    foreignKey({
      name: 'organization_members_role_fk',
      columns: [table.roleTenantId, table.roleId],
      foreignColumns: [roles.tenantId, roles.id],
    }),
  ],
);

/** Who takes part in a project. */
export const projectUsers = pgTable('project_users', membershipColumns(), (table) => [
  primaryKey({ columns: [table.tenantId, table.userId] }),
  index('project_users_user').on(table.userId),
]);

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
