import { and, eq, isNull } from 'drizzle-orm';
import { assertCanGrant } from '../access/delegation/delegation.ts';
import { withoutRls } from '../db/tenancy/rls.ts';
import { callerOf } from '../kernel/context.ts';
import { projects } from '../schema/tenants/project.ts';
import type { MembershipRun } from './role-assignment.ts';
import { projectUserRoles } from '../schema/rights/membership.ts';

/**
 * Asserts that the caller holds, in each project of the organization or account, everything that the member holds there
 * through project roles.
 *
 * The membership, and the organization's metadata about the member, count in its projects too. So the roles that the
 * member has in a project are compared with what the caller holds in that project. What the member holds there through
 * their organization role is compared in the organization.
 *
 * @throws PRIVILEGE_ESCALATION
 */
export const assertHoldsAllInProjects = (ctx: MembershipRun, userId: string): Promise<void> =>
  withoutRls(ctx.tx, async () => {
    const { tx, scope, services } = ctx;
    const assigned = await tx
      .select({ projectId: projectUserRoles.tenantId, roleId: projectUserRoles.roleId })
      .from(projectUserRoles)
      .innerJoin(projects, eq(projects.id, projectUserRoles.tenantId))
      .where(
        and(
          eq(projects.ownerId, scope.nodeId),
          isNull(projects.deletedAt),
          eq(projectUserRoles.userId, userId),
        ),
      );
    for (const projectId of new Set(assigned.map((row) => row.projectId))) {
      const id = `${scope.nodeId}:${projectId}`;
      const tenant = scope.level === 'account' ? 'accountProject' : 'organizationProject';
      const inside = await services.resolver.scopeOf({ tenant, id }, tx);
      if (!inside) continue;
      const rights = await services.resolver.rightsOfUser(inside, callerOf(ctx).userId, tx);
      const roleIds = assigned.filter((row) => row.projectId === projectId).map(({ roleId }) => roleId);
      await assertCanGrant(tx, inside, rights, { roleIds }, userId);
    }
  });
