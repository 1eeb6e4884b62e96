import { isDeepStrictEqual } from 'node:util';
import { sql, type SQL } from 'drizzle-orm';
import { fail } from '../../errors.ts';
import { callerOf } from '../../kernel/context.ts';
import type { Changes } from '../../kernel/event.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';
import { assertHoldsAllOf, isMembership, type MembershipRun } from './giving-roles.ts';
import { assertHoldsAllInProjects } from './in-projects.ts';
import { organizationMembers, projectUserRoles, projectUsers } from './membership.ts';
import { changeMemberRole, leaveOrganization, lockMember } from './organization.ts';
import { changeProjectRoles, leaveProject, lockParticipation } from './project.ts';

/** A membership of the call's scope, be that an organization or a project: the same acts for both. */
export const isOrganization = ({ level }: ResolvedScope): boolean => level === 'organization';

/** A member of an organization wears exactly one role, whoever takes part in a project any number. @throws VALIDATION_ERROR */
export function assertRoleCount(scope: ResolvedScope, roleIds: readonly string[] | undefined): void {
  if (!isOrganization(scope) || roleIds?.length === 1) return;
  const code = roleIds === undefined ? 'required' : roleIds.length === 0 ? 'too_short' : 'too_long';
  throw fail('VALIDATION_ERROR', {
    details: [{ path: 'roleIds', code }],
    fix: 'Name exactly one role: a member of an organization has one.',
  });
}

/** The ids of users who wear the role in the scope. */
export function wearersOf(scope: ResolvedScope, roleId: string): SQL {
  const worn = isOrganization(scope) ? organizationMembers : projectUserRoles;
  return sql`(select ${worn.userId} from ${worn} where ${worn.tenantId} = ${scope.nodeId} and ${worn.roleId} = ${roleId})`;
}

/** The membership, locked until commit, with what the scope itself says of the user. @throws NOT_FOUND */
export const lockMembership = (ctx: MembershipRun, userId: string): Promise<{ metadata: unknown }> =>
  isOrganization(ctx.scope) ? lockMember(ctx, userId) : lockParticipation(ctx, userId);

/**
 * Replaces the roles in the scope. Answers false, and records nothing, when they are the same.
 * @throws FORBIDDEN, NOT_FOUND, PRIVILEGE_ESCALATION, STEP_UP_REQUIRED, LAST_OWNER
 */
export const changeRoles = (
  ctx: MembershipRun,
  userId: string,
  roleIds: readonly string[],
): Promise<boolean> =>
  isOrganization(ctx.scope)
    ? changeMemberRole(ctx, userId, roleIds[0] as string)
    : changeProjectRoles(ctx, userId, roleIds);

/** @throws NOT_FOUND, PRIVILEGE_ESCALATION, STEP_UP_REQUIRED, LAST_OWNER */
export async function leave(ctx: MembershipRun, userId: string): Promise<void> {
  if (isOrganization(ctx.scope)) await leaveOrganization(ctx, userId);
  else await leaveProject(ctx, userId);
}

/**
 * Replaces what the scope itself says of the user; in a project, what the user's organization says stays under it.
 * Conditions read it, so nobody may set it for themselves, not even through a key, and for others only a caller who
 * holds what they hold.
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
  await assertHoldsAllRead(ctx, userId);
  const table = isOrganization(ctx.scope) ? organizationMembers : projectUsers;
  await ctx.tx
    .update(table)
    .set({ metadata: to, updatedAt: sql`now()` })
    .where(isMembership(table, ctx.scope.nodeId, userId));
  ctx.touch(`user:${userId}`);
  return { metadata: { from, to } };
}

/**
 * Asserts that the caller holds all that the user holds wherever conditions read what the scope says of the user: for
 * an organization, in each of its projects too. Only then may the caller change it.
 * @throws PRIVILEGE_ESCALATION
 */
export async function assertHoldsAllRead(ctx: MembershipRun, userId: string): Promise<void> {
  await assertHoldsAllOf(ctx, userId);
  if (isOrganization(ctx.scope)) await assertHoldsAllInProjects(ctx, userId);
}

/** @throws FORBIDDEN */
export function assertNotOwnMetadata(ctx: MembershipRun, userId: string): void {
  if (callerOf(ctx).userId !== userId) return;
  throw fail('FORBIDDEN', {
    fix: 'Ask another administrator to set metadata of your own: conditions read it.',
  });
}
