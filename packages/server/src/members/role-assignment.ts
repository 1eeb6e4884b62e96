import { and, eq, inArray } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { ORGANIZATION_OWNER } from '../schema/rights/built-in-ids.ts';
import { assertCanGrant } from '../access/delegation/delegation.ts';
import { loadSubject, rolesOf } from '../access/grants/grants.ts';
import { assertRecentSignIn } from '../access/guard.ts';
import type { Grantee } from '../access/delegation/escalation.ts';
import { visible } from '../db/query/visible-rows.ts';
import { fail, type DoorwardError } from '../errors.ts';
import { callerOf, isManagementKey } from '../kernel/context.ts';
import type { Context } from '../services.ts';
import type { ResolvedScope } from '../kernel/scope.ts';
import { Role, roles } from '../schema/rights/role.ts';
import { lockGrantedRoles } from './slices.ts';

/**
 * The members of a mutation's context that membership code uses. The rules for assigning and revoking roles follow
 * authorization §5 and §8.
 */
export type MembershipRun = Pick<Context, 'tx' | 'services' | 'principal' | 'record' | 'invalidate'> & {
  readonly scope: ResolvedScope;
  readonly rights: NonNullable<Context<{ scope: never }>['rights']>;
};

export interface RoleRef {
  readonly id: string;
  readonly tenantId: string;
}

/**
 * Returns the roles if the caller may assign them in the scope: roles of its tenant or built-in roles of its level,
 * without a permission that the caller lacks. They are share-locked, so that none can be deleted as unassigned, or
 * removed from the grant of the scope, before it is assigned. `receiver`: the only user who gets them.
 *
 * @throws NOT_FOUND, PRIVILEGE_ESCALATION, STEP_UP_REQUIRED
 */
export async function rolesToAssign(
  ctx: MembershipRun,
  roleIds: readonly string[],
  receiver?: Grantee,
): Promise<RoleRef[]> {
  if (roleIds.length === 0) return [];
  const rows = await ctx.tx
    .select({ id: roles.id, tenantId: roles.tenantId })
    .from(roles)
    .where(and(inArray(roles.id, [...roleIds]), visible(Role, ctx.scope)))
    .orderBy(roles.id)
    .for('share');
  const available = await lockGrantedRoles(ctx.tx, ctx.scope, roleIds);
  if (rows.length !== new Set(roleIds).size || rows.some(({ id }) => !available.has(id))) {
    throw fail('NOT_FOUND', { fix: 'Name only roles of this scope, or built-in ones of its level.' });
  }
  await assertCanReassign(ctx, roleIds, receiver);
  return rows;
}

/**
 * Asserts that the caller may assign or revoke the roles. Both require that the caller holds all their permissions and,
 * for ownership, has signed in recently. In a granted scope the project's owner has delegated the granted roles to
 * those who administer its users, so they need not hold these permissions.
 *
 * @throws PRIVILEGE_ESCALATION, STEP_UP_REQUIRED, SESSION_REQUIRED
 */
export async function assertCanReassign(
  ctx: MembershipRun,
  roleIds: readonly string[],
  receiver?: Grantee,
): Promise<void> {
  assertNoKeyForOwner(ctx, roleIds);
  const judged = ctx.scope.grant ? [] : roleIds;
  await assertCanGrant(ctx.tx, ctx.scope, ctx.rights, { roleIds: judged }, receiver);
  assertRecentForOwner(ctx, roleIds);
}

/**
 * Requires a recent sign-in to grant or give up ownership, as a protection against mistakes and stolen sessions.
 *
 * @throws STEP_UP_REQUIRED, SESSION_REQUIRED
 */
export function assertRecentForOwner(ctx: MembershipRun, roleIds: readonly string[]): void {
  if (!roleIds.includes(ORGANIZATION_OWNER)) return;
  assertNoKeyForOwner(ctx, roleIds);
  const { config, clock } = ctx.services;
  assertRecentSignIn(callerOf(ctx), config.auth.stepUpMaxAgeMinutes, clock.now());
}

/**
 * Asserts that the caller is not a key of an organization or account if ownership is involved: only people may grant,
 * revoke or change it.
 *
 * @throws SESSION_REQUIRED
 */
export function assertNoKeyForOwner(
  ctx: Pick<MembershipRun, 'principal'>,
  roleIds: readonly (string | null)[],
): void {
  if (!roleIds.includes(ORGANIZATION_OWNER) || !isManagementKey(callerOf(ctx))) return;
  throw fail('SESSION_REQUIRED', { fix: 'Sign in: a key does nothing about Organization Owner.' });
}

/** The error for a service user as owner: a machine cannot be responsible for an organization. */
export const ownerIsNoMachine = (path: 'roleId' | 'roleIds'): DoorwardError =>
  fail('VALIDATION_ERROR', {
    details: [{ path, code: 'not_allowed' }],
    fix: 'A service user cannot own an organization: name another role.',
  });

/**
 * Asserts that the caller holds everything that the user holds in the scope through any role. Only then may the caller
 * change or remove the user, because a user administrator must not be able to weaken users with more rights. In a
 * granted scope only the membership role counts, because the granted roles are delegated (`assertCanReassign`).
 *
 * @throws PRIVILEGE_ESCALATION, SESSION_REQUIRED
 */
export async function assertHoldsAllOf(ctx: MembershipRun, userId: string): Promise<void> {
  const subject = await loadSubject(ctx.tx, ctx.scope, userId);
  assertNoKeyForOwner(ctx, rolesOf(subject));
  const judged = ctx.scope.grant ? { ...subject, projectRoleIds: [] } : subject;
  await assertCanGrant(ctx.tx, ctx.scope, ctx.rights, { roleIds: rolesOf(judged) }, userId);
}

/**
 * Whether the caller is this user, who may do some things to themselves without permissions. A project's key carries
 * the id of its creator but does not act as the creator, so it does not count.
 */
export function isSelf(ctx: MembershipRun, userId: string): boolean {
  const caller = callerOf(ctx);
  return caller.type === 'session' && caller.userId === userId;
}

/**
 * Asserts that the user is not the caller: users cannot change their own roles, not even through a key. In a granted
 * scope an owner of the customer may, because there no one else could give them a role.
 *
 * @throws FORBIDDEN
 */
export function assertNotOwnRoles(ctx: MembershipRun, userId: string): void {
  if (ctx.scope.grant && isSelf(ctx, userId) && ctx.rights.subject.memberRoleId === ORGANIZATION_OWNER)
    return;
  if (callerOf(ctx).userId === userId) {
    throw fail('FORBIDDEN', {
      fix: 'Ask another administrator to change your own roles; leaving is allowed.',
    });
  }
}

/** SQL condition for the user's membership in the tenant. */
export const isMembership = (
  table: { readonly tenantId: PgColumn; readonly userId: PgColumn },
  tenantId: string,
  userId: string,
) => and(eq(table.tenantId, tenantId), eq(table.userId, userId));
