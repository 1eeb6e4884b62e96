import {
  boolean,
  index,
  integer,
  pgTable,
  text as textColumn,
  unique,
  uuid as uuidColumn,
} from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { time, userColumn } from '../columns.ts';
import { iso, text, uuid } from '../../kernel/input/values.ts';

/** Authenticator apps. A factor is enabled by its first correct code. */
export const mfaFactors = pgTable(
  'mfa_factors',
  {
    id: uuidColumn('id').primaryKey(),
    userId: userColumn(),
    type: textColumn('type', { enum: ['totp'] }).notNull(),
    name: textColumn('name').notNull(),
    /** Encrypted under the key-encryption key. `MfaFactor` has no such field, so no response contains it. */
    sealedSecret: textColumn('sealed_secret').notNull(),
    isEnabled: boolean('is_enabled').notNull().default(false),
    /** The TOTP time step of the last accepted code. Only later steps are accepted, so a code works once. */
    lastStep: integer('last_step'),
    lastUsedAt: time('last_used_at'),
    createdAt: time('created_at').notNull().defaultNow(),
  },
  (table) => [index('mfa_factors_user').on(table.userId)],
);

/** HMACs of the recovery codes for users who lost their app. Using a code deletes its row, so it works once. */
export const mfaRecoveryCodes = pgTable(
  'mfa_recovery_codes',
  {
    id: uuidColumn('id').primaryKey(),
    userId: userColumn(),
    hash: textColumn('hash').notNull(),
    createdAt: time('created_at').notNull().defaultNow(),
  },
  (table) => [unique('mfa_recovery_codes_hash').on(table.userId, table.hash)],
);

/** How many wrong codes a user entered, in a window that begins with the first of them. */
export const mfaAttempts = pgTable('mfa_attempts', {
  userId: userColumn().primaryKey(),
  failures: integer('failures').notNull(),
  windowEndsAt: time('window_ends_at').notNull(),
});

/**
 * Pending removals of a user's second factors, each requested by an operator. A correct code before `effectiveAt` stops
 * the removal.
 */
export const factorResets = pgTable(
  'factor_resets',
  {
    userId: userColumn().primaryKey(),
    requestedBy: uuidColumn('requested_by').notNull(),
    reason: textColumn('reason').notNull(),
    /** Whether the passkeys are removed too. */
    passkeys: boolean('passkeys').notNull().default(false),
    effectiveAt: time('effective_at').notNull(),
  },
  (table) => [index('factor_resets_effective').on(table.effectiveAt)],
);

/** The fields of a factor in responses. Factors belong to no tenant's scope, so this is not an entity. */
export const MfaFactor = z
  .object({
    id: uuid.describe('Id of the factor.'),
    type: z.literal('totp').describe('The kind of factor.'),
    name: text(1, 100).describe('Name that the user chose.'),
    isEnabled: z.boolean().describe('Whether the factor is enabled, by its first correct code.'),
    lastUsedAt: iso.nullable().describe('When one of its codes was last used.'),
    createdAt: iso.describe('When the factor was created.'),
  })
  .meta({ id: 'MfaFactor', description: 'An authenticator app as second factor.' });
