import { sql } from 'drizzle-orm';
import { index, pgTable, text, unique, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { time } from '../../db/query/columns.ts';
import { nodes } from '../../db/tenancy/nodes.ts';

/** Public keys that verify tokens, one set per issuer: the service and every project. */
export const signingKeys = pgTable(
  'signing_keys',
  {
    id: uuid('id').primaryKey(),
    /** The project, or the system node for the service. */
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

/** Private keys, AES-256-GCM under the key-encryption key. No answer reads this table. */
export const signingKeySecrets = pgTable('signing_key_secrets', {
  keyId: uuid('key_id')
    .primaryKey()
    .references(() => signingKeys.id, { onDelete: 'cascade' }),
  sealed: text('sealed').notNull(),
});

/** Values of the installation, such as its id and the canary that the key-encryption key must open. */
export const installation = pgTable('installation', {
  name: text('name').primaryKey(),
  value: text('value').notNull(),
});
