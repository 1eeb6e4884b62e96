import { and, asc, eq, isNull, sql, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import { operatorRows, type OperatorRules } from '../access/operators.ts';
import { isBound, type Principal } from '../kernel/context.ts';
import { iso, uuid } from '../kernel/input/values.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { Account, accounts } from '../schema/people/account.ts';
import { organizationMembers } from '../schema/rights/membership.ts';
import { hasFactor } from '../people/enrolment.ts';
import { organizations } from '../schema/tenants/organization.ts';
import { roles } from '../schema/rights/role.ts';
import { User, users } from '../schema/people/user.ts';

export const Me = z
  .object({
    user: User.schema.describe('The user.'),
    accounts: z.array(Account.schema).describe('The accounts that you own.'),
    memberships: z
      .array(
        z
          .object({
            organizationId: uuid.describe('Id of the organization.'),
            organizationName: z.string().describe('Display name of the organization.'),
            role: z
              .object({ id: uuid.describe('Id of the role.'), name: z.string().describe('Its name.') })
              .meta({ id: 'MembershipRole', description: 'The role of a member.' }),
          })
          .meta({ id: 'Membership', description: 'An organization that the user belongs to.' }),
      )
      .describe('The organizations that you belong to.'),
    emailVerified: z.boolean().describe('Whether your address is verified.'),
    emailVerificationDeadline: iso
      .nullable()
      .describe('Until when your address must be verified; null once it is.'),
    mfa: z
      .object({
        enabled: z.boolean().describe('Whether you have a second factor.'),
        verified: z.boolean().describe('Whether this session has given the second factor.'),
      })
      .meta({
        id: 'MyMfa',
        description: 'Whether a second factor exists, and whether this session has given it.',
      }),
    isOperator: z.boolean().describe('Whether you are an operator of the installation.'),
    organizationId: uuid
      .nullable()
      .describe(
        'Id of the organization through whose provider you signed in: the session reaches this organization alone, and the answer names no account and no other one. Null: none.',
      ),
  })
  .meta({ id: 'Me', description: 'The signed-in user with their accounts and memberships.' });

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
 * Returns a user who is not deleted, with their accounts and memberships. One statement reads them, because
 * applications call this on every page. A user has at most two accounts, so the join repeats little. The statement is
 * prepared, because planning would take longer than running it.
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

type Self = NonNullable<Awaited<ReturnType<typeof readSelf>>>;

/**
 * Returns what the session may show about its user. An administrator of an organization's identity provider can sign in
 * as any of its members, so a session that is bound to the organization shows nothing outside of it.
 */
export function visibleToSession(
  caller: Principal,
  self: Self,
): Self & { readonly organizationId: string | null } {
  if (!isBound(caller)) return { ...self, organizationId: null };
  const organizationId = caller.pinned?.id ?? null;
  const memberships = self.memberships.filter((membership) => membership.organizationId === organizationId);
  return { ...self, accounts: [], memberships, isOperator: false, organizationId };
}
