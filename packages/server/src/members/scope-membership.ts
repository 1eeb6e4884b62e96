import { isDeepStrictEqual } from 'node:util';
import { sql, type SQL } from 'drizzle-orm';
import { fail } from '../errors.ts';
import { callerOf } from '../kernel/context.ts';
import type { Run } from '../services.ts';
import type { Changes } from '../kernel/event.ts';
import type { ResolvedScope } from '../kernel/scope.ts';
import { assertHoldsAllOf, isMembership, type MembershipRun } from './role-assignment.ts';
import { assertHoldsAllInProjects } from './project-roles.ts';
import { changeAccountRole, deleteServiceUser, lockServiceUser } from './account.ts';
import { membershipTableOf, projectUserRoles } from '../schema/rights/membership.ts';
import { changeMemberRole, leaveOrganization, lockMember } from './organization.ts';
import { changeProjectRoles, leaveProject, lockProjectUser } from './project.ts';

/* Memberships in the call's scope, with the same functions for accounts, organizations and projects. */

const isOrganization = ({ level }: ResolvedScope): boolean => level === 'organization';

/**
 * Checks the number of roles: a member of an organization and a service user of an account have exactly one role, a
 * user of a project any number.
 *
 * @throws VALIDATION_ERROR
 */
export function assertRoleCount(scope: ResolvedScope, roleIds: readonly string[] | undefined): void {
  if (scope.level === 'project' || roleIds?.length === 1) return;
  const code = roleIds === undefined ? 'required' : roleIds.length === 0 ? 'too_short' : 'too_long';
  throw fail('VALIDATION_ERROR', {
    details: [{ path: 'roleIds', code }],
    fix: 'Name exactly one role: a member of an organization, and a service user of an account, has one.',
  });
}

/** The ids of users to whom the role is assigned in the scope. */
export function assigneesOf(scope: ResolvedScope, roleId: string): SQL {
  const assignments = scope.level === 'project' ? projectUserRoles : membershipTableOf(scope.level);
  return sql`(select ${assignments.userId} from ${assignments} where ${assignments.tenantId} = ${scope.nodeId} and ${assignments.roleId} = ${roleId})`;
}

/**
 * Locks and returns the membership with the scope's own metadata about the user.
 * @throws NOT_FOUND
 */
export const lockMembership = (ctx: MembershipRun, userId: string): Promise<{ metadata: unknown }> => {
  const lock = { account: lockServiceUser, organization: lockMember, project: lockProjectUser };
  return lock[ctx.scope.level as keyof typeof lock](ctx, userId);
};

/**
 * Replaces the roles in the scope. Returns the changes that no separate event records: those of an account's service
 * user.
 *
 * @throws FORBIDDEN, NOT_FOUND, PRIVILEGE_ESCALATION, STEP_UP_REQUIRED, LAST_OWNER
 */
export async function changeRoles(
  ctx: MembershipRun,
  userId: string,
  roleIds: readonly string[],
): Promise<Changes> {
  const { level } = ctx.scope;
  const [first] = roleIds as [string];
  if (level === 'account') return changeAccountRole(ctx, userId, first);
  if (level === 'organization') await changeMemberRole(ctx, userId, first);
  else await changeProjectRoles(ctx, userId, roleIds);
  return {};
}

/**
 * Removes the user from the scope.
 * @throws NOT_FOUND, PRIVILEGE_ESCALATION, STEP_UP_REQUIRED, LAST_OWNER
 */
export async function leave(ctx: MembershipRun & Run, userId: string): Promise<void> {
  const { level } = ctx.scope;
  if (level === 'account') await deleteServiceUser(ctx, userId);
  else if (level === 'organization') await leaveOrganization(ctx, userId);
  else await leaveProject(ctx, userId);
}

/**
 * Replaces the scope's own metadata about the user; in a project it is merged over the metadata of the project's owner.
 * Conditions read it, so users cannot set their own, not even through a key, and the caller must hold everything that
 * the user holds.
 *
 * @throws FORBIDDEN, PRIVILEGE_ESCALATION
 */
export async function changeMetadata(
  ctx: MembershipRun,
  userId: string,
  from: unknown,
  to: Record<string, unknown>,
): Promise<Changes> {
  if (isDeepStrictEqual(from, to)) return {};
  assertNotOwnMetadata(ctx, userId);
  await assertCanChangeMetadata(ctx, userId);
  const table = membershipTableOf(ctx.scope.level);
  await ctx.tx
    .update(table)
    .set({ metadata: to, updatedAt: sql`now()` })
    .where(isMembership(table, ctx.scope.nodeId, userId));
  ctx.invalidate(`user:${userId}`);
  return { metadata: { from, to } };
}

/**
 * Asserts that the caller holds everything that the user holds wherever conditions read the scope's metadata; for an
 * organization also in each of its projects. Only then may the caller change the metadata.
 *
 * @throws PRIVILEGE_ESCALATION
 */
export async function assertCanChangeMetadata(ctx: MembershipRun, userId: string): Promise<void> {
  await assertHoldsAllOf(ctx, userId);
  if (isOrganization(ctx.scope)) await assertHoldsAllInProjects(ctx, userId);
}

/**
 * Asserts that the user is not the caller: users cannot set metadata about themselves, because conditions read it.
 *
 * @throws FORBIDDEN
 */
export function assertNotOwnMetadata(ctx: MembershipRun, userId: string): void {
  if (callerOf(ctx).userId !== userId) return;
  throw fail('FORBIDDEN', {
    fix: 'Ask another administrator to set metadata of your own: conditions read it.',
  });
}
