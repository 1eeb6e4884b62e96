import { pgTable, text as textColumn, unique } from 'drizzle-orm/pg-core';
import { bytea, time, userColumn } from '../columns.ts';

/**
 * The uploaded picture of a user, at most one. Its name cannot be guessed, and anyone who knows the name may see it.
 */
export const pictures = pgTable(
  'pictures',
  {
    userId: userColumn().primaryKey(),
    name: textColumn('name').notNull(),
    mediaType: textColumn('media_type').notNull(),
    bytes: bytea('bytes').notNull(),
    createdAt: time('created_at').notNull(),
  },
  (table) => [unique('pictures_name').on(table.name)],
);
