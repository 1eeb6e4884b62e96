import { boolean, pgTable, text as textColumn, unique } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import {
  deletedIndex,
  links,
  listIndexes,
  metadataColumn,
  rowColumns,
  tenantColumn,
} from '../../db/columns.ts';
import { entity, given, inputOnly, linkIds, optional, serverSet } from '../../kernel/entity.ts';
import { metadata, text } from '../../values.ts';
import { Permission, permissions } from '../permissions/permission.ts';
import { taggedBy, tagIds, tags } from '../tags/tag.ts';

export const groups = pgTable(
  'groups',
  {
    ...rowColumns(),
    tenantId: tenantColumn(),
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

/** A named bundle of permissions, the step between a role and what it may do. */
export const Group = entity('Group', {
  table: groups,
  doc: 'A named bundle of permissions.',
  fields: {
    name: given(
      text(1, 255).meta({ description: 'What people call the group.', examples: ['Order approval'] }),
    ),
    description: optional(
      text(0, 1000, { multiline: true })
        .nullable()
        .meta({ description: 'What the group is for.', examples: ['Read and approve orders.'] }),
      null,
    ),
    metadata: optional(metadata, {}),
    isSystem: serverSet(z.boolean().describe('Built in: it cannot be changed or deleted.')),
    permissionIds: inputOnly(
      linkIds(100).describe('Permissions that it bundles, in place of all that it had.'),
    ),
    tagIds,
  },
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
  search: ['name', 'description'],
  sort: ['createdAt', 'name', 'updatedAt'],
});
