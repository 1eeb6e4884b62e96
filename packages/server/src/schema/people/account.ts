import { sql } from 'drizzle-orm';
import { index, pgTable, text as textColumn, uniqueIndex } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { deletedIndex, rowColumns, userColumn } from '../columns.ts';
import { entity, serverSet } from '../../kernel/entity.ts';
import { uuid } from '../../kernel/input/values.ts';

/** Each account is a tenant node with the same id. */
export const accounts = pgTable(
  'accounts',
  {
    ...rowColumns(),
    type: textColumn('type', { enum: ['personal', 'organization'] }).notNull(),
    ownerId: userColumn('owner_id'),
  },
  (table) => [
    deletedIndex('accounts', table),
    index('accounts_owner').on(table.ownerId),
    index('accounts_created').on(table.createdAt, table.id),
    uniqueIndex('accounts_type_taken')
      .on(table.ownerId, table.type)
      .where(sql`deleted_at is null`),
  ],
);

export const AccountType = z.enum(['personal', 'organization']).meta({
  id: 'AccountType',
  description: 'personal: holds projects; organization: holds organizations too.',
});

/**
 * The root of a tenant tree, owned by a user. A `personal` account contains projects; an `organization` account
 * contains organizations and projects.
 */
export const Account = entity('Account', {
  table: accounts,
  doc: 'The root of a tenant tree, owned by one user.',
  fields: {
    type: serverSet(AccountType.describe('What the account may hold.')),
    ownerId: serverSet(uuid.describe('Id of the user who owns it.')),
  },
  sort: ['createdAt', 'type'],
});
