import { and, count, eq, isNull, sql } from 'drizzle-orm';
import { nodes } from '../schema/nodes.ts';
import { withoutRls } from '../db/tenancy/rls.ts';
import { fail } from '../errors.ts';
import type { Changes } from '../kernel/event.ts';
import { users } from '../schema/people/user.ts';
import { lockUser } from '../people/lock-user.ts';
import type { Run } from '../services.ts';
import { deleteUser } from './delete-user.ts';
import {
  assertCanReassign,
  assertHoldsAllOf,
  assertNotOwnRoles,
  isMembership,
  rolesToAssign,
  type MembershipRun,
  type RoleRef,
} from './role-assignment.ts';
import { accountServiceUsers } from '../schema/rights/membership.ts';

/*
 * Service users of an account, each with one built-in role of the account level. They may also be members of the
 * account's organizations, but exist only for the account: removing a service user from it deletes the user.
 */

type ServiceUserRow = typeof accountServiceUsers.$inferSelect;

/** A tenant has few machines. The limit prevents a caller with `User:Create` from filling it with users. */
const MAX_SERVICE_USERS = 50;

/**
 * Asserts that the tenant does not have too many service users; call it after the insert. Counts under the lock of the
 * tenant node, which the mutation needs anyway, so concurrent creations cannot exceed the limit together.
 *
 * @throws CONFLICT
 */
export async function assertServiceUserLimit({ tx, scope }: MembershipRun): Promise<void> {
  const { nodeId } = scope;
  await tx.select({ id: nodes.id }).from(nodes).where(eq(nodes.id, nodeId)).for('no key update');
  const [total] = await tx
    .select({ count: count() })
    .from(users)
    .where(and(eq(users.managedBy, nodeId), eq(users.kind, 'service'), isNull(users.deletedAt)));
  if ((total?.count ?? 0) <= MAX_SERVICE_USERS) return;
  throw fail('CONFLICT', {
    details: [{ path: 'kind', code: 'limit' }],
    fix: `An organization or account has at most ${MAX_SERVICE_USERS} service users: delete one that is not needed.`,
  });
}

/** Adds a new service user to the account. The caller has checked the right to grant the role. */
export async function joinAccount(
  { tx, scope, invalidate }: MembershipRun,
  userId: string,
  role: RoleRef,
  metadata: Record<string, unknown>,
): Promise<void> {
  await tx
    .insert(accountServiceUsers)
    .values({ tenantId: scope.nodeId, userId, roleId: role.id, roleTenantId: role.tenantId, metadata });
  invalidate(`user:${userId}`);
}

/** Locks and returns the service user's membership. @throws NOT_FOUND */
export async function lockServiceUser({ tx, scope }: MembershipRun, userId: string): Promise<ServiceUserRow> {
  const [row] = await tx
    .select()
    .from(accountServiceUsers)
    .where(isMembership(accountServiceUsers, scope.nodeId, userId))
    .for('update');
  if (!row) throw fail('NOT_FOUND');
  return row;
}

/**
 * Replaces the role in the account. Returns the changes.
 *
 * @throws FORBIDDEN, NOT_FOUND, PRIVILEGE_ESCALATION
 */
export async function changeAccountRole(
  ctx: MembershipRun,
  userId: string,
  roleId: string,
): Promise<Changes> {
  const before = await lockServiceUser(ctx, userId);
  if (before.roleId === roleId) return {};
  assertNotOwnRoles(ctx, userId);
  await assertCanReassign(ctx, [before.roleId]);
  const [role] = (await rolesToAssign(ctx, [roleId], userId)) as [RoleRef];
  await ctx.tx
    .update(accountServiceUsers)
    .set({ roleId: role.id, roleTenantId: role.tenantId, updatedAt: sql`now()` })
    .where(isMembership(accountServiceUsers, ctx.scope.nodeId, userId));
  ctx.invalidate(`user:${userId}`);
  return { roleIds: { from: [before.roleId], to: [role.id] } };
}

/**
 * Deletes the service user with all memberships and keys. Records `user.deleted` first.
 *
 * @throws NOT_FOUND, PRIVILEGE_ESCALATION
 */
export async function deleteServiceUser(ctx: MembershipRun & Run, userId: string): Promise<void> {
  await lockServiceUser(ctx, userId);
  await assertHoldsAllOf(ctx, userId);
  await withoutRls(ctx.tx, async () => {
    const user = await lockUser(ctx, userId, 'no key update');
    if (!user) throw fail('NOT_FOUND');
    await deleteUser(ctx, user);
    await ctx.tx
      .delete(accountServiceUsers)
      .where(isMembership(accountServiceUsers, ctx.scope.nodeId, userId));
  });
}
