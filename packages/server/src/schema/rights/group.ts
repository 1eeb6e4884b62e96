import { inArray } from 'drizzle-orm';
import { boolean, pgTable, text as textColumn, unique } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { deletedIndex, links, listIndexes, metadataColumn, rowColumns, tenantColumn } from '../columns.ts';
import { managed, managedColumns, managedOf } from '../managed.ts';
import { entity, required, inputOnly, linkIds, optional, serverSet } from '../../kernel/entity.ts';
import { metadata, rowName, text } from '../../kernel/input/values.ts';
import { Permission, permissions } from './permission.ts';
import { grantedGroups } from './granted-rows.ts';
import { taggedBy, tagIds, tags } from './tag.ts';

export const groups = pgTable(
  'groups',
  {
    ...rowColumns(),
    tenantId: tenantColumn(),
    ...managedColumns(),
    name: textColumn('name').notNull(),
    description: textColumn('description'),
    metadata: metadataColumn(),
    isSystem: boolean('is_system').notNull().default(false),
  },
  (table) => [
    deletedIndex('groups', table),
    ...listIndexes('groups', table, { created: table.createdAt, name: table.name }),
    unique('groups_tenant_id_id').on(table.tenantId, table.id),
  ],
);

export const groupPermissions = links(
  'group_permissions',
  { column: 'group_id', table: () => groups },
  { column: 'permission_id', table: () => permissions },
);

export const groupTags = links(
  'group_tags',
  { column: 'group_id', table: () => groups },
  { column: 'tag_id', table: () => tags },
);

/** A named set of permissions: roles contain groups, and groups contain permissions. */
export const Group = entity('Group', {
  table: groups,
  doc: 'A named set of permissions.',
  fields: {
    name: required(rowName.meta({ description: 'Display name of the group.', examples: ['Order approval'] })),
    description: optional(
      text(0, 1000, { multiline: true })
        .nullable()
        .meta({ description: 'What the group is for.', examples: ['Read and approve orders.'] }),
      null,
    ),
    metadata: optional(metadata, {}),
    isSystem: serverSet(z.boolean().describe('true: built in, so it cannot be changed or deleted.')),
    permissionIds: inputOnly(linkIds(100).describe('Permissions of the group; replaces the whole set.')),
    managed,
    tagIds,
  },
  computed: { managed: managedOf(groups) },
  relations: {
    permissions: {
      kind: 'links',
      to: () => Permission,
      table: () => groupPermissions,
      from: 'fromId',
      target: 'toId',
      targetTenant: 'toTenantId',
      input: 'permissionIds',
    },
    tags: taggedBy(() => groupTags),
  },
  // A granted scope contains the groups of its roles.
  within: ({ grant }) => (grant ? inArray(groups.id, grantedGroups(grant)) : undefined),
  search: ['name', 'description'],
  sort: ['createdAt', 'name', 'updatedAt'],
});
