import { inArray, sql } from 'drizzle-orm';
import { boolean, pgTable, text as textColumn, unique, uniqueIndex } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { deletedIndex, links, listIndexes, metadataColumn, rowColumns, tenantColumn } from '../columns.ts';
import { managed, managedColumns, managedOf } from '../managed.ts';
import { grantedResources } from './granted-rows.ts';
import { createOnly, entity, fixed, required, optional, serverSet, nounNamed } from '../../kernel/entity.ts';
import { metadata, text } from '../../kernel/input/values.ts';
import { taggedBy, tagIds, tags } from './tag.ts';

export const resources = pgTable(
  'resources',
  {
    ...rowColumns(),
    tenantId: tenantColumn(),
    ...managedColumns(),
    name: textColumn('name').notNull(),
    slug: textColumn('slug').notNull(),
    description: textColumn('description'),
    actions: textColumn('actions').array().notNull(),
    isActive: boolean('is_active').notNull().default(true),
    metadata: metadataColumn(),
    isSystem: boolean('is_system').notNull().default(false),
  },
  (table) => [
    deletedIndex('resources', table),
    ...listIndexes('resources', table, { created: table.createdAt, name: table.name }),
    unique('resources_tenant_id_id').on(table.tenantId, table.id),
    uniqueIndex('resources_slug_taken')
      .on(table.tenantId, table.slug)
      .where(sql`deleted_at is null`),
  ],
);

export const resourceTags = links(
  'resource_tags',
  { column: 'resource_id', table: () => resources },
  { column: 'tag_id', table: () => tags },
);

/** Action names of a customer's resource. Built-in action names are PascalCase and never pass this input schema. */
const actions = z
  .array(z.string().regex(/^[a-z][a-z0-9_-]{0,62}$/))
  .min(1)
  .max(50)
  .transform((names) => [...new Set(names)]);

/** A type of object that permissions are about, for example an entity of a customer's product. */
export const Resource = entity('Resource', {
  table: resources,
  doc: 'A type of object that permissions are about.',
  fields: {
    name: required(text(1, 255).meta({ description: 'Name of the resource.', examples: ['Order'] })),
    // Built-in resources have PascalCase slugs, so the output schema is wider than the input schema.
    slug: {
      ...fixed(
        z
          .string()
          .max(63)
          .regex(/^[a-z][a-z0-9-]*$/)
          .meta({
            description: 'Its name in authorization checks; unique in the scope.',
            examples: ['order'],
          }),
      ),
      out: z.string().describe('Its name in authorization checks; unique in the scope.'),
    },
    description: optional(
      text(0, 1000, { multiline: true })
        .nullable()
        .meta({
          description: 'What it is in your product.',
          examples: ['A purchase order of a customer.'],
        }),
      null,
    ),
    actions: {
      ...optional(
        actions.meta({ description: 'What can be done with it.', examples: [['read', 'create', 'approve']] }),
        ['query', 'read', 'create', 'update', 'delete'],
      ),
      out: z.array(z.string()).describe('What can be done with it.'),
    },
    isActive: optional(z.boolean().describe('false: its permissions grant nothing.'), true),
    metadata: optional(metadata, {}),
    isSystem: serverSet(z.boolean().describe('Built in: it cannot be changed or deleted.')),
    createPermissions: createOnly(
      z.boolean().meta({
        description: 'true: also creates one permission per action, and returns them in `permissions`.',
      }),
    ),
    managed,
    tagIds,
  },
  computed: { managed: managedOf(resources) },
  relations: {
    permissions: { kind: 'children', to: () => nounNamed('Permission'), column: 'resourceId' },
    tags: taggedBy(() => resourceTags),
  },
  // A granted scope contains the resources on which its roles have permissions.
  within: ({ grant }) => (grant ? inArray(resources.id, grantedResources(grant)) : undefined),
  search: ['name', 'slug', 'description'],
  sort: ['createdAt', 'name', 'slug', 'updatedAt'],
});
