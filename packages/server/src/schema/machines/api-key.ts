import { and, eq, sql } from 'drizzle-orm';
import { index, integer, pgTable, text as textColumn, unique, uuid as uuidColumn } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { parseNetwork } from '../../kernel/input/cidrs.ts';
import { bytea, deletedIndex, rowColumns, tenantColumn, time, userColumn } from '../columns.ts';
import { entity, fixedOptional, serverSet } from '../../kernel/entity.ts';
import { iso, isoInput, refusal, text, uuid } from '../../kernel/input/values.ts';
import { AccessTokenProfileName, accessTokenProfiles } from '../apps/access-token-profile.ts';
import { Role } from '../rights/role.ts';
import { User } from '../people/user.ts';

/** The kinds of scope that a key can have, as they are stored and as responses show them. */
export const keyTenants = [
  'ProjectUser',
  'AccountProject',
  'OrganizationProject',
  'Organization',
  'Account',
] as const;

/** Credentials of machines. The tenant is the project, slice, organization or account of the scope. */
export const apiKeys = pgTable(
  'api_keys',
  {
    ...rowColumns(),
    tenantId: tenantColumn(),
    clientId: uuidColumn('client_id').notNull(),
    /** Fixed at creation; `scope_id` is stored as in responses, e.g. `<organization>:<project>`. */
    scopeTenant: textColumn('scope_tenant', { enum: keyTenants }).notNull(),
    scopeId: textColumn('scope_id').notNull(),
    roleId: uuidColumn('role_id'),
    roleTenantId: uuidColumn('role_tenant_id'),
    /**
     * `sub` of the key's tokens: the user of a ProjectUser scope, the service user of a management key, else the
     * creator.
     */
    userId: userColumn(),
    name: textColumn('name'),
    description: textColumn('description'),
    expiresAt: time('expires_at'),
    allowedCidrs: textColumn('allowed_cidrs').array().notNull(),
    accessTokenProfile: textColumn('access_token_profile', { enum: accessTokenProfiles })
      .notNull()
      .default('doorward'),
    lastUsedAt: time('last_used_at'),
    lastUsedIp: textColumn('last_used_ip'),
    createdBy: uuidColumn('created_by').notNull(),
    /** The key whose token created this key. It may be deleted first. */
    createdByKeyId: uuidColumn('created_by_key_id'),
    revokedBy: uuidColumn('revoked_by'),
    revokedAt: time('revoked_at'),
    revokedReason: textColumn('revoked_reason'),
    rotatedAt: time('rotated_at'),
    previousSecretExpiresAt: time('previous_secret_expires_at'),
    /** The last expiry notice that was sent, in days before the expiry. */
    expiryNoticeDays: integer('expiry_notice_days'),
  },
  (table) => [
    deletedIndex('api_keys', table),
    unique('api_keys_client_id').on(table.clientId),
    index('api_keys_tenant').on(table.tenantId, table.createdAt, table.id),
    index('api_keys_role').on(table.roleId),
    index('api_keys_user').on(table.userId),
    index('api_keys_created_by_key')
      .on(table.createdByKeyId)
      .where(sql`created_by_key_id is not null`),
    // Keys created for another user: every mutation that can grant rights looks for these few.
    index('api_keys_of_others')
      .on(table.tenantId)
      .where(
        sql`scope_tenant = 'ProjectUser' and created_by <> user_id and revoked_at is null and deleted_at is null`,
      ),
    index('api_keys_of_service_users')
      .on(table.tenantId)
      .where(sql`scope_tenant in ('Organization', 'Account') and revoked_at is null and deleted_at is null`),
    index('api_keys_expires')
      .on(table.expiresAt)
      .where(sql`expires_at is not null`),
  ],
);

/**
 * HMACs of secrets: the current one and, during the overlap of a rotation, the previous one. No response reads this
 * table.
 */
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

/** The scope of a key, in the PascalCase spelling that the token exchange accepts. */
export const ApiKeyScope = z
  .object({
    tenant: z.enum(keyTenants).meta({ id: 'ApiKeyTenant', description: 'The kind of scope of a key.' }),
    id: z.string().describe('One UUID (organization, account), or two joined by `:`.'),
  })
  .meta({ id: 'ApiKeyScope', description: 'Where a key is valid, in the spelling of the token exchange.' });

const cidr = z.string().check(({ value, issues }) => {
  if (!value.includes('/') || !parseNetwork(value)) issues.push(refusal('format', value));
});

const nullableText = (max: number) => text(0, max, { multiline: max > 255 }).nullable();

/** SQL: the status, computed from the row and the database's clock, so that it changes exactly at the expiry. */
export const statusSql = sql<string>`case when ${apiKeys.revokedAt} is not null then 'revoked' when ${apiKeys.expiresAt} <= now() then 'expired' else 'active' end`;

/** A credential pair for machines, exchanged for short-lived tokens (identity §11). */
export const ApiKey = entity('ApiKey', {
  table: apiKeys,
  doc: 'A credential pair for machines, exchanged for short-lived tokens.',
  fields: {
    clientId: serverSet(uuid.describe('The public half of the credentials.')),
    scope: serverSet(ApiKeyScope.describe('Where the key is valid.')),
    roleId: fixedOptional(
      uuid.nullable().describe('The role that the key has; null: the key may do what its user may do.'),
    ),
    userId: serverSet(
      uuid.describe(
        'The user whom its tokens name: the user of a ProjectUser key, the service user of a key of an organization or account, else its creator.',
      ),
    ),
    name: fixedOptional(
      nullableText(255).meta({ description: 'Display name of the key.', examples: ['Order import'] }),
    ),
    description: fixedOptional(
      nullableText(1000).meta({
        description: 'What the key is for.',
        examples: ['Used by the nightly import.'],
      }),
    ),
    expiresAt: fixedOptional(
      iso.nullable().describe('When the key stops working; null: never.'),
      isoInput.nullable(),
    ),
    allowedCidrs: fixedOptional(
      z.array(z.string()).describe('Networks from which the key may be exchanged; empty: all.'),
      z.array(cidr).max(20),
    ),
    accessTokenProfile: fixedOptional(
      AccessTokenProfileName.describe(
        'Claims of its tokens. rfc9068: for verifiers of the standard; they have `client_id`, and no `scope`.',
      ),
    ),
    status: serverSet(ApiKeyStatus.describe('Whether the key can be exchanged.')),
    lastUsedAt: serverSet(iso.nullable().describe('When the key was last exchanged.')),
    lastUsedIp: serverSet(
      z.string().nullable().describe('The address from which the key was last exchanged.'),
    ),
    createdBy: serverSet(uuid.describe('Id of the user who created the key.')),
    createdByKeyId: serverSet(
      uuid.nullable().describe('Id of the key whose token created this one; null: a session did.'),
    ),
    revokedBy: serverSet(uuid.nullable().describe('Id of the user who revoked the key.')),
    revokedAt: serverSet(iso.nullable().describe('When the key was revoked; null if it was not.')),
    revokedReason: serverSet(z.string().nullable().describe('Why the key was revoked.')),
    rotatedAt: serverSet(iso.nullable().describe('When the secret was last rotated.')),
    previousSecretExpiresAt: serverSet(
      iso.nullable().describe('Until when the previous secret also works; null outside a rotation.'),
    ),
  },
  computed: {
    scope: sql`json_build_object('tenant', ${apiKeys.scopeTenant}, 'id', ${apiKeys.scopeId})`,
    status: statusSql,
  },
  // The scope of a project user contains that user's own keys; a project contains all of its keys.
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
