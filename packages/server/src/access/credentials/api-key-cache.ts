import { sql } from 'drizzle-orm';
import type { Changes } from '../../db/cache/changes.ts';
import { createFreshCache } from '../../db/cache/fresh-cache.ts';
import { preparedRowsOf } from '../../db/statements/prepared.ts';
import { instant } from '../../db/statements/rows.ts';
import {
  grantAllowsKeys,
  issuerId,
  ownerAccountId,
  ownerNotSuspended,
  serviceUserStays,
  sidesOfGrant,
  verificationDeadlineOf,
} from './credentials.ts';
import type { ScopeRef } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';

/**
 * The state of a key for the checks before an exchange. It may come from the cache, so the transaction makes the final
 * decision.
 */
export interface CachedApiKey {
  readonly id: string;
  readonly clientId: string;
  /** The project, organization or account of the key. */
  readonly nodeId: string;
  /** See `KeyState`. */
  readonly issuerId: string;
  readonly nodeScope: ScopeRef;
  readonly scope: { readonly tenant: string; readonly id: string };
  readonly roleId: string | null;
  readonly userId: string;
  readonly userName: string;
  readonly userAlive: boolean;
  /**
   * False for a key of a suspended organization, and for a key of a slice whose grant is suspended or no longer
   * includes keys.
   */
  readonly isGranted: boolean;
  /** The nodes above the key's node and, for a slice, both sides of the grant. The key also depends on their state. */
  readonly owners: readonly string[];
  /** See `KeyState`. */
  readonly overdueFrom: Date | null;
  readonly accountOwnerId: string | null;
  readonly expiresAt: Date | null;
  readonly expired: boolean;
  readonly revoked: boolean;
  readonly allowedCidrs: readonly string[];
  /** The token profile of the key; the cache only passes it on. */
  readonly accessTokenProfile: 'doorward' | 'rfc9068';
  /** As text from the database, compared for equality only. */
  readonly rotatedAt: string | null;
  /** The secrets that had not expired when they were read. `ends`: the secret expires at some time. */
  readonly secrets: readonly { readonly id: string; readonly hash: Buffer; readonly ends: boolean }[];
  /** The key that signs the issuer's tokens. */
  readonly kid: string;
  /** Until this time (`performance.now()`), further uses of the key need not be recorded. */
  useNotedUntil: number;
}

export interface ApiKeyCache {
  /** Returns the key from the cache if it has not changed since it was read. */
  peek(clientId: string): CachedApiKey | undefined;
  /** Reads the key from the database and caches it; null if there is no such key. */
  read(clientId: string): Promise<CachedApiKey | null>;
}

/** The last use of a key is recorded once a minute, so that a busy key does not become a hot row. */
export const USE_NOTED_MS = 60_000;

interface KeyRow {
  id: string;
  node_id: string;
  owner_id: string | null;
  owner_kind: 'account' | 'organization' | 'project' | null;
  scope_tenant: string;
  scope_id: string;
  role_id: string | null;
  user_id: string;
  user_name: string;
  user_alive: boolean;
  overdue_from: string | null;
  account_owner_id: string | null;
  expires_at: string | null;
  expired: boolean;
  revoked: boolean;
  allowed_cidrs: string[];
  access_token_profile: CachedApiKey['accessTokenProfile'];
  unused_ms: string | number | null;
  rotated_at: string | null;
  kid: string;
  issuer_id: string;
  is_granted: boolean;
  owners: (string | null)[];
  secrets: { id: string; hash: string; ends: boolean }[] | null;
}

