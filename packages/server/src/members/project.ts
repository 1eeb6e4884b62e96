import { and, eq, inArray, isNull, sql, type SQL } from 'drizzle-orm';
import { assertCanGrant } from '../access/delegation/delegation.ts';
import { loadSubject, rolesOf } from '../access/grants/grants.ts';
import { fail } from '../errors.ts';
import type { Recording } from '../kernel/event.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { apiKeys } from '../schema/machines/api-key.ts';
import { projects } from '../schema/tenants/project.ts';
import { userTags } from '../schema/people/user.ts';
import { endSessionsInLostProjects } from './app-sessions.ts';
import { noteSliceRoles, slicesOf } from './slices.ts';
import {
  assertHoldsAllOf,
  assertNotOwnRoles,
  isSelf,
  isMembership,
  rolesToAssign,
  type MembershipRun,
  type RoleRef,
} from './role-assignment.ts';
import { endManagedUser } from './managed-user.ts';
import { projectUserRoles, projectUsers, type ProjectUserRow } from '../schema/rights/membership.ts';

/* Users of a project: adding them, changing their roles, removing them. The scope of the call is the project. */

interface Joining {
  readonly userId: string;
  readonly roleIds: readonly string[];
  readonly metadata?: Record<string, unknown> | undefined;
}

/** The project of a node with users, which may be a slice of the project. */
const projectOf = ({ nodeId, projectId }: MembershipRun['scope']): string => projectId ?? nodeId;

export const projectUserData = (projectId: string, userId: string, roleIds: readonly string[]) => ({
  id: userId,
  projectId,
  userId,
  roleIds,
});

/**
 * Adds a user to the project after checking that the caller may grant the roles.
 * @throws NOT_FOUND, PRIVILEGE_ESCALATION, CONFLICT if the user is already in the project
 */
export async function joinProject(ctx: MembershipRun, joining: Joining): Promise<void> {
  const { userId, roleIds, metadata = {} } = joining;
  const roles = await rolesToAssign(ctx, roleIds, userId);
  const { nodeId } = ctx.scope;
  const added = await addProjectUser(ctx, nodeId, { userId, roles, metadata }, projectOf(ctx.scope));
  if (added) await noteSliceRoles(ctx, userId, roleIds);
  if (!added) throw fail('CONFLICT', { details: [{ path: 'userId', code: 'taken' }] });
}

/**
 * Adds a user to the project, and records `project.user_added`. Returns false if the user is already in the project.
 * The caller has checked the right to grant the roles. `nodeId`: the project, or a slice of it. `by`: actor and node if
 * the user has no access token yet.
 */
export async function addProjectUser(
  ctx: Pick<MembershipRun, 'tx' | 'record' | 'invalidate'>,
  nodeId: string,
  joining: {
    readonly userId: string;
    readonly roles: readonly RoleRef[];
    readonly metadata?: Record<string, unknown>;
    readonly by?: Pick<Recording, 'actor' | 'node'>;
  },
  projectId = nodeId,
): Promise<boolean> {
  const { userId, roles, metadata = {}, by } = joining;
  const [row] = await ctx.tx
    .insert(projectUsers)
    .values({ tenantId: nodeId, userId, metadata })
    .onConflictDoNothing()
    .returning();
  if (!row) return false;
  await assignRoles(ctx.tx, nodeId, userId, roles);
  ctx.invalidate(`user:${userId}`);
  const roleIds = roles.map(({ id }) => id);
  ctx.record({
    ...by,
    event: 'project.user_added',
    data: projectUserData(projectId, userId, roleIds),
    target: { type: 'User', id: userId },
  });
  return true;
}

/**
 * Locks and returns the project user with their roles.
 * @throws NOT_FOUND
 */
export async function lockProjectUser(
  { tx, scope }: MembershipRun,
  userId: string,
): Promise<ProjectUserRow & { readonly roleIds: string[] }> {
  const [row] = await tx
    .select()
    .from(projectUsers)
    .where(isMembership(projectUsers, scope.nodeId, userId))
    .for('update');
  if (!row) throw fail('NOT_FOUND');
  const assignments = await tx
    .select({ id: projectUserRoles.roleId })
    .from(projectUserRoles)
    .where(isMembership(projectUserRoles, scope.nodeId, userId));
  return { ...row, roleIds: assignments.map(({ id }) => id).sort() };
}

