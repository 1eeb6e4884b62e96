import { operatorRows, type OperatorRules } from '../../access/operators.ts';
import { and, asc, eq, isNull, sql, type SQL } from 'drizzle-orm';
import type { Executor } from '../../kernel/scoped-db.ts';
import { accounts } from '../../domain/identity/account.ts';
import { organizationMembers } from '../../domain/memberships/membership.ts';
import { hasFactor } from '../mfa/mfa-factor.ts';
import { organizations } from '../organizations/organization.ts';
import { roles } from '../roles/role.ts';
import { users } from '../users/user.ts';

interface Membership {
  readonly organizationId: string;
  readonly organizationName: string;
  readonly role: { readonly id: string; readonly name: string };
}

const memberships: SQL<Membership[]> = sql<Membership[]>`coalesce((
  select json_agg(
    json_build_object(
      'organizationId', ${organizations.id},
      'organizationName', ${organizations.name},
      'role', json_build_object('id', ${roles.id}, 'name', ${roles.name}))
    order by ${organizationMembers.createdAt}, ${organizations.id})
  from ${organizationMembers}
  join ${organizations} on ${organizations.id} = ${organizationMembers.tenantId}
  join ${roles} on ${roles.id} = ${organizationMembers.roleId}
  where ${organizationMembers.userId} = ${users.id} and ${organizations.deletedAt} is null), '[]')`;

/**
 * A user who is not deleted, with their accounts and memberships, in one statement, because applications read it on
 * every page. A user has at most two accounts, so the join repeats little. Planning would take longer than running, so
 * the statement is prepared.
 */
export async function readSelf(tx: Executor, userId: string, operatorRules: OperatorRules) {
  const rows = await tx
    .select({
      user: users,
      account: accounts,
      memberships,
      isEnrolled: hasFactor(users.id),
      isOperator: sql<boolean>`exists (select 1 from ${operatorRows(operatorRules)} r where r.user_id = ${users.id})`,
    })
    .from(users)
    .leftJoin(accounts, and(eq(accounts.ownerId, users.id), isNull(accounts.deletedAt)))
    .where(and(eq(users.id, userId), isNull(users.deletedAt)))
    .orderBy(asc(accounts.createdAt), asc(accounts.id))
    .prepare('me')
    .execute();
  const [first] = rows;
  if (!first) return undefined;
  const { user, isEnrolled, isOperator } = first;
  return {
    user,
    accounts: rows.flatMap(({ account }) => account ?? []),
    memberships: first.memberships,
    isEnrolled,
    isOperator,
  };
}
