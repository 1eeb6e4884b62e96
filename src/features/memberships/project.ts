import { and, eq, inArray, isNull, sql, type SQL } from 'drizzle-orm';
import { assertMayGive } from '../../access/giving.ts';
import { loadStanding, rolesOf } from '../../access/grants.ts';
import { fail } from '../../errors.ts';
import type { Recording } from '../../kernel/event.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { apiKeys } from '../api-keys/api-key.ts';
import { projects } from '../projects/project.ts';
import { userTags } from '../users/user.ts';
import { endSessionsInLeft } from './app-sessions.ts';
import { assertHoldsAllOf, assertNotOwnRoles, isHimself, isMembership, rolesToGive } from './giving-roles.ts';
import type { MembershipRun, RoleRef } from './giving-roles.ts';
import { endManagedUser } from './managed-user.ts';
import { projectUserRoles, projectUsers } from './membership.ts';

/** Taking part in a project, wearing roles in it, leaving it. A call's scope is the project. */
export type ProjectUserRow = typeof projectUsers.$inferSelect;

interface Joining {
  readonly userId: string;
  readonly roleIds: readonly string[];
  readonly metadata?: Record<string, unknown> | undefined;
}

const participantData = (projectId: string, userId: string, roleIds: readonly string[]) => ({
  id: userId,
  projectId,
  userId,
  roleIds,
});

/** @throws NOT_FOUND, PRIVILEGE_ESCALATION, CONFLICT when the user takes part already */
export async function joinProject(ctx: MembershipRun, joining: Joining): Promise<void> {
  const { userId, roleIds, metadata = {} } = joining;
  const given = await rolesToGive(ctx, roleIds, userId);
  const took = await takePart(ctx, ctx.scope.nodeId, { userId, given, metadata });
  if (!took) throw fail('CONFLICT', { details: [{ path: 'userId', code: 'taken' }] });
}

/**
 * Whoever calls this has the right to give these roles, or acts for who had it. False when the user takes part already.
 * `by`: of who joins before his credentials are a token.
 */
export async function takePart(
  ctx: Pick<MembershipRun, 'tx' | 'record' | 'touch'>,
  projectId: string,
  joining: {
    readonly userId: string;
    readonly given: readonly RoleRef[];
    readonly metadata?: Record<string, unknown>;
    readonly by?: Pick<Recording, 'actor' | 'node'>;
  },
): Promise<boolean> {
  const { userId, given, metadata = {}, by } = joining;
  const [row] = await ctx.tx
    .insert(projectUsers)
    .values({ tenantId: projectId, userId, metadata })
    .onConflictDoNothing()
    .returning();
  if (!row) return false;
  await wear(ctx.tx, projectId, userId, given);
  ctx.touch(`user:${userId}`);
  const roleIds = given.map(({ id }) => id);
  ctx.record({
    ...by,
    event: 'project.user_added',
    data: participantData(projectId, userId, roleIds),
    target: { type: 'User', id: userId },
  });
  return true;
}

/** The participation, locked until commit, and the roles worn. @throws NOT_FOUND */
export async function lockParticipation(
  { tx, scope }: MembershipRun,
  userId: string,
): Promise<ProjectUserRow & { readonly roleIds: string[] }> {
  const [row] = await tx
    .select()
    .from(projectUsers)
    .where(isMembership(projectUsers, scope.nodeId, userId))
    .for('update');
  if (!row) throw fail('NOT_FOUND');
  const worn = await tx
    .select({ id: projectUserRoles.roleId })
    .from(projectUserRoles)
    .where(isMembership(projectUserRoles, scope.nodeId, userId));
  return { ...row, roleIds: worn.map(({ id }) => id).sort() };
}

/**
 * Replaces the user's roles in the project; to take one away takes holding all that he holds. Answers false, and
 * records nothing, when he wears just these.
 * @throws FORBIDDEN, NOT_FOUND, PRIVILEGE_ESCALATION
 */
export async function changeProjectRoles(
  ctx: MembershipRun,
  userId: string,
  roleIds: readonly string[],
): Promise<boolean> {
  const { tx, scope } = ctx;
  const { roleIds: before } = await lockParticipation(ctx, userId);
  const after = [...new Set(roleIds)].sort();
  if (before.join() === after.join()) return false;
  assertNotOwnRoles(ctx, userId);
  if (before.some((id) => !after.includes(id))) await assertHoldsAllOf(ctx, userId);
  const given = await rolesToGive(ctx, after, userId);
  await tx.delete(projectUserRoles).where(isMembership(projectUserRoles, scope.nodeId, userId));
  await wear(tx, scope.nodeId, userId, given);
  ctx.touch(`user:${userId}`);
  ctx.record({
    event: 'project.user_roles_changed',
    data: participantData(scope.nodeId, userId, after),
    changes: { roleIds: { from: before, to: after } },
    target: { type: 'User', id: userId },
  });
  return true;
}

