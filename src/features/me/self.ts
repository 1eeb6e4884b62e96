import { and, asc, eq, isNull, sql, type SQL } from 'drizzle-orm';
import type { Executor } from '../../kernel/scoped-db.ts';
import { accounts } from '../identity/account.ts';
import { organizationMembers } from '../memberships/membership.ts';
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
 * A live user with what belongs to them, in one statement: applications ask for it on every page. A user has two
 * accounts at most, so a join repeats little. It is prepared: to plan it takes longer than to run it.
 */
export async function readSelf(tx: Executor, userId: string) {
  const rows = await tx
    .select({ user: users, account: accounts, memberships, isEnrolled: hasFactor(users.id) })
    .from(users)
    .leftJoin(accounts, and(eq(accounts.ownerId, users.id), isNull(accounts.deletedAt)))
    .where(and(eq(users.id, userId), isNull(users.deletedAt)))
    .orderBy(asc(accounts.createdAt), asc(accounts.id))
    .prepare('me')
    .execute();
  const [first] = rows;
  if (!first) return undefined;
  const { user, memberships: joined, isEnrolled } = first;
  return { user, accounts: rows.flatMap(({ account }) => account ?? []), memberships: joined, isEnrolled };
}
