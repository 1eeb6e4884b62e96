import { sql } from 'drizzle-orm';
import { pgTable, text as textColumn, unique, uniqueIndex } from 'drizzle-orm/pg-core';
import type { PgTable } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { deletedIndex, listIndexes, metadataColumn, rowColumns, tenantColumn } from '../../db/columns.ts';
import { entity, given, inputOnly, linkIds, optional, type Relation } from '../../kernel/entity.ts';
import { metadata, text } from '../../values.ts';

export const tags = pgTable(
  'tags',
  {
    ...rowColumns(),
    tenantId: tenantColumn(),
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

/** A coloured label of one tenant, with which its rows are sorted and found. */
export const Tag = entity('Tag', {
  table: tags,
  doc: 'A coloured label, put on rows of the tenant that owns it.',
  fields: {
    name: given(text(1, 255).meta({ description: 'What lists show.', examples: ['Pilot'] })),
    color: optional(
      color.meta({
        description: 'A colour: `#` and six lower-case hex digits, or a name like `teal`.',
        examples: ['teal'],
      }),
      'gray',
    ),
    metadata: optional(metadata, {}),
  },
  search: ['name'],
  sort: ['createdAt', 'name', 'color', 'updatedAt'],
});

/** The `tags` relation of a noun whose links stand in `table`. */
export const taggedBy = (table: () => PgTable): Relation => ({
  kind: 'links',
  to: () => Tag,
  table,
  from: 'fromId',
  target: 'toId',
  targetTenant: 'toTenantId',
  input: 'tagIds',
});

/** The input field that goes with it. */
export const tagIds = inputOnly(linkIds(50).describe('Tags that it carries, in place of all that it had.'));