/**
 * Takes the user out of the project, with their roles, tags, keys and sessions there; a managed user who is nowhere
 * else ends with it. Users may leave by themselves unless they free themselves of a condition by it; to remove another
 * user, the caller must hold all that the user holds.
 * @throws NOT_FOUND, PRIVILEGE_ESCALATION
 */
export async function leaveProject(ctx: MembershipRun, userId: string): Promise<void> {
  const { roleIds, metadata } = await lockParticipation(ctx, userId);
  if (!isHimself(ctx, userId)) await assertHoldsAllOf(ctx, userId);
  else if (Object.keys(metadata).length > 0) await assertMayShedMetadata(ctx, userId);
  ctx.record({
    event: 'project.user_removed',
    data: participantData(ctx.scope.nodeId, userId, roleIds),
    target: { type: 'User', id: userId },
  });
  await endParticipation(ctx, userId, [ctx.scope.nodeId]);
  await endManagedUser(ctx, userId);
}

/**
 * Metadata that the project keeps about a user overrides that of its organization, and is deleted when the user leaves.
 * A user who stays a member of the organization, or owns the account, would thereby change what conditions read of
 * themselves.
 * @throws PRIVILEGE_ESCALATION when they do not hold, with their present metadata, all that they keep after leaving
 */
async function assertMayShedMetadata({ tx, scope, rights }: MembershipRun, userId: string): Promise<void> {
  const standing = await loadStanding(tx, scope, userId);
  await assertMayGive(tx, scope, rights, { roleIds: rolesOf({ ...standing, projectRoleIds: [] }) }, userId);
}

/** Takes the user out of every project, with what he has in it. Records `project.user_removed` in each. */
export async function leaveEveryProject(
  ctx: Pick<MembershipRun, 'tx' | 'services' | 'record' | 'touch'>,
  userId: string,
): Promise<void> {
  const { tx } = ctx;
  const left = await tx
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
  for (const { id, ownerId, ownerKind, roleIds } of left) {
    ctx.record({
      node: { id, scope: { tenant: `${ownerKind}Project`, id: `${ownerId}:${id}` } },
      event: 'project.user_removed',
      data: participantData(id, userId, roleIds),
      target: { type: 'User', id: userId },
    });
  }
  await endParticipation(
    ctx,
    userId,
    left.map(({ id }) => id),
  );
}

/**
 * Roles, metadata, tags and ProjectUser keys of a user in these projects end, and his sessions with their apps where the
 * project is not his in another way; tokens at once.
 */
export async function endParticipation(
  ctx: Pick<MembershipRun, 'tx' | 'services' | 'record' | 'touch'>,
  userId: string,
  projectIds: readonly string[],
): Promise<void> {
  if (projectIds.length === 0) return;
  const { tx, touch } = ctx;
  const inside = [...projectIds];
  // The roles worn go with the row.
  await tx
    .delete(projectUsers)
    .where(and(inArray(projectUsers.tenantId, inside), eq(projectUsers.userId, userId)));
  await untag(tx, userId, inside);
  await endOwnKeys(ctx, userId, inArray(apiKeys.tenantId, inside));
  await endSessionsInLeft(ctx, userId, inside);
  touch(`user:${userId}`);
}

/** ProjectUser keys of the user end, their tokens at once: those that `which` names, or all. */
export async function endOwnKeys(
  { tx, touch }: Pick<MembershipRun, 'tx' | 'touch'>,
  userId: string,
  which?: SQL,
): Promise<void> {
  const ended = await tx
    .update(apiKeys)
    .set({ deletedAt: sql`now()`, updatedAt: sql`now()` })
    .where(
      and(
        eq(apiKeys.userId, userId),
        eq(apiKeys.scopeTenant, 'ProjectUser'),
        isNull(apiKeys.deletedAt),
        which,
      ),
    )
    .returning({ id: apiKeys.id });
  for (const { id } of ended) touch(`credential:${id}`);
}

/** Tags that these tenants put on the user go with him. */
export async function untag(tx: Executor, userId: string, tenantIds: readonly string[]): Promise<void> {
  await tx
    .delete(userTags)
    .where(and(inArray(userTags.tenantId, [...tenantIds]), eq(userTags.fromId, userId)));
}

async function wear(
  tx: Executor,
  projectId: string,
  userId: string,
  given: readonly RoleRef[],
): Promise<void> {
  if (given.length === 0) return;
  await tx
    .insert(projectUserRoles)
    .values(
      given.map((role) => ({ tenantId: projectId, userId, roleId: role.id, roleTenantId: role.tenantId })),
    );
}
