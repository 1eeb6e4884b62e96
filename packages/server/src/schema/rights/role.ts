import { inArray } from 'drizzle-orm';
import { boolean, pgTable, text as textColumn, unique } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { deletedIndex, links, listIndexes, metadataColumn, rowColumns, tenantColumn } from '../columns.ts';
import { managed, managedColumns, managedOf } from '../managed.ts';
import { entity, required, inputOnly, linkIds, optional, serverSet } from '../../kernel/entity.ts';
import { metadata, rowName, text } from '../../kernel/input/values.ts';
import { Group, groups } from './group.ts';
import { grantedRoles } from './granted-rows.ts';
import { taggedBy, tagIds, tags } from './tag.ts';

export const roles = pgTable(
  'roles',
  {
    ...rowColumns(),
    tenantId: tenantColumn(),
    ...managedColumns(),
    name: textColumn('name').notNull(),
    description: textColumn('description'),
    metadata: metadataColumn(),
    level: textColumn('level', { enum: ['account', 'organization', 'project'] }).notNull(),
    isSystem: boolean('is_system').notNull().default(false),
  },
  (table) => [
    deletedIndex('roles', table),
    ...listIndexes('roles', table, { created: table.createdAt, name: table.name }),
    unique('roles_tenant_id_id').on(table.tenantId, table.id),
  ],
);

export const roleGroups = links(
  'role_groups',
  { column: 'role_id', table: () => roles },
  { column: 'group_id', table: () => groups },
);

export const roleTags = links(
  'role_tags',
  { column: 'role_id', table: () => roles },
  { column: 'tag_id', table: () => tags },
);

/** A named set of groups, which can be assigned to users within one tenant. The name itself grants nothing. */
export const Role = entity('Role', {
  table: roles,
  doc: 'A named set of groups, which can be assigned to users within one tenant.',
  fields: {
    name: required(rowName.meta({ description: 'Name of the role.', examples: ['Order approver'] })),
    description: optional(
      text(0, 1000, { multiline: true })
        .nullable()
        .meta({
          description: 'What the role is for.',
          examples: ['Approves orders that wait for a decision.'],
        }),
      null,
    ),
    metadata: optional(metadata, {}),
    level: serverSet(
      z
        .enum(['account', 'organization', 'project'])
        .meta({ id: 'RoleLevel', description: 'The level of the hierarchy at which a role can be assigned.' })
        .describe('The level at which it can be assigned.'),
    ),
    isSystem: serverSet(z.boolean().describe('Built in: it cannot be changed or deleted.')),
    groupIds: inputOnly(linkIds(100).describe('Groups whose permissions it grants; replaces the whole set.')),
    managed,
    tagIds,
  },
  computed: { managed: managedOf(roles) },
  relations: {
    groups: {
      kind: 'links',
      to: () => Group,
      table: () => roleGroups,
      from: 'fromId',
      target: 'toId',
      targetTenant: 'toTenantId',
      input: 'groupIds',
    },
    tags: taggedBy(() => roleTags),
  },
  // A granted scope contains the roles of its grant.
  within: ({ grant }) => (grant ? inArray(roles.id, grantedRoles(grant)) : undefined),
  search: ['name', 'description'],
  sort: ['createdAt', 'name', 'updatedAt'],
});
