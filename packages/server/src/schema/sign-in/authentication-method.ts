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
import { time, userColumn } from '../columns.ts';
import { entity, serverSet } from '../../kernel/entity.ts';
import { iso } from '../../kernel/input/values.ts';

export const Provider = z
  .enum(['email', 'github', 'oidc'])
  .meta({ id: 'Provider', description: 'Kind of provider that proves the identity of a user.' });

/** The maximum number of sign-in methods of one user. */
export const MAX_METHODS = 5;

/** Sign-in methods. `claims`: no other user can claim the same address; set by verification, registration or import. */
export const authenticationMethods = pgTable(
  'authentication_methods',
  {
    id: uuidColumn('id').primaryKey(),
    userId: userColumn(),
    provider: textColumn('provider', { enum: ['email', 'github', 'oidc'] }).notNull(),
    /** For `oidc`, the key of the provider in the configuration. */
    providerKey: textColumn('provider_key'),
    providerId: textColumn('provider_id').notNull(),
    /** The address that the method proves: verified by mail, or confirmed by the provider. */
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

/** Password hashes. A password belongs to the user, not to a method. No response reads this table. */
export const passwords = pgTable('passwords', {
  userId: userColumn().primaryKey(),
  hash: textColumn('hash').notNull(),
  updatedAt: time('updated_at').notNull().defaultNow(),
});

/** A sign-in method, as its user sees it. */
export const AuthenticationMethod = entity('AuthenticationMethod', {
  table: authenticationMethods,
  doc: 'A sign-in method.',
  without: ['updatedAt', 'deletedAt'],
  fields: {
    provider: serverSet(Provider.describe('The provider that verifies the identity.')),
    providerKey: serverSet(
      z
        .string()
        .nullable()
        .describe('For `oidc` the key of the provider (`GET /auth/providers`); else null.'),
    ),
    providerId: serverSet(
      z
        .string()
        .describe('Id of the user at the provider: for `email` the address, for `oidc` issuer and subject.'),
    ),
    label: serverSet(z.string().describe('The address that the method proves.')),
    isVerified: serverSet(
      z.boolean().describe('Whether the address is verified, so that the method can sign in.'),
    ),
    isPrimary: serverSet(z.boolean().describe("Whether the address is the user's address.")),
    lastUsedAt: serverSet(iso.nullable().describe('When the user last signed in with it.')),
  },
});
