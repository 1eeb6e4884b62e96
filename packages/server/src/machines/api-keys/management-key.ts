import { and, eq, isNull, sql } from 'drizzle-orm';
import { ORGANIZATION_OWNER } from '../../schema/rights/built-in-ids.ts';
import { mustComeThroughProvider } from '../../access/credentials/company-address.ts';
import { withoutRls } from '../../db/tenancy/rls.ts';
import { fail } from '../../errors.ts';
import { callerOf, isManagementKey, type Principal } from '../../kernel/context.ts';
import { canonicalTenant, type ScopeInput } from '../../kernel/scope.ts';
import { assertHoldsAllInProjects } from '../../members/project-roles.ts';
import { assertHoldsAllOf, isMembership } from '../../members/role-assignment.ts';
import { membershipTableOf, organizationMembers } from '../../schema/rights/membership.ts';
import { organizations } from '../../schema/tenants/organization.ts';
import { users } from '../../schema/people/user.ts';
import type { KeyCreation } from './new-key.ts';

/**
 * Whether the keys of a scope are management keys: API keys of an organization or account. Such a key has no role; it
 * acts as a service user, with the role that the service user has at each call.
 */
export const isManagementScope = ({ tenant }: ScopeInput): boolean => {
  const canonical = canonicalTenant(tenant);
  return canonical === 'organization' || canonical === 'account';
};

/** Whether only a session may rotate this key: the only management key that a key may rotate is itself. */
export const needsSessionToRotate = (
  { scope, id }: { readonly scope: ScopeInput; readonly id: string },
  { credentialId }: Principal,
): boolean => isManagementScope(scope) && id !== credentialId;

/**
 * Locks the membership of the key's service user until the commit, so that a service user who is removed meanwhile
 * leaves no key behind. The caller learns the secret and can act as the service user, so they must hold all that it
 * holds: in the scope, in its projects, and for an account in the organizations that the key reaches.
 * @throws VALIDATION_ERROR, NOT_FOUND, PRIVILEGE_ESCALATION, SSO_REQUIRED
 */
export async function lockServiceUserOf(
  ctx: Omit<KeyCreation, 'input'>,
  userId: string | undefined,
): Promise<void> {
  if (userId === undefined) {
    throw fail('VALIDATION_ERROR', {
      details: [{ path: 'userId', code: 'required' }],
      fix: 'Name a service user of this scope: create one at POST /api/users with kind "service".',
    });
  }
  const { tx, scope } = ctx;
  const memberships = membershipTableOf(scope.level);
  const [locked] = await tx
    .select({ userId: memberships.userId })
    .from(memberships)
    .where(isMembership(memberships, scope.nodeId, userId))
    .for('share');
  const [user] = locked
    ? await tx
        .select({ id: users.id })
        .from(users)
        .where(
          and(
            eq(users.id, userId),
            eq(users.kind, 'service'),
            eq(users.managedBy, scope.nodeId),
            isNull(users.deletedAt),
          ),
        )
    : [];
  if (!user)
    throw fail('NOT_FOUND', { fix: 'Name a service user that this organization or account created.' });
  // A key that rotates its own secret gains no rights.
  if (isManagementKey(callerOf(ctx))) return;
  await assertHoldsAllOf(ctx, userId);
  await assertHoldsAllInProjects(ctx, userId);
  if (scope.level === 'account') await assertHoldsAllInOrganizations(ctx, userId);
}

/**
 * Asserts that the caller holds all that the service user holds, in each organization of the account to which the
 * service user belongs. An owner of the organization holds everything there, so nothing is compared. Callers who must
 * sign in through the identity provider of an organization are refused, because the key would bypass it.
 */
const assertHoldsAllInOrganizations = (ctx: Omit<KeyCreation, 'input'>, userId: string): Promise<void> =>
  withoutRls(ctx.tx, async () => {
    const { tx, scope, services } = ctx;
    const caller = callerOf(ctx);
    const callerId = caller.userId;
    const reached = await tx
      .select({
        id: organizations.id,
        isOwned: sql<boolean>`exists (select 1 from organization_members o where o.tenant_id = ${organizations.id}
          and o.user_id = ${callerId}::uuid and o.role_id = ${ORGANIZATION_OWNER}::uuid)`,
      })
      .from(organizations)
      .innerJoin(
        organizationMembers,
        and(eq(organizationMembers.tenantId, organizations.id), eq(organizationMembers.userId, userId)),
      )
      .where(and(eq(organizations.accountId, scope.nodeId), isNull(organizations.deletedAt)))
      .orderBy(organizations.id);
    for (const { id, isOwned } of reached) {
      const inside = await services.resolver.scopeOf({ tenant: 'organization', id }, tx);
      if (!inside) continue;
      if (await mustComeThroughProvider(tx, caller, inside, isOwned ? ORGANIZATION_OWNER : null))
        throw fail('SSO_REQUIRED');
      if (isOwned) continue;
      const rights = await services.resolver.rightsOfUser(inside, callerId, tx);
      const there = { ...ctx, scope: inside, rights };
      await assertHoldsAllOf(there, userId);
      await assertHoldsAllInProjects(there, userId);
    }
  });
