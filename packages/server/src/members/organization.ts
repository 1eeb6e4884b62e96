import { and, eq, isNull, sql } from 'drizzle-orm';
import { ORGANIZATION_OWNER } from '../schema/rights/built-in-ids.ts';
import { withoutRls } from '../db/tenancy/rls.ts';
import { fail } from '../errors.ts';
import type { NodeRef } from '../kernel/event.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { projects } from '../schema/tenants/project.ts';
import { users } from '../schema/people/user.ts';
import {
  assertCanReassign,
  assertNotOwnRoles,
  assertRecentForOwner,
  isSelf,
  isMembership,
  ownerIsNoMachine,
  rolesToAssign,
  type MembershipRun,
  type RoleRef,
} from './role-assignment.ts';
import { assertHoldsAllInProjects } from './project-roles.ts';
import { endManagedUser } from './managed-user.ts';
import { organizationMembers } from '../schema/rights/membership.ts';
import { endSessionsForOrganization } from './app-sessions.ts';
import { endOwnKeys, leaveSlicesOf, removeProjectUser, removeTags } from './project.ts';
import { apiKeys } from '../schema/machines/api-key.ts';

/*
 * Membership of organizations: joining, changing the role, leaving. A database trigger protects the last owner
 * (migrations/0002); the code here checks the caller's rights.
 */

type MemberRow = typeof organizationMembers.$inferSelect;

interface Joining {
  readonly organizationId: string;
  readonly userId: string;
  readonly role: RoleRef;
  readonly metadata?: Record<string, unknown> | undefined;
  /** The input field to name in a conflict. */
  readonly field: 'userId' | 'token';
}

/** The reference to an organization's node. */
export const organizationNode = (id: string): NodeRef => ({ id, scope: { tenant: 'organization', id } });

/** The data of an event about a member. */
const memberData = ({ tenantId, userId, roleId }: MemberRow) => ({
  id: userId,
  organizationId: tenantId,
  userId,
  roleId,
});

/**
 * Adds a member and records `organization.member_added`. Does not check the caller.
 *
 * @throws CONFLICT if the user is already a member
 */
export async function joinOrganization(
  ctx: Pick<MembershipRun, 'tx' | 'record' | 'invalidate'>,
  { organizationId, userId, role, metadata = {}, field }: Joining,
): Promise<MemberRow> {
  const [row] = await ctx.tx
    .insert(organizationMembers)
    .values({ tenantId: organizationId, userId, roleId: role.id, roleTenantId: role.tenantId, metadata })
    .onConflictDoNothing()
    .returning();
  if (!row) throw fail('CONFLICT', { details: [{ path: field, code: 'taken' }] });
  ctx.invalidate(`user:${userId}`);
  ctx.record({
    node: organizationNode(organizationId),
    event: 'organization.member_added',
    data: memberData(row),
    target: { type: 'OrganizationMember', id: userId },
  });
  return row;
}

/**
 * Locks and returns the member.
 * @throws NOT_FOUND
 */
export async function lockMember({ tx, scope }: MembershipRun, userId: string): Promise<MemberRow> {
  const [row] = await tx
    .select()
    .from(organizationMembers)
    .where(isMembership(organizationMembers, scope.nodeId, userId))
    .for('update');
  if (!row) throw fail('NOT_FOUND');
  return row;
}

/**
 * Replaces the member's role. Returns false, and records nothing, if the role is the same.
 *
 * @throws FORBIDDEN, NOT_FOUND, PRIVILEGE_ESCALATION, STEP_UP_REQUIRED, LAST_OWNER
 */
export async function changeMemberRole(ctx: MembershipRun, userId: string, roleId: string): Promise<boolean> {
  const { tx, scope } = ctx;
  const member = await lockMember(ctx, userId);
  if (member.roleId === roleId) return false;
  assertNotOwnRoles(ctx, userId);
  if (roleId === ORGANIZATION_OWNER && (await isServiceUser(tx, userId))) throw ownerIsNoMachine('roleId');
  await assertCanReassign(ctx, [member.roleId]);
  const [role] = (await rolesToAssign(ctx, [roleId], userId)) as [RoleRef];
  const [row] = await tx
    .update(organizationMembers)
    .set({ roleId: role.id, roleTenantId: role.tenantId, updatedAt: sql`now()` })
    .where(isMembership(organizationMembers, scope.nodeId, userId))
    .returning();
  ctx.invalidate(`user:${userId}`);
  ctx.record({
    event: 'organization.member_role_changed',
    data: memberData(row as MemberRow),
    changes: { roleId: { from: member.roleId, to: roleId } },
    target: { type: 'OrganizationMember', id: userId },
  });
  return true;
}

async function isServiceUser(tx: Executor, userId: string): Promise<boolean> {
  const [user] = await tx.select({ kind: users.kind }).from(users).where(eq(users.id, userId));
  return user?.kind === 'service';
}

/**
 * Removes the user from the organization and all its projects, with their roles, tags and ProjectUser keys there. A
 * managed user without another membership is deleted. Every user may leave; to remove another user, the caller must
 * hold everything that the user holds.
 *
 * @throws NOT_FOUND, PRIVILEGE_ESCALATION, STEP_UP_REQUIRED, LAST_OWNER
 */
export async function leaveOrganization(ctx: MembershipRun, userId: string): Promise<MemberRow> {
  const member = await lockMember(ctx, userId);
  if (isSelf(ctx, userId)) assertRecentForOwner(ctx, [member.roleId]);
  else {
    await assertCanReassign(ctx, [member.roleId]);
    await assertHoldsAllInProjects(ctx, userId);
  }
  await endMembership(ctx, member);
  await endManagedUser(ctx, userId);
  return member;
}

/**
 * Ends the membership, with the user's roles, tags and ProjectUser keys in the organization and all its projects.
 * Records `organization.member_removed`. Does not check the caller.
 * @throws LAST_OWNER
 */
export async function endMembership(
  ctx: Pick<MembershipRun, 'tx' | 'services' | 'record' | 'invalidate'>,
  member: MemberRow,
): Promise<void> {
  const { tx } = ctx;
  const { tenantId: organizationId, userId } = member;
  await tx.delete(organizationMembers).where(isMembership(organizationMembers, organizationId, userId));
  ctx.invalidate(`user:${userId}`);
  ctx.record({
    node: organizationNode(organizationId),
    event: 'organization.member_removed',
    data: memberData(member),
    target: { type: 'OrganizationMember', id: userId },
  });
  await withoutRls(tx, async () => {
    const inside = await tx
      .select({ id: projects.id })
      .from(projects)
      .where(and(eq(projects.ownerId, organizationId), isNull(projects.deletedAt)));
    await removeProjectUser(
      ctx,
      userId,
      inside.map(({ id }) => id),
    );
    await leaveSlicesOf(ctx, organizationId, userId);
    await endSessionsForOrganization(ctx, organizationId, { userId });
    await removeTags(tx, userId, [organizationId]);
    await endOwnKeys(ctx, userId, eq(apiKeys.tenantId, organizationId));
  });
}
