import { sql } from 'drizzle-orm';
import type { Changes } from '../db/changes.ts';
import { createFreshCache } from '../db/fresh-cache.ts';
import { preparedRowsOf } from '../db/prepared.ts';
import { instant } from '../db/rows.ts';
import { deadlineOf } from './credentials.ts';
import type { ScopeRef } from '../kernel/scope.ts';
import type { Executor } from '../kernel/scoped-db.ts';

/** What an exchange asks of a key before its transaction. It may be remembered, so only the transaction decides. */
export interface KnownKey {
  readonly id: string;
  readonly clientId: string;
  readonly projectId: string;
  readonly nodeScope: ScopeRef;
  readonly scope: { readonly tenant: string; readonly id: string };
  readonly roleId: string | null;
  readonly userId: string;
  readonly userName: string;
  readonly userAlive: boolean;
  /** As in `KeyState`. */
  readonly overdueFrom: Date | null;
  readonly accountOwnerId: string | null;
  readonly expiresAt: Date | null;
  readonly expired: boolean;
  readonly revoked: boolean;
  readonly allowedCidrs: readonly string[];
  /** As the database writes it, to be compared with itself. */
  readonly rotatedAt: string | null;
  /** Those that had not ended when this was read; `ends`: there is a time at which it will. */
  readonly secrets: readonly { readonly id: string; readonly hash: Buffer; readonly ends: boolean }[];
  /** The key that signs the project's tokens. */
  readonly kid: string;
  /** On the clock of `performance`: until when its last use need not be written down again. */
  useNotedUntil: number;
}

export interface KnownKeys {
  /** From memory, if nothing about the key changed since. */
  peek(clientId: string): KnownKey | undefined;
  /** From the database; remembered. Null: no such key. */
  read(clientId: string): Promise<KnownKey | null>;
}

/** The last use of a key is written once a minute, so that a busy key is not one hot row. */
export const USE_NOTED_MS = 60_000;

interface KeyRow {
  id: string;
  project_id: string;
  owner_id: string;
  owner_kind: 'account' | 'organization';
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
  unused_ms: string | number | null;
  rotated_at: string | null;
  kid: string;
  secrets: { id: string; hash: string; ends: boolean }[] | null;
}

export function createKnownKeys(pool: Executor, changes: Changes): KnownKeys {
  const keys = createFreshCache<KnownKey>(changes, 50_000);

  async function load(clientId: string): Promise<KnownKey | null> {
    const [row] = await preparedRowsOf<KeyRow>(
      pool,
      sql`
      select k.id, k.tenant_id as project_id, o.id as owner_id, o.kind as owner_kind, k.scope_tenant, k.scope_id, k.role_id,
        k.user_id, u.name as user_name, u.status = 'active' and u.deleted_at is null as user_alive,
        least(${deadlineOf('account_owner')}, case when k.scope_tenant = 'ProjectUser' then ${deadlineOf('u')} end) as overdue_from,
        account.owner_id as account_owner_id, k.expires_at, coalesce(k.expires_at <= now(), false) as expired, k.revoked_at is not null as revoked, k.allowed_cidrs,
        extract(epoch from now() - k.last_used_at) * 1000 as unused_ms, k.rotated_at::text as rotated_at,
        (select json_agg(json_build_object('id', s.id, 'hash', encode(s.hash, 'hex'), 'ends', s.expires_at is not null))
          from api_key_secrets s where s.key_id = k.id and (s.expires_at is null or s.expires_at > now())) as secrets,
        (select sk.kid from signing_keys sk where sk.tenant_id = k.tenant_id and sk.status = 'active') as kid
      from api_keys k join nodes n on n.id = k.tenant_id and n.deleted_at is null
      join nodes o on o.id = n.parent_id and o.deleted_at is null
      join users u on u.id = k.user_id
      left join accounts account on account.id = o.id left join users account_owner on account_owner.id = account.owner_id
      where k.client_id = ${clientId}::uuid and k.deleted_at is null`,
    );
    return row ? known(clientId, row) : null;
  }

  return {
    peek: (clientId) => keys.peek(clientId),
    // What is remembered was found wanting, or there is nothing.
    read: (clientId) =>
      keys.renew(clientId, async () => {
        const value = await load(clientId);
        // Whatever changes the key, its secrets or the keys that sign changes rights in the project, and so its node.
        if (!value) return null;
        const { id, projectId, userId, accountOwnerId } = value;
        const people = new Set([userId, accountOwnerId ?? userId]);
        const topics = [`node:${projectId}`, ...[...people].map((one) => `user:${one}`), `credential:${id}`];
        return { value, topics };
      }),
  };
}

const known = (clientId: string, row: KeyRow): KnownKey => ({
  id: row.id,
  clientId,
  projectId: row.project_id,
  nodeScope: { tenant: `${row.owner_kind}Project`, id: `${row.owner_id}:${row.project_id}` },
  scope: { tenant: row.scope_tenant, id: row.scope_id },
  roleId: row.role_id,
  userId: row.user_id,
  userName: row.user_name,
  userAlive: row.user_alive,
  overdueFrom: row.overdue_from === null ? null : instant(row.overdue_from),
  accountOwnerId: row.account_owner_id,
  expiresAt: row.expires_at === null ? null : instant(row.expires_at),
  expired: row.expired,
  revoked: row.revoked,
  allowedCidrs: row.allowed_cidrs,
  rotatedAt: row.rotated_at,
  secrets: (row.secrets ?? []).map(({ id, hash, ends }) => ({ id, hash: Buffer.from(hash, 'hex'), ends })),
  kid: row.kid,
  useNotedUntil: row.unused_ms === null ? 0 : performance.now() + USE_NOTED_MS - Number(row.unused_ms),
});