/**
 * Replaces the user's roles in the project; to remove a role, the caller must hold everything that the user holds.
 * Returns false, and records nothing, if the roles are the same.
 * @throws FORBIDDEN, NOT_FOUND, PRIVILEGE_ESCALATION
 */
export async function changeProjectRoles(
  ctx: MembershipRun,
  userId: string,
  roleIds: readonly string[],
): Promise<boolean> {
  const { tx, scope } = ctx;
  const { roleIds: before } = await lockProjectUser(ctx, userId);
  const after = [...new Set(roleIds)].sort();
  if (before.join() === after.join()) return false;
  assertNotOwnRoles(ctx, userId);
  if (before.some((id) => !after.includes(id))) await assertHoldsAllOf(ctx, userId);
  const roles = await rolesToAssign(ctx, after, userId);
  await tx.delete(projectUserRoles).where(isMembership(projectUserRoles, scope.nodeId, userId));
  await assignRoles(tx, scope.nodeId, userId, roles);
  ctx.invalidate(`user:${userId}`);
  ctx.record({
    event: 'project.user_roles_changed',
    data: projectUserData(projectOf(scope), userId, after),
    changes: { roleIds: { from: before, to: after } },
    target: { type: 'User', id: userId },
  });
  await noteSliceRoles(ctx, userId, after);
  return true;
}

/**
 * Removes the user from the project, with their roles, tags, keys and sessions there. A managed user without another
 * membership is deleted. Users may leave by themselves, unless they would escape a condition by leaving; to remove
 * another user, the caller must hold everything that the user holds.
 * @throws NOT_FOUND, PRIVILEGE_ESCALATION
 */
export async function leaveProject(ctx: MembershipRun, userId: string): Promise<void> {
  const { roleIds, metadata } = await lockProjectUser(ctx, userId);
  if (!isSelf(ctx, userId)) await assertHoldsAllOf(ctx, userId);
  else if (Object.keys(metadata).length > 0) await assertEscapesNoCondition(ctx, userId);
  ctx.record({
    event: 'project.user_removed',
    data: projectUserData(projectOf(ctx.scope), userId, roleIds),
    target: { type: 'User', id: userId },
  });
  await noteSliceRoles(ctx, userId, []);
  await removeProjectUser(ctx, userId, [ctx.scope.nodeId]);
  await endManagedUser(ctx, userId);
}

/**
 * Asserts that a user who leaves escapes no condition. The project's metadata about a user overrides that of its
 * organization, and is deleted when the user leaves. So a user who stays a member of the organization, or owns the
 * account, would change the values that conditions read.
 * @throws PRIVILEGE_ESCALATION if the user does not hold, with their current metadata, everything that they keep after
 * leaving
 */
async function assertEscapesNoCondition({ tx, scope, rights }: MembershipRun, userId: string): Promise<void> {
  const subject = await loadSubject(tx, scope, userId);
  await assertCanGrant(tx, scope, rights, { roleIds: rolesOf({ ...subject, projectRoleIds: [] }) }, userId);
}

/** Removes the user from every project. Records `project.user_removed` in each. */
export async function leaveEveryProject(
  ctx: Pick<MembershipRun, 'tx' | 'services' | 'record' | 'invalidate'>,
  userId: string,
): Promise<void> {
  const { tx } = ctx;
  const memberships = await tx
    .select({
      id: projects.id,
      ownerId: projects.ownerId,
      ownerKind: projects.ownerKind,
      roleIds: sql<string[]>`array(select ${projectUserRoles.roleId} from ${projectUserRoles}
        where ${projectUserRoles.tenantId} = ${projectUsers.tenantId}
          and ${projectUserRoles.userId} = ${projectUsers.userId} order by 1)`,
    })
    .from(projectUsers)
    .innerJoin(projects, eq(projects.id, projectUsers.tenantId))
    .where(eq(projectUsers.userId, userId))
    .orderBy(projects.id);
  for (const { id, ownerId, ownerKind, roleIds } of memberships) {
    ctx.record({
      node: { id, scope: { tenant: `${ownerKind}Project`, id: `${ownerId}:${id}` } },
      event: 'project.user_removed',
      data: projectUserData(id, userId, roleIds),
      target: { type: 'User', id: userId },
    });
  }
  await removeProjectUser(
    ctx,
    userId,
    memberships.map(({ id }) => id),
  );
}

