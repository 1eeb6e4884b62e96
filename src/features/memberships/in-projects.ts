import { and, eq, isNull } from 'drizzle-orm';
import { assertMayGive } from '../../access/giving.ts';
import { withoutRls } from '../../db/rls.ts';
import { callerOf } from '../../kernel/context.ts';
import { projects } from '../projects/project.ts';
import type { MembershipRun } from './giving-roles.ts';
import { projectUserRoles } from './membership.ts';

/**
 * Asserts that the caller holds what the member holds by their own roles in each project of the organization.
 *
 * The membership and what the organization says of the member count in its projects too. So the roles that the member
 * has in a project are compared with what the caller holds in that project. What the member has there by their role in
 * the organization is compared in the organization.
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
      const inside = await services.resolver.scopeOf({ tenant: 'organizationProject', id }, tx);
      if (!inside) continue;
      const rights = await services.resolver.rightsOfUser(inside, callerOf(ctx).userId, tx);
      const roleIds = assigned.filter((row) => row.projectId === projectId).map(({ roleId }) => roleId);
      await assertMayGive(tx, inside, rights, { roleIds }, userId);
    }
  });
