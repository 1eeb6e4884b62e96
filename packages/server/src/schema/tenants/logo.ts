import { pgTable, text as textColumn, unique, uuid as uuidColumn } from 'drizzle-orm/pg-core';
import { bytea, time } from '../columns.ts';
import { nodes } from '../nodes.ts';

/** Uploaded logos of apps and organizations. `id` is that of the app or organization, `tenantId` its tenant node. */
export const logos = pgTable(
  'logos',
  {
    id: uuidColumn('id').primaryKey(),
    tenantId: uuidColumn('tenant_id')
      .notNull()
      .references(() => nodes.id, { onDelete: 'cascade' }),
    /** The name cannot be guessed, and anyone who knows it may see the logo. */
    name: textColumn('name').notNull(),
    mediaType: textColumn('media_type').notNull(),
    bytes: bytea('bytes').notNull(),
    createdAt: time('created_at').notNull(),
  },
  (table) => [unique('logos_name').on(table.name)],
);
