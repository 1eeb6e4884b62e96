import { sql } from 'drizzle-orm';
import { preparedRowsOf } from '../../db/statements/prepared.ts';
import { ORGANIZATION_OWNER } from '../../schema/rights/built-in-ids.ts';
import { isBound, type Principal } from '../../kernel/context.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';

/** SQL condition: `d` is a verified domain of the connection with this alias. */
export const isDomainOf = (connection: string) =>
  sql.raw(`d.tenant_id = ${connection}.tenant_id and d.id = any(${connection}.domain_ids)
    and d.status = 'verified' and d.deleted_at is null`);

/**
 * SQL condition: the method `m` of a user is a verified address in the domain `d`. Written exactly as in the index, so
 * that PostgreSQL uses it.
 */
export const isAddressInDomain = sql.raw(
  `m.is_verified and split_part(reverse(m.label), '@', 1) = reverse(d.domain)`,
);

/** SQL condition: the connection `c` is active, and the organization requires it for sign-in. */
export const isEnforced = sql.raw(`c.enforced and c.status = 'active' and c.deleted_at is null`);

/**
 * Whether an owner may enter without the provider. An owner with two factors may, because a failing provider must not
 * lock out the whole organization.
 */
export const mayBypassProvider = ({ acr }: Principal, memberRoleId: string | null): boolean =>
  acr === 'aal2' && memberRoleId === ORGANIZATION_OWNER;

/**
 * Whether the organization requires its provider for this caller, who did not sign in through it. For operations of
 * another scope that affect the organization; in the organization's own scope every call is checked.
 */
export async function mustComeThroughProvider(
  db: Executor,
  caller: Principal,
  { enforcedDomains }: Pick<ResolvedScope, 'enforcedDomains'>,
  memberRoleId: string | null,
): Promise<boolean> {
  if (isBound(caller) || caller.impersonator || mayBypassProvider(caller, memberRoleId)) return false;
  return hasAddressIn(db, caller, enforcedDomains);
}

/** Whether the user of a session has a verified address in one of the domains. */
export async function hasAddressIn(
  db: Executor,
  { type, userId }: Pick<Principal, 'type' | 'userId'>,
  domains: readonly string[],
): Promise<boolean> {
  if (type !== 'session' || domains.length === 0) return false;
  const rows = await preparedRowsOf(
    db,
    sql`select 1 from authentication_methods where user_id = ${userId}::uuid and is_verified
      and split_part(reverse(label), '@', 1) = any (select reverse(d) from unnest(${`{${domains.join()}}`}::text[]) d) limit 1`,
  );
  return rows.length > 0;
}
