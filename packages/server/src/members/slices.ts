import { and, eq, inArray, isNull, or, sql } from 'drizzle-orm';
import { nodes } from '../schema/nodes.ts';
import { rowsOf } from '../db/statements/rows.ts';
import { fail } from '../errors.ts';
import type { ResolvedScope, ScopeRef } from '../kernel/scope.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { projectGrantRoles, projectGrants } from '../schema/tenants/project-grant.ts';
import { projects } from '../schema/tenants/project.ts';
import { projectUserRoles } from '../schema/rights/membership.ts';
import type { MembershipRun } from './role-assignment.ts';

/**
 * Share-locks the grant's links to these roles until commit, and returns the roles that the grant still includes. A
 * concurrent removal of a role from the grant either comes first, so that the role is not returned, or comes later and
 * then also ends the new assignment. Lock the roles themselves first.
 */
export async function lockGrantedRoles(
  tx: Executor,
  { grant }: Pick<ResolvedScope, 'grant'>,
  roleIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (!grant) return new Set(roleIds);
  const held = await tx
    .select({ id: projectGrantRoles.toId })
    .from(projectGrantRoles)
    .where(and(eq(projectGrantRoles.fromId, grant.id), inArray(projectGrantRoles.toId, [...roleIds])))
    .orderBy(projectGrantRoles.toId)
    .for('share');
  return new Set(held.map(({ id }) => id));
}

/** A slice that a user is in, with their roles there. */
interface SliceOfUser {
  readonly grantId: string;
  readonly projectId: string;
  readonly scope: ScopeRef;
  readonly projectScope: ScopeRef;
  readonly roleIds: readonly string[];
}

/**
 * Call it after a change of a user's roles in a slice: it refuses more users than the grant allows, and records the
 * change for the project's owner. Does nothing in other scopes. Counts under the lock of the slice's node, which the
 * mutation needs anyway.
 *
 * @throws CONFLICT
 */
export async function noteSliceRoles(
  { tx, scope, record }: Pick<MembershipRun, 'tx' | 'scope' | 'record'>,
  userId: string,
  roleIds: readonly string[],
): Promise<void> {
  const { grant, organizationId } = scope;
  if (!grant) return;
  if (grant.maxUsers !== null && roleIds.length > 0) {
    await tx.select({ id: nodes.id }).from(nodes).where(eq(nodes.id, grant.id)).for('no key update');
    // The limit may have changed since the scope was resolved.
    const [row] = await tx
      .select({
        maxUsers: projectGrants.maxUsers,
        users: sql<number>`(select count(distinct u.user_id)::int from ${projectUserRoles} u where u.tenant_id = ${grant.id}::uuid)`,
      })
      .from(projectGrants)
      .where(eq(projectGrants.id, grant.id));
    if (row && row.maxUsers !== null && row.users > row.maxUsers) throw tooManyUsers(row.maxUsers);
  }
  record({
    node: { id: grant.projectId, scope: grant.projectScope },
    event: 'project_grant.user_changed',
    data: { id: grant.id, grantId: grant.id, organizationId, userId, roleIds },
    target: { type: 'ProjectGrant', id: grant.id },
  });
}

const tooManyUsers = (maxUsers: number) =>
  fail('CONFLICT', {
    details: [{ path: 'maxUsers', code: 'limit' }],
    fix: `The owner of the project allows ${maxUsers} users with roles: take the roles of one away, or ask the owner for more.`,
  });

/** The project of a node with keys and webhooks, and the node as audit entries show it. */
interface ProjectNode {
  readonly node: { readonly id: string; readonly scope: ScopeRef };
  readonly project: typeof projects.$inferSelect;
  /** The customer, if the node is a slice. */
  readonly organizationId: string | null;
}

/** Returns the project of a project node or a slice, live or not; undefined for any other node. */
export async function projectNodeOf(tx: Executor, id: string): Promise<ProjectNode | undefined> {
  const [row] = await tx
    .select({ project: projects, organizationId: projectGrants.organizationId })
    .from(projects)
    .leftJoin(projectGrants, and(eq(projectGrants.id, id), eq(projectGrants.tenantId, projects.id)))
    .where(or(eq(projects.id, id), eq(projectGrants.id, id)));
  if (!row) return undefined;
  const { project, organizationId } = row;
  const [kind, ownerId] = organizationId
    ? ['organization' as const, organizationId]
    : [project.ownerKind, project.ownerId];
  return {
    node: { id, scope: { tenant: `${kind}Project`, id: `${ownerId}:${project.id}` } },
    project,
    organizationId,
  };
}

/** The live slices of a customer that the user is in. */
export const slicesOf = (tx: Executor, organizationId: string, userId: string): Promise<SliceOfUser[]> =>
  rowsOf<SliceOfUser>(
    tx,
    sql`select g.id as "grantId", g.tenant_id as "projectId",
      json_build_object('tenant', 'organizationProject', 'id', g.organization_id || ':' || g.tenant_id) as scope,
      json_build_object('tenant', p.owner_kind || 'Project', 'id', p.owner_id || ':' || p.id) as "projectScope",
      array(select r.role_id from project_user_roles r where r.tenant_id = g.id and r.user_id = ${userId}::uuid order by 1) as "roleIds"
    from project_grants g join projects p on p.id = g.tenant_id and p.deleted_at is null
    join project_users u on u.tenant_id = g.id and u.user_id = ${userId}::uuid
    where ${and(eq(sql`g.organization_id`, sql`${organizationId}::uuid`), inArray(sql`g.status`, ['active', 'suspended']), isNull(sql`g.deleted_at`))}
    order by g.id`,
  );