/** Removes the user from every slice of the customer. Records that in the slices and for the owners of the projects. */
export async function leaveSlicesOf(
  ctx: Pick<MembershipRun, 'tx' | 'services' | 'record' | 'invalidate'>,
  organizationId: string,
  userId: string,
): Promise<void> {
  const slices = await slicesOf(ctx.tx, organizationId, userId);
  for (const { grantId, projectId, scope, projectScope, roleIds } of slices) {
    ctx.record({
      node: { id: grantId, scope },
      event: 'project.user_removed',
      data: projectUserData(projectId, userId, roleIds),
      target: { type: 'User', id: userId },
    });
    ctx.record({
      node: { id: projectId, scope: projectScope },
      event: 'project_grant.user_changed',
      data: { id: grantId, grantId, organizationId, userId, roleIds: [] },
      target: { type: 'ProjectGrant', id: grantId },
    });
  }
  await removeProjectUser(
    ctx,
    userId,
    slices.map(({ grantId }) => grantId),
  );
}

/**
 * Deletes the user's roles, metadata, tags and ProjectUser keys in these projects, and ends the user's sessions with
 * apps of those projects to which the user has no other access. The tokens of these keys and sessions end immediately.
 */
export async function removeProjectUser(
  ctx: Pick<MembershipRun, 'tx' | 'services' | 'record' | 'invalidate'>,
  userId: string,
  projectIds: readonly string[],
): Promise<void> {
  if (projectIds.length === 0) return;
  const { tx, invalidate } = ctx;
  const inside = [...projectIds];
  // The role assignments are deleted by cascade.
  await tx
    .delete(projectUsers)
    .where(and(inArray(projectUsers.tenantId, inside), eq(projectUsers.userId, userId)));
  await removeTags(tx, userId, inside);
  await endOwnKeys(ctx, userId, inArray(apiKeys.tenantId, inside));
  await endSessionsInLostProjects(ctx, userId, inside);
  invalidate(`user:${userId}`);
}

/**
 * Deletes the keys that act with the user's rights (all of them, or those that match `which`) and invalidates their
 * tokens. Keys with a role, which the user merely created, stay.
 */
export async function endOwnKeys(
  { tx, invalidate }: Pick<MembershipRun, 'tx' | 'invalidate'>,
  userId: string,
  which?: SQL,
): Promise<void> {
  const ended = await tx
    .update(apiKeys)
    .set({ deletedAt: sql`now()`, updatedAt: sql`now()` })
    .where(
      and(
        eq(apiKeys.userId, userId),
        inArray(apiKeys.scopeTenant, ['ProjectUser', 'Organization', 'Account']),
        isNull(apiKeys.deletedAt),
        which,
      ),
    )
    .returning({ id: apiKeys.id });
  for (const { id } of ended) invalidate(`credential:${id}`);
}

/** Deletes the tags that these tenants have assigned to the user. */
export async function removeTags(tx: Executor, userId: string, tenantIds: readonly string[]): Promise<void> {
  await tx
    .delete(userTags)
    .where(and(inArray(userTags.tenantId, [...tenantIds]), eq(userTags.fromId, userId)));
}

async function assignRoles(
  tx: Executor,
  projectId: string,
  userId: string,
  roles: readonly RoleRef[],
): Promise<void> {
  if (roles.length === 0) return;
  await tx
    .insert(projectUserRoles)
    .values(
      roles.map((role) => ({ tenantId: projectId, userId, roleId: role.id, roleTenantId: role.tenantId })),
    );
}
