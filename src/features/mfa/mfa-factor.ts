import { and, eq, sql, type SQL } from 'drizzle-orm';
import {
  boolean,
  index,
  integer,
  pgTable,
  text as textColumn,
  unique,
  uuid as uuidColumn,
  type PgColumn,
} from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { time } from '../../db/columns.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { iso, text, uuid } from '../../values.ts';
import { users } from '../users/user.ts';

const userColumn = () =>
  uuidColumn('user_id')
    .notNull()
    .references(() => users.id);

/** An authenticator app. It counts once it has given its first correct code. */
export const mfaFactors = pgTable(
  'mfa_factors',
  {
    id: uuidColumn('id').primaryKey(),
    userId: userColumn(),
    type: textColumn('type', { enum: ['totp'] }).notNull(),
    name: textColumn('name').notNull(),
    /** Under the key-encryption key. No member of `MfaFactor`, so no answer can have it. */
    sealedSecret: textColumn('sealed_secret').notNull(),
    isEnabled: boolean('is_enabled').notNull().default(false),
    /** The step of its newest accepted code: only later ones are accepted, so each counts once. */
    lastStep: integer('last_step'),
    lastUsedAt: time('last_used_at'),
    createdAt: time('created_at').notNull().defaultNow(),
  },
  (table) => [index('mfa_factors_user').on(table.userId)],
);

/** HMACs of the codes for whoever lost his app. Used up by deletion, so that two uses cannot both win. */
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

/** Wrong codes of one user in a window that begins with the first of them. */
export const mfaAttempts = pgTable('mfa_attempts', {
  userId: userColumn().primaryKey(),
  failures: integer('failures').notNull(),
  windowEndsAt: time('window_ends_at').notNull(),
});

/** Read under no tenant's scope, so it is no entity; an allow-list all the same. */
export const MfaFactor = z
  .object({
    id: uuid.describe('Id of the factor.'),
    type: z.literal('totp').describe('The kind of factor.'),
    name: text(1, 100).describe('What its user calls it.'),
    isEnabled: z.boolean().describe('Whether it counts: its first code was given.'),
    lastUsedAt: iso.nullable().describe('When a code of it was last used.'),
    createdAt: iso.describe('When it was created.'),
  })
  .meta({ id: 'MfaFactor', description: 'An authenticator app as second factor.' });

/** Whether a user has a factor that counts, so that his sign-ins are only the first half of one. */
export async function isEnrolled(tx: Executor, userId: string): Promise<boolean> {
  const found = await tx
    .select({ id: mfaFactors.id })
    .from(mfaFactors)
    .where(and(eq(mfaFactors.userId, userId), eq(mfaFactors.isEnabled, true)))
    .limit(1);
  return found.length > 0;
}

/** The same within another statement, of the user whose id stands in that column. */
export const hasFactor = (userId: PgColumn): SQL<boolean> =>
  sql<boolean>`exists (select from ${mfaFactors} where ${mfaFactors.userId} = ${userId} and ${mfaFactors.isEnabled})`;
