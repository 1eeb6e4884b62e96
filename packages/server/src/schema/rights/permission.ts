import { inArray, sql } from 'drizzle-orm';
import {
  boolean,
  check,
  foreignKey,
  index,
  jsonb,
  pgTable,
  text as textColumn,
  unique,
  uuid as uuidColumn,
} from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { deletedIndex, links, listIndexes, metadataColumn, rowColumns, tenantColumn } from '../columns.ts';
import { managed, managedColumns, managedOf } from '../managed.ts';
import { resourceIdOf } from './built-in-ids.ts';
import { grantedPermissions } from './granted-rows.ts';
import { SYSTEM_NODE } from '../nodes.ts';
import { derivable, entity, fixed, optional, serverSet, inverseOf } from '../../kernel/entity.ts';
import { metadata, rowName, text, uuid } from '../../kernel/input/values.ts';
import { resources } from './resource.ts';
import { taggedBy, tagIds, tags } from './tag.ts';

export const permissions = pgTable(
  'permissions',
  {
    ...rowColumns(),
    tenantId: tenantColumn(),
    ...managedColumns(),
    name: textColumn('name').notNull(),
    description: textColumn('description'),
    resourceId: uuidColumn('resource_id').notNull(),
    resourceTenantId: uuidColumn('resource_tenant_id').notNull(),
    action: textColumn('action').notNull(),
    condition: jsonb('condition').$type<Record<string, unknown> | null>(),
    metadata: metadataColumn(),
    isSystem: boolean('is_system').notNull().default(false),
  },
  (table) => [
    deletedIndex('permissions', table),
    ...listIndexes('permissions', table, { created: table.createdAt, name: table.name }),
    unique('permissions_tenant_id_id').on(table.tenantId, table.id),
    index('permissions_resource').on(table.resourceId),
    foreignKey({
      name: 'permissions_resource_fk',
      columns: [table.resourceTenantId, table.resourceId],
      foreignColumns: [resources.tenantId, resources.id],
    }),
    check(
      'permissions_one_tenant',
      sql`${table.resourceTenantId} = ${table.tenantId} or ${table.resourceTenantId} = ${sql.raw(`'${SYSTEM_NODE}'`)}`,
    ),
  ],
);

export const permissionTags = links(
  'permission_tags',
  { column: 'permission_id', table: () => permissions },
  { column: 'tag_id', table: () => tags },
);

/** Accepts any JSON object; `assertCondition` checks the condition language when a permission is written. */
const condition = z.record(z.string(), z.unknown()).nullable().meta({
  description: 'Condition under which the permission counts (And, Or, Not, Equals, …); null = always.',
});

const ResourceRef = z
  .object({
    id: uuid.describe('Id of the resource.'),
    slug: z.string().describe('Its name in authorization checks.'),
    name: z.string().describe('Its name.'),
    isSystem: z.boolean().describe('Built in: it cannot be changed or deleted.'),
  })
  .meta({ id: 'ResourceRef', description: 'The resource that a permission is about.' });

/** The right to do one action on one resource, perhaps under a condition. */
export const Permission = entity('Permission', {
  table: permissions,
  doc: 'The right to do one action on one resource, perhaps under a condition.',
  fields: {
    name: derivable(
      rowName.meta({
        description: 'Name of the permission; `resource:action` if left out.',
        examples: ['See the roles'],
      }),
    ),
    description: optional(
      text(0, 1000, { multiline: true })
        .nullable()
        .meta({
          description: 'What it allows.',
          examples: ['Lets people see which roles there are.'],
        }),
      null,
    ),
    resourceId: fixed(
      uuid.meta({
        description: 'The resource that it is about: one of the scope, or a built-in one.',
        examples: [resourceIdOf('Role')],
      }),
    ),
    action: fixed(
      z
        .string()
        .min(1)
        .max(64)
        .meta({ description: "One of the resource's actions.", examples: ['Query'] }),
    ),
    condition: optional(condition, null),
    resource: serverSet(ResourceRef.describe('The resource that it is about.')),
    metadata: optional(metadata, {}),
    isSystem: serverSet(z.boolean().describe('Built in: it cannot be changed or deleted.')),
    managed,
    tagIds,
  },
  computed: {
    managed: managedOf(permissions),
    resource: sql`(select json_build_object('id', r.id, 'slug', r.slug, 'name', r.name, 'isSystem', r.is_system) from resources r where r.id = ${permissions.resourceId})`,
  },
  relations: {
    groups: inverseOf('Group', 'permissions'),
    tags: taggedBy(() => permissionTags),
  },
  // A granted scope contains the permissions of its roles.
  within: ({ grant }) => (grant ? inArray(permissions.id, grantedPermissions(grant)) : undefined),
  search: ['name', 'description', 'action'],
  sort: ['createdAt', 'name', 'action', 'updatedAt'],
});
