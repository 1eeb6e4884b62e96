import { foreignKey, index, pgTable, primaryKey, uuid as uuidColumn } from 'drizzle-orm/pg-core';
import { metadataColumn, time } from '../../db/columns.ts';
import { nodes } from '../../db/nodes.ts';
import { roles } from '../roles/role.ts';
import { users } from '../users/user.ts';

/** Who belongs to an organization, with exactly one role. */
export const organizationMembers = pgTable(
  'organization_members',
  {
    tenantId: uuidColumn('tenant_id')
      .notNull()
      .references(() => nodes.id),
    userId: uuidColumn('user_id')
      .notNull()
      .references(() => users.id),
    roleId: uuidColumn('role_id').notNull(),
    roleTenantId: uuidColumn('role_tenant_id').notNull(),
    metadata: metadataColumn(),
    createdAt: time('created_at').notNull().defaultNow(),
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
