import { sql } from 'drizzle-orm';
import { boolean, pgTable, text as textColumn, unique, uniqueIndex } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import {
  deletedIndex,
  links,
  listIndexes,
  metadataColumn,
  rowColumns,
  tenantColumn,
} from '../../db/columns.ts';
import { createOnly, entity, fixed, given, optional, serverSet } from '../../kernel/entity.ts';
import { metadata, text } from '../../values.ts';
import { Permission } from '../permissions/permission.ts';
import { taggedBy, tagIds, tags } from '../tags/tag.ts';

export const resources = pgTable(
  'resources',
  {
    ...rowColumns(),
    tenantId: tenantColumn(),
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

/** Action names of a customer's resource; built-in ones are PascalCase and never pass this input. */
const actions = z
  .array(z.string().regex(/^[a-z][a-z0-9-]{0,62}$/))
  .min(1)
  .max(50)
  .transform((names) => [...new Set(names)]);

/** The kind of thing that permissions are about: an entity of a customer's own product. */
export const Resource = entity('Resource', {
  table: resources,
  doc: 'The kind of thing that permissions are about.',
  fields: {
    name: given(text(1, 255).meta({ description: 'What people call it.', examples: ['Order'] })),
    // Built-in resources have PascalCase slugs, so an answer promises less than an input must keep.
    slug: {
      ...fixed(
        z
          .string()
          .max(63)
          .regex(/^[a-z][a-z0-9-]*$/)
          .meta({ description: 'How checks name it; unique in the scope.', examples: ['order'] }),
      ),
      out: z.string().describe('How checks name it; unique in the scope.'),
    },
    description: optional(
      text(0, 1000, { multiline: true })
        .nullable()
        .meta({
          description: 'What it stands for in your product.',
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
      z
        .boolean()
        .meta({ description: 'true: one permission per action is created, returned in permissions.' }),
    ),
    tagIds,
  },
  relations: {
    permissions: { kind: 'children', to: () => Permission, column: 'resourceId' },
    tags: taggedBy(() => resourceTags),
  },
  search: ['name', 'slug', 'description'],
  sort: ['createdAt', 'name', 'slug', 'updatedAt'],
});
