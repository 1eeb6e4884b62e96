import { sql } from 'drizzle-orm';
import {
  boolean,
  index,
  pgTable,
  text as textColumn,
  uniqueIndex,
  uuid as uuidColumn,
} from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { time } from '../../db/columns.ts';
import { entity, serverSet } from '../../kernel/entity.ts';
import { iso } from '../../values.ts';
import { users } from '../users/user.ts';

export const Provider = z
  .enum(['email', 'github'])
  .meta({ id: 'Provider', description: 'A way to prove who one is.' });

/** As many as a user may have. */
export const MOST_METHODS = 5;

/** A way to sign in. `claims` is true while it keeps its address from others: verified, or a registration's. */
export const authenticationMethods = pgTable(
  'authentication_methods',
  {
    id: uuidColumn('id').primaryKey(),
    userId: uuidColumn('user_id')
      .notNull()
      .references(() => users.id),
    provider: textColumn('provider', { enum: ['email', 'github'] }).notNull(),
    providerId: textColumn('provider_id').notNull(),
    /** The address that it proves: typed in and verified by mail, or vouched for by the provider. */
    label: textColumn('label').notNull(),
    isVerified: boolean('is_verified').notNull().default(false),
    isPrimary: boolean('is_primary').notNull().default(false),
    claims: boolean('claims').notNull().default(false),
    lastUsedAt: time('last_used_at'),
    createdAt: time('created_at').notNull().defaultNow(),
  },
  (table) => [
    index('authentication_methods_user').on(table.userId),
    index('authentication_methods_label').on(table.label),
    uniqueIndex('authentication_methods_provider_id_taken')
      .on(table.provider, table.providerId)
      .where(sql`claims`),
  ],
);

/** The password belongs to the user, not to a method. In a table of its own, which no answer reads. */
export const passwords = pgTable('passwords', {
  userId: uuidColumn('user_id')
    .primaryKey()
    .references(() => users.id),
  hash: textColumn('hash').notNull(),
  updatedAt: time('updated_at').notNull().defaultNow(),
});

/** A way to sign in, as its user sees it. */
export const AuthenticationMethod = entity('AuthenticationMethod', {
  table: authenticationMethods,
  doc: 'A way to sign in.',
  without: ['updatedAt', 'deletedAt'],
  fields: {
    provider: serverSet(Provider.describe('The provider that verifies the identity.')),
    providerId: serverSet(z.string().describe('How the provider knows the user: for `email` the address.')),
    label: serverSet(z.string().describe('The address that it proves.')),
    isVerified: serverSet(z.boolean().describe('Whether it signs in: its address was proved.')),
    isPrimary: serverSet(z.boolean().describe("Whether its address is the user's address.")),
    lastUsedAt: serverSet(iso.nullable().describe('When it last signed in.')),
  },
});
