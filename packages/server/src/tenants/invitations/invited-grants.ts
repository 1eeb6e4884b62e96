import { and, eq, inArray } from 'drizzle-orm';
import { evaluate } from '@doorward/decision/evaluate';
import { isWithinPin } from '../../access/reach.ts';
import { visible } from '../../db/query/visible-rows.ts';
import { withoutRls } from '../../db/tenancy/rls.ts';
import { fail } from '../../errors.ts';
import { callerOf } from '../../kernel/context.ts';
import type { Services, Run } from '../../services.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { addProjectUser } from '../../members/project.ts';
import type { MembershipRun } from '../../members/role-assignment.ts';
import { lockGrantedRoles, noteSliceRoles } from '../../members/slices.ts';
import { projectGrants } from '../../schema/tenants/project-grant.ts';
import { Role, roles } from '../../schema/rights/role.ts';

/**
 * Roles in a granted project that the new member gets. They are checked when the invitation is sent, and again when it
 * is accepted. Grants and roles that have ended meanwhile are left out. If the inviter may no longer assign roles
 * there, the invitation is void.
 */
export interface InvitedGrant {
  readonly grantId: string;
  readonly roleIds: readonly string[];
}

/**
 * Returns the granted scope of the organization's active grant; null if there is none. Call it outside row-level
 * security.
 */
async function sliceOf(
  tx: Executor,
  { resolver }: Pick<Services, 'resolver'>,
  organizationId: string,
  grantId: string,
): Promise<ResolvedScope | null> {
  const [grant] = await tx
    .select({ projectId: projectGrants.tenantId })
    .from(projectGrants)
    .where(and(eq(projectGrants.id, grantId), eq(projectGrants.organizationId, organizationId)));
  const scope =
    grant &&
    (await resolver.scopeOf(
      { tenant: 'organizationProject', id: `${organizationId}:${grant.projectId}` },
      tx,
    ));
  return scope?.grant?.id === grantId ? scope : null;
}

/** Returns those of the roles that are granted. Share-locks them, and the grant's links to them, until the commit. */
async function grantedAmong(tx: Executor, slice: ResolvedScope, roleIds: readonly string[]) {
  const live = await tx
    .select({ id: roles.id, tenantId: roles.tenantId })
    .from(roles)
    .where(and(inArray(roles.id, [...roleIds]), visible(Role, slice)))
    .orderBy(roles.id)
    .for('share');
  const held = await lockGrantedRoles(tx, slice, roleIds);
  return live.filter(({ id }) => held.has(id));
}

async function mayAddUsers(tx: Executor, { resolver }: Services, slice: ResolvedScope, userId: string) {
  const { grants } = await resolver.rightsOfUser(slice, userId, tx);
  return evaluate(grants, { resource: 'User', action: 'Create' }).authorized;
}

/**
 * Asserts that the caller may assign these roles in the granted projects. @throws NOT_FOUND, FORBIDDEN,
 * VALIDATION_ERROR
 */
export async function assertCanAssignIn(ctx: MembershipRun, wanted: readonly InvitedGrant[]): Promise<void> {
  if (wanted.length === 0) return;
  const { tx, services, scope } = ctx;
  const caller = callerOf(ctx);
  const ids = wanted.map(({ grantId }) => grantId);
  if (new Set(ids).size < ids.length)
    throw fail('VALIDATION_ERROR', {
      details: [{ path: 'grants', code: 'duplicate' }],
      fix: 'Name each grant once.',
    });
  await withoutRls(tx, async () => {
    for (const [index, { grantId, roleIds }] of wanted.entries()) {
      const slice = await sliceOf(tx, services, scope.nodeId, grantId);
      const available = slice && isWithinPin(caller, slice) ? await grantedAmong(tx, slice, roleIds) : [];
      if (!slice || available.length !== new Set(roleIds).size)
        throw fail('NOT_FOUND', {
          fix: `Name an active grant of the organization in grants.${index}, and roles of it.`,
        });
      if (!(await mayAddUsers(tx, services, slice, caller.userId)))
        throw fail('FORBIDDEN', {
          reason: 'NO_PERMISSION',
          fix: 'To invite into a granted project you need User:Create there.',
        });
    }
  });
}

/** Adds the new member to the granted projects of the invitation. @throws INVALID_STATE, CONFLICT */
export async function joinGrantedProjects(
  ctx: Run,
  organizationId: string,
  { grants, invitedBy }: { readonly grants: readonly InvitedGrant[]; readonly invitedBy: string },
  userId: string,
): Promise<void> {
  const { tx, services } = ctx;
  for (const { grantId, roleIds } of grants) {
    const slice = await sliceOf(tx, services, organizationId, grantId);
    if (!slice?.grant) continue;
    if (!(await mayAddUsers(tx, services, slice, invitedBy)))
      throw fail('INVALID_STATE', {
        params: { state: 'void' },
        fix: 'The person who sent this invitation may no longer assign its roles: ask for a new one.',
      });
    const available = await grantedAmong(tx, slice, roleIds);
    const node = { id: grantId, scope: { tenant: slice.tenant, id: slice.id } };
    await addProjectUser(ctx, grantId, { userId, roles: available, by: { node } }, slice.grant.projectId);
    ctx.invalidate(`node:${grantId}`);
    await noteSliceRoles(
      { ...ctx, scope: slice },
      userId,
      available.map(({ id }) => id),
    );
  }
}
