import { sql } from 'drizzle-orm';
import { index, pgTable, text, unique, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { time } from '../columns.ts';
import { nodes } from '../nodes.ts';
import { entity, serverSet } from '../../kernel/entity.ts';
import { iso } from '../../kernel/input/values.ts';

/** Public keys that verify tokens, one set per issuer: the service and every project. */
export const signingKeys = pgTable(
  'signing_keys',
  {
    id: uuid('id').primaryKey(),
    /** The project; for the keys of the service itself, the system node. */
    tenantId: uuid('tenant_id')
      .notNull()
      .references(() => nodes.id),
    kid: text('kid').notNull(),
    algorithm: text('algorithm').notNull().default('RS256'),
    issuer: text('issuer').notNull(),
    status: text('status', { enum: ['next', 'active', 'retired', 'revoked'] }).notNull(),
    publicKeyPem: text('public_key_pem').notNull(),
    createdAt: time('created_at').notNull().defaultNow(),
    activatedAt: time('activated_at'),
    retiredAt: time('retired_at'),
    publishedUntil: time('published_until'),
  },
  (table) => [
    unique('signing_keys_kid').on(table.kid),
    index('signing_keys_tenant').on(table.tenantId),
    // At most one active and one next key per issuer.
    uniqueIndex('signing_keys_one_current')
      .on(table.tenantId, table.status)
      .where(sql`status in ('active', 'next')`),
  ],
);

/** Private keys, encrypted with AES-256-GCM under the key-encryption key. No response reads this table. */
export const signingKeySecrets = pgTable('signing_key_secrets', {
  keyId: uuid('key_id')
    .primaryKey()
    .references(() => signingKeys.id, { onDelete: 'cascade' }),
  sealed: text('sealed').notNull(),
});

/** Values of the installation, such as its id, and the canary that the key-encryption key must be able to decrypt. */
export const installation = pgTable('installation', {
  name: text('name').primaryKey(),
  value: text('value').notNull(),
});

export const SigningKeyStatus = z.enum(['next', 'active', 'retired', 'revoked']).meta({
  id: 'SigningKeyStatus',
  description: 'next: published, does not sign yet; active: signs; retired: only verifies; revoked: refused.',
});

/** The public key of a pair that signs a project's tokens. */
export const SigningKey = entity('SigningKey', {
  table: signingKeys,
  doc: "The public key of a pair that signs a project's tokens.",
  without: ['updatedAt', 'deletedAt'],
  fields: {
    kid: serverSet(z.string().describe('Its id in the header of tokens.')),
    algorithm: serverSet(z.literal('RS256').describe('The algorithm that it signs with.')),
    status: serverSet(
      SigningKeyStatus.describe('Whether the key signs now, signs next, only verifies, or is revoked.'),
    ),
    isActive: serverSet(z.boolean().describe('Whether it is the key that signs now.')),
    publicKeyPem: serverSet(z.string().describe('The public key as PEM.')),
    issuer: serverSet(z.string().describe('The `iss` of its tokens.')),
    activatedAt: serverSet(iso.nullable().describe('When it started signing.')),
    retiredAt: serverSet(iso.nullable().describe('When it stopped signing.')),
    publishedUntil: serverSet(iso.nullable().describe('Until when it is in the JWKS.')),
  },
  computed: { isActive: sql`${signingKeys.status} = 'active'` },
  sort: ['createdAt'],
  order: 'DESC',
});
