import { and, eq, sql } from 'drizzle-orm';
import { index, integer, pgTable, text as textColumn, unique, uuid as uuidColumn } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { parseNetwork } from '../../access/cidrs.ts';
import { bytea, deletedIndex, rowColumns, tenantColumn, time } from '../../db/columns.ts';
import { entity, fixedOptional, serverSet } from '../../kernel/entity.ts';
import { iso, isoInput, refusal, text, uuid } from '../../values.ts';
import { Role } from '../roles/role.ts';
import { User, users } from '../users/user.ts';

/** The tenants of keys, as they are kept and answered. */
export const keyTenants = ['ProjectUser', 'AccountProject', 'OrganizationProject'] as const;

/** Credentials of machines. The tenant is the project, whatever the kind of scope. */
export const apiKeys = pgTable(
  'api_keys',
  {
    ...rowColumns(),
    tenantId: tenantColumn(),
    clientId: uuidColumn('client_id').notNull(),
    /** Fixed at creation; `scope_id` as answered, e.g. `<organization>:<project>`. */
    scopeTenant: textColumn('scope_tenant', { enum: keyTenants }).notNull(),
    scopeId: textColumn('scope_id').notNull(),
    roleId: uuidColumn('role_id'),
    roleTenantId: uuidColumn('role_tenant_id'),
    /** `sub` of its tokens: the user of a ProjectUser scope, else the creator. */
    userId: uuidColumn('user_id')
      .notNull()
      .references(() => users.id),
    name: textColumn('name'),
    description: textColumn('description'),
    expiresAt: time('expires_at'),
    allowedCidrs: textColumn('allowed_cidrs').array().notNull(),
    lastUsedAt: time('last_used_at'),
    lastUsedIp: textColumn('last_used_ip'),
    createdBy: uuidColumn('created_by').notNull(),
    revokedBy: uuidColumn('revoked_by'),
    revokedAt: time('revoked_at'),
    revokedReason: textColumn('revoked_reason'),
    rotatedAt: time('rotated_at'),
    previousSecretExpiresAt: time('previous_secret_expires_at'),
    /** How many days before its end it was last warned of. */
    expiryNoticeDays: integer('expiry_notice_days'),
  },
  (table) => [
    deletedIndex('api_keys', table),
    unique('api_keys_client_id').on(table.clientId),
    index('api_keys_tenant').on(table.tenantId, table.createdAt, table.id),
    index('api_keys_role').on(table.roleId),
    index('api_keys_user').on(table.userId),
    // Keys that somebody made for another user. Every mutation that can give rights looks for them; there are few.
    index('api_keys_of_others')
      .on(table.tenantId)
      .where(
        sql`scope_tenant = 'ProjectUser' and created_by <> user_id and revoked_at is null and deleted_at is null`,
      ),
    index('api_keys_expires')
      .on(table.expiresAt)
      .where(sql`expires_at is not null`),
  ],
);

/** HMACs of secrets: the current one, and for the overlap of a rotation the one before. No answer reads this. */
export const apiKeySecrets = pgTable(
  'api_key_secrets',
  {
    id: uuidColumn('id').primaryKey(),
    keyId: uuidColumn('key_id')
      .notNull()
      .references(() => apiKeys.id, { onDelete: 'cascade' }),
    hash: bytea('hash').notNull(),
    createdAt: time('created_at').notNull().defaultNow(),
    expiresAt: time('expires_at'),
  },
  (table) => [index('api_key_secrets_key').on(table.keyId)],
);

export const ApiKeyStatus = z
  .enum(['active', 'revoked', 'expired'])
  .meta({ id: 'ApiKeyStatus', description: 'Whether a key can be exchanged, and if not, why.' });

/** Keys answer with their scope as the token exchange takes it, in PascalCase. */
export const ApiKeyScope = z
  .object({
    tenant: z.enum(keyTenants).meta({ id: 'ApiKeyTenant', description: 'The kind of scope of a key.' }),
    id: z.string().describe('Two UUIDs joined by `:`.'),
  })
  .meta({ id: 'ApiKeyScope', description: 'Where a key counts, in the spelling of the token exchange.' });

const cidr = z.string().check(({ value, issues }) => {
  if (!value.includes('/') || !parseNetwork(value)) issues.push(refusal('format', value));
});

const nullableText = (max: number) => text(0, max, { multiline: max > 255 }).nullable();

/** Status follows from the row and the database's clock, so it is right at the very second of expiry. */
export const statusSql = sql<string>`case when ${apiKeys.revokedAt} is not null then 'revoked' when ${apiKeys.expiresAt} <= now() then 'expired' else 'active' end`;

/** A credential pair for machines, exchanged for short-lived tokens (spec "API key"). */
export const ApiKey = entity('ApiKey', {
  table: apiKeys,
  doc: 'A credential pair for machines, exchanged for short-lived tokens.',
  fields: {
    clientId: serverSet(uuid.describe('The public half of the credentials.')),
    scope: serverSet(ApiKeyScope.describe('Where it counts.')),
    roleId: fixedOptional(uuid.nullable().describe('The role that the key has; null: what its user may do.')),
    userId: serverSet(
      uuid.describe('Whom its tokens name: the user of a ProjectUser key, else who made it.'),
    ),
    name: fixedOptional(
      nullableText(255).meta({ description: 'What people call the key.', examples: ['Order import'] }),
    ),
    description: fixedOptional(
      nullableText(1000).meta({
        description: 'What the key is for.',
        examples: ['Used by the nightly import.'],
      }),
    ),
    expiresAt: fixedOptional(
      iso.nullable().describe('When it stops working; null: never.'),
      isoInput.nullable(),
    ),
    allowedCidrs: fixedOptional(
      z.array(z.string()).describe('Networks from which it may be exchanged; empty: all.'),
      z.array(cidr).max(20),
    ),
    status: serverSet(ApiKeyStatus.describe('Whether it can be exchanged.')),
    lastUsedAt: serverSet(iso.nullable().describe('When it was last exchanged.')),
    lastUsedIp: serverSet(z.string().nullable().describe('The address from which it was last exchanged.')),
    createdBy: serverSet(uuid.describe('Id of the user who made it.')),
    revokedBy: serverSet(uuid.nullable().describe('Id of the user who revoked it.')),
    revokedAt: serverSet(iso.nullable().describe('When it was revoked; null if it was not.')),
    revokedReason: serverSet(z.string().nullable().describe('Why it was revoked.')),
    rotatedAt: serverSet(iso.nullable().describe('When its secret was last replaced.')),
    previousSecretExpiresAt: serverSet(
      iso.nullable().describe('Until when the old secret works too; null outside of a rotation.'),
    ),
  },
  computed: {
    scope: sql`json_build_object('tenant', ${apiKeys.scopeTenant}, 'id', ${apiKeys.scopeId})`,
    status: statusSql,
  },
  // A projectUser scope sees that user's own keys; a project sees all of its keys.
  within: (scope) =>
    (scope.userId
      ? and(
          eq(apiKeys.tenantId, scope.nodeId),
          eq(apiKeys.scopeTenant, 'ProjectUser'),
          eq(apiKeys.userId, scope.userId),
        )
      : eq(apiKeys.tenantId, scope.nodeId)) as ReturnType<typeof eq>,
  relations: {
    role: { kind: 'one', to: () => Role, column: 'roleId' },
    user: { kind: 'one', to: () => User, column: 'userId' },
  },
  search: ['name', 'description', 'clientId'],
  sort: ['createdAt', 'name', 'lastUsedAt', 'expiresAt'],
});
