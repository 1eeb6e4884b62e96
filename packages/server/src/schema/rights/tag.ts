import { sql } from 'drizzle-orm';
import { pgTable, text as textColumn, unique, uniqueIndex, type PgTable } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { deletedIndex, listIndexes, metadataColumn, rowColumns, tenantColumn } from '../columns.ts';
import { managed, managedColumns, managedOf } from '../managed.ts';
import { entity, required, inputOnly, linkIds, optional, type Relation } from '../../kernel/entity.ts';
import { metadata, rowName } from '../../kernel/input/values.ts';

export const tags = pgTable(
  'tags',
  {
    ...rowColumns(),
    tenantId: tenantColumn(),
    ...managedColumns(),
    name: textColumn('name').notNull(),
    color: textColumn('color').notNull(),
    metadata: metadataColumn(),
  },
  (table) => [
    deletedIndex('tags', table),
    ...listIndexes('tags', table, { created: table.createdAt, name: table.name }),
    unique('tags_tenant_id_id').on(table.tenantId, table.id),
    uniqueIndex('tags_name_taken')
      .on(table.tenantId, sql`lower(${table.name})`)
      .where(sql`deleted_at is null`),
  ],
);

const color = z.string().regex(/^(#[0-9a-f]{6}|[a-z]{3,20})$/);

/** A colored label of one tenant. The tenant's rows can be filtered by it. */
export const Tag = entity('Tag', {
  table: tags,
  doc: 'A coloured label for rows of the tenant that owns it.',
  fields: {
    name: required(rowName.meta({ description: 'Name of the tag.', examples: ['Pilot'] })),
    color: optional(
      color.meta({
        description: 'A colour: `#` and six lower-case hex digits, or a name like `teal`.',
        examples: ['teal'],
      }),
      'gray',
    ),
    metadata: optional(metadata, {}),
    managed,
  },
  computed: { managed: managedOf(tags) },
  search: ['name'],
  sort: ['createdAt', 'name', 'color', 'updatedAt'],
});

/** Returns the `tags` relation of an entity whose links are in `table`. */
export const taggedBy = (table: () => PgTable): Relation => ({
  kind: 'links',
  to: () => Tag,
  table,
  from: 'fromId',
  target: 'toId',
  targetTenant: 'toTenantId',
  input: 'tagIds',
});

/** The input field of the `tags` relation. */
export const tagIds = inputOnly(linkIds(50).describe('Its tags; replaces the whole set.'));
