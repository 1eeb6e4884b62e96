import { and, eq, isNull, sql } from 'drizzle-orm';
import { withoutRls } from '../../db/rls.ts';
import { fail } from '../../errors.ts';
import type { NodeRef } from '../../kernel/event.ts';
import { projects } from '../projects/project.ts';
import {
  assertMayMove,
  assertNotOwnRoles,
  assertRecentForOwner,
  isHimself,
  isMembership,
  rolesToGive,
} from './giving-roles.ts';
import type { MembershipRun, RoleRef } from './giving-roles.ts';
import { assertHoldsAllInProjects } from './in-projects.ts';
import { endManagedUser } from './managed-user.ts';
import { organizationMembers } from './membership.ts';
import { endParticipation, untag } from './project.ts';

/**
 * Joining an organization, wearing another role in it, leaving it. The database keeps the last owner (migrations/0002);
 * what is asked here is whether the caller may.
 */
export type MemberRow = typeof organizationMembers.$inferSelect;

interface Joining {
  readonly organizationId: string;
  readonly userId: string;
  readonly role: RoleRef;
  readonly metadata?: Record<string, unknown> | undefined;
  /** The input field that a conflict names. */
  readonly field: 'userId' | 'token';
}

const organizationNode = (id: string): NodeRef => ({ id, scope: { tenant: 'organization', id } });

/** What events say of a member. */
const memberData = ({ tenantId, userId, roleId }: MemberRow) => ({
  id: userId,
  organizationId: tenantId,
  userId,
  roleId,
});

/** Records `organization.member_added`. Asks nothing of the caller. @throws CONFLICT when the user is a member already */
export async function joinOrganization(
  ctx: Pick<MembershipRun, 'tx' | 'record' | 'touch'>,
  { organizationId, userId, role, metadata = {}, field }: Joining,
): Promise<MemberRow> {
  const [row] = await ctx.tx
    .insert(organizationMembers)
    .values({ tenantId: organizationId, userId, roleId: role.id, roleTenantId: role.tenantId, metadata })
    .onConflictDoNothing()
    .returning();
  if (!row) throw fail('CONFLICT', { details: [{ path: field, code: 'taken' }] });
  ctx.touch(`user:${userId}`);
  ctx.record({
    node: organizationNode(organizationId),
    event: 'organization.member_added',
    data: memberData(row),
    target: { type: 'OrganizationMember', id: userId },
  });
  return row;
}

/** The member, locked until commit. @throws NOT_FOUND */
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
 * Replaces the member's role. Answers false, and records nothing, when he wears it already.
 * @throws FORBIDDEN, NOT_FOUND, PRIVILEGE_ESCALATION, STEP_UP_REQUIRED, LAST_OWNER
 */
export async function changeMemberRole(ctx: MembershipRun, userId: string, roleId: string): Promise<boolean> {
  const { tx, scope } = ctx;
  const member = await lockMember(ctx, userId);
  if (member.roleId === roleId) return false;
  assertNotOwnRoles(ctx, userId);
  await assertMayMove(ctx, [member.roleId]);
  const [role] = (await rolesToGive(ctx, [roleId], userId)) as [RoleRef];
  const [row] = await tx
    .update(organizationMembers)
    .set({ roleId: role.id, roleTenantId: role.tenantId, updatedAt: sql`now()` })
    .where(isMembership(organizationMembers, scope.nodeId, userId))
    .returning();
  ctx.touch(`user:${userId}`);
  ctx.record({
    event: 'organization.member_role_changed',
    data: memberData(row as MemberRow),
    changes: { roleId: { from: member.roleId, to: roleId } },
    target: { type: 'OrganizationMember', id: userId },
  });
  return true;
}

/**
 * Takes the user out of the organization and of all its projects, with his roles, tags and ProjectUser keys there; a
 * managed user ends with it. Everybody may leave; to remove another takes holding what he holds.
 * @throws NOT_FOUND, PRIVILEGE_ESCALATION, STEP_UP_REQUIRED, LAST_OWNER
 */
export async function leaveOrganization(ctx: MembershipRun, userId: string): Promise<MemberRow> {
  const member = await lockMember(ctx, userId);
  if (isHimself(ctx, userId)) assertRecentForOwner(ctx, [member.roleId]);
  else {
    await assertMayMove(ctx, [member.roleId]);
    await assertHoldsAllInProjects(ctx, userId);
  }
  await endMembership(ctx, member);
  await endManagedUser(ctx, userId);
  return member;
}

/**
 * The membership ends, with the user's roles, tags and ProjectUser keys in the organization and all its projects.
 * Records `organization.member_removed`. Asks nothing of the caller. @throws LAST_OWNER
 */
export async function endMembership(
  ctx: Pick<MembershipRun, 'tx' | 'services' | 'record' | 'touch'>,
  member: MemberRow,
): Promise<void> {
  const { tx } = ctx;
  const { tenantId: organizationId, userId } = member;
  await tx.delete(organizationMembers).where(isMembership(organizationMembers, organizationId, userId));
  ctx.touch(`user:${userId}`);
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
    await endParticipation(
      ctx,
      userId,
      inside.map(({ id }) => id),
    );
    await untag(tx, userId, [organizationId]);
  });
}
