import { sql, type SQL } from 'drizzle-orm';
import { fail } from '../errors.ts';
import { covers } from '../kernel/input/cidrs.ts';
import { preparedRowsOf } from '../db/statements/prepared.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { unknownSubject } from './grants/grants.ts';
import type { SubjectStatus } from '../kernel/call/caller-rights.ts';
import { INSTALLATION_OPERATOR } from './installation-roles.ts';

/**
 * The rules that decide who is an operator of the installation, and when their rights count
 * (docs/operating/operators.md).
 */
export interface OperatorRules {
  /** A user with one of these addresses as a verified e-mail method is an Installation Operator. */
  readonly addresses: readonly string[];
  /** Networks from which operators may act; if empty, from any network. */
  readonly allowedCidrs: readonly string[];
  readonly requiresSecondFactor: boolean;
  /**
   * Whether the first user of a development installation counts as an operator. That user has only proved that they can
   * read the terminal.
   */
  readonly acceptsFirstUser: boolean;
}

/** Whether the address is in a network from which operators may act. */
export const isOperatorNetwork = (
  { allowedCidrs }: Pick<OperatorRules, 'allowedCidrs'>,
  address: string,
): boolean => allowedCidrs.length === 0 || covers(allowedCidrs, address);

/** Asserts that an operator has signed in with a second factor, if that is required. @throws MFA_REQUIRED */
export function assertOperatorFactor(
  { requiresSecondFactor }: Pick<OperatorRules, 'requiresSecondFactor'>,
  { acr }: { readonly acr: 'aal1' | 'aal2' },
): void {
  if (!requiresSecondFactor || acr === 'aal2') return;
  throw fail('MFA_REQUIRED', {
    fix: 'Add an authenticator app at POST /api/me/mfa/factors, or sign in again with its code.',
  });
}

/**
 * SQL for all operators as a relation: `user_id`, `role_id`, `source`, `created_at`, `created_by`. A configured address
 * counts while it is a verified e-mail method of its user; unverified claims and addresses reported by an identity
 * provider do not count. Managed and deleted users are never operators.
 */
export const operatorRows = ({ addresses, acceptsFirstUser }: OperatorRules): SQL => sql`(
  select r.user_id, r.role_id, r.source, r.created_at, r.created_by from (
    select o.user_id, o.role_id, o.source, o.created_at, o.created_by from operators o
    union all
    select m.user_id, ${INSTALLATION_OPERATOR}::uuid, 'configuration', m.created_at, null::uuid
    from authentication_methods m where m.provider = 'email' and m.is_verified and m.claims
      and m.provider_id = any(array(select json_array_elements_text(${JSON.stringify(addresses)}::json)))
  ) r join users person on person.id = r.user_id and person.deleted_at is null
    and person.kind = 'person' and not person.is_managed
  where r.source <> 'development' or ${acceptsFirstUser}::boolean)`;

/** Loads the operator as a subject of the installation scope. The operator roles are in `projectRoleIds`. */
export async function loadOperator(
  db: Executor,
  rules: OperatorRules,
  userId: string,
): Promise<SubjectStatus> {
  const [row] = await preparedRowsOf<{
    name: string;
    email: string | null;
    emailVerified: boolean;
    alive: boolean;
    roleIds: readonly string[];
  }>(
    db,
    sql`select u.name, u.email, u.email_verified as "emailVerified",
      u.status = 'active' and u.deleted_at is null as alive,
      (select coalesce(json_agg(distinct r.role_id), '[]'::json) from ${operatorRows(rules)} r
        where r.user_id = u.id) as "roleIds"
    from users u where u.id = ${userId}::uuid`,
  );
  if (!row) return unknownSubject;
  const { alive, roleIds, name, email, emailVerified } = row;
  return {
    ...unknownSubject,
    user: { id: userId, name, email, emailVerified, metadata: {} },
    alive,
    projectRoleIds: roleIds,
    related: roleIds.length > 0,
  };
}