export function createApiKeyCache(pool: Executor, changes: Changes): ApiKeyCache {
  const keys = createFreshCache<CachedApiKey>(changes, 50_000);

  async function load(clientId: string): Promise<CachedApiKey | null> {
    const [row] = await preparedRowsOf<KeyRow>(
      pool,
      sql`
      select k.id, k.tenant_id as node_id, o.id as owner_id, o.kind as owner_kind, k.scope_tenant, k.scope_id, k.role_id,
        k.user_id, u.name as user_name, u.status = 'active' and u.deleted_at is null and ${serviceUserStays} as user_alive,
        least(${verificationDeadlineOf('account_owner')}, case when k.scope_tenant = 'ProjectUser' then ${verificationDeadlineOf('u')} end) as overdue_from,
        account.owner_id as account_owner_id, k.expires_at, coalesce(k.expires_at <= now(), false) as expired, k.revoked_at is not null as revoked, k.allowed_cidrs, k.access_token_profile,
        extract(epoch from now() - k.last_used_at) * 1000 as unused_ms, k.rotated_at::text as rotated_at,
        (select json_agg(json_build_object('id', s.id, 'hash', encode(s.hash, 'hex'), 'ends', s.expires_at is not null))
          from api_key_secrets s where s.key_id = k.id and (s.expires_at is null or s.expires_at > now())) as secrets,
        (select sk.kid from signing_keys sk where sk.status = 'active' and sk.tenant_id = ${issuerId}) as kid,
        ${issuerId} as issuer_id, ${ownerNotSuspended} and ${grantAllowsKeys} as is_granted,
        array_append(${sidesOfGrant}, n.parent_id) as owners
      from api_keys k join nodes n on n.id = k.tenant_id and n.deleted_at is null
      left join nodes o on o.id = n.parent_id
      join users u on u.id = k.user_id
      left join accounts account on account.id = ${ownerAccountId} left join users account_owner on account_owner.id = account.owner_id
      where k.client_id = ${clientId}::uuid and k.deleted_at is null
        -- An organization may outlive the account that founded it.
        and (n.kind <> 'project' or o.deleted_at is null)`,
    );
    return row ? cachedKey(clientId, row) : null;
  }

  return {
    peek: (clientId) => keys.peek(clientId),
    // Called only if there is no cached entry, or the caller did not accept it.
    read: (clientId) =>
      keys.renew(clientId, async () => {
        const value = await load(clientId);
        // A change of the key, its secrets or the signing keys also invalidates the node of the project.
        if (!value) return null;
        const { id, nodeId, issuerId, userId, accountOwnerId, owners } = value;
        const userIds = new Set([userId, accountOwnerId ?? userId]);
        const topics = [
          `node:${nodeId}`,
          ...owners.map((owner) => `node:${owner}`),
          ...(issuerId === nodeId ? [] : [`node:${issuerId}`]),
          ...(issuerId === nodeId ? [] : [`keys:${issuerId}`]),
          ...[...userIds].map((user) => `user:${user}`),
          `credential:${id}`,
        ];
        return { value, topics };
      }),
  };
}

function nodeScopeOf({ scope_tenant, scope_id, node_id, owner_id, owner_kind }: KeyRow): ScopeRef {
  if (scope_tenant === 'Organization') return { tenant: 'organization', id: node_id };
  if (scope_tenant === 'Account') return { tenant: 'account', id: node_id };
  // A key of a slice: its scope id is already the pair of customer and project.
  if (owner_kind === 'project') return { tenant: 'organizationProject', id: scope_id };
  return { tenant: `${owner_kind as 'account' | 'organization'}Project`, id: `${owner_id}:${node_id}` };
}

const cachedKey = (clientId: string, row: KeyRow): CachedApiKey => ({
  id: row.id,
  clientId,
  nodeId: row.node_id,
  issuerId: row.issuer_id,
  nodeScope: nodeScopeOf(row),
  scope: { tenant: row.scope_tenant, id: row.scope_id },
  roleId: row.role_id,
  userId: row.user_id,
  userName: row.user_name,
  userAlive: row.user_alive,
  isGranted: row.is_granted,
  owners: row.owners.filter((owner) => owner !== null),
  overdueFrom: row.overdue_from === null ? null : instant(row.overdue_from),
  accountOwnerId: row.account_owner_id,
  expiresAt: row.expires_at === null ? null : instant(row.expires_at),
  expired: row.expired,
  revoked: row.revoked,
  allowedCidrs: row.allowed_cidrs,
  accessTokenProfile: row.access_token_profile,
  rotatedAt: row.rotated_at,
  secrets: (row.secrets ?? []).map(({ id, hash, ends }) => ({ id, hash: Buffer.from(hash, 'hex'), ends })),
  kid: row.kid,
  useNotedUntil: row.unused_ms === null ? 0 : performance.now() + USE_NOTED_MS - Number(row.unused_ms),
});
