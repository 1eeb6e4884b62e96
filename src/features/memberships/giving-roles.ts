import { and, eq, inArray } from 'drizzle-orm';
import { ORGANIZATION_OWNER } from '../../access/built-in.ts';
import { assertMayGive } from '../../access/giving.ts';
import { loadStanding, rolesOf } from '../../access/grants.ts';
import { assertRecentSignIn } from '../../access/guard.ts';
import type { Receiver } from '../../access/subset.ts';
import { visible } from '../../db/visible.ts';
import { fail } from '../../errors.ts';
import { callerOf, type Context } from '../../kernel/context.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';
import { Role, roles } from '../roles/role.ts';

/** The rules for whoever gives people roles or takes them away (authorization §5, §8). */
export type MembershipRun = Pick<Context, 'tx' | 'services' | 'principal' | 'record' | 'touch'> & {
  readonly scope: ResolvedScope;
  readonly rights: NonNullable<Context<{ scope: never }>['rights']>;
};

export interface RoleRef {
  readonly id: string;
  readonly tenantId: string;
}

/**
 * The roles that a caller may assign in the scope: of its tenant or built-in of its level, and with no permission that
 * the caller lacks. They are share-locked, so that none can be deleted as unused before it is assigned. `receiver`: the
 * only user who gets them.
 *
 * @throws NOT_FOUND, PRIVILEGE_ESCALATION, STEP_UP_REQUIRED
 */
export async function rolesToGive(
  ctx: MembershipRun,
  roleIds: readonly string[],
  receiver?: Receiver,
): Promise<RoleRef[]> {
  if (roleIds.length === 0) return [];
  const found = await ctx.tx
    .select({ id: roles.id, tenantId: roles.tenantId })
    .from(roles)
    .where(and(inArray(roles.id, [...roleIds]), visible(Role, ctx.scope)))
    .orderBy(roles.id)
    .for('share');
  if (found.length !== new Set(roleIds).size) {
    throw fail('NOT_FOUND', { fix: 'Name only roles of this scope, or built-in ones of its level.' });
  }
  await assertMayMove(ctx, roleIds, receiver);
  return found;
}

/**
 * Giving a role and taking it away ask the same: to hold all of it, and for ownership a recent sign-in.
 * @throws PRIVILEGE_ESCALATION, STEP_UP_REQUIRED
 */
export async function assertMayMove(
  ctx: MembershipRun,
  roleIds: readonly string[],
  receiver?: Receiver,
): Promise<void> {
  await assertMayGive(ctx.tx, ctx.scope, ctx.rights, { roleIds }, receiver);
  assertRecentForOwner(ctx, roleIds);
}

/** Ownership is neither given nor given up by mistake or by a stolen session. @throws STEP_UP_REQUIRED */
export function assertRecentForOwner(ctx: MembershipRun, roleIds: readonly string[]): void {
  if (!roleIds.includes(ORGANIZATION_OWNER)) return;
  const { config, clock } = ctx.services;
  assertRecentSignIn(callerOf(ctx), config.auth.stepUpMaxAgeMinutes, clock.now());
}

/**
 * To change somebody, or to take him out, is for who holds everything that he holds in the scope, by whichever roles:
 * whoever may edit people must not be able to weaken those above him.
 * @throws PRIVILEGE_ESCALATION
 */
export async function assertHoldsAllOf(ctx: MembershipRun, userId: string): Promise<void> {
  const standing = await loadStanding(ctx.tx, ctx.scope, userId);
  await assertMayGive(ctx.tx, ctx.scope, ctx.rights, { roleIds: rolesOf(standing) }, userId);
}

/**
 * Whether the user is doing it to himself, for what he may then do without holding anything. A project's key carries
 * the id of who made it and is not him: it is allowed nothing because of that.
 */
export function isHimself(ctx: MembershipRun, userId: string): boolean {
  const caller = callerOf(ctx);
  return caller.type === 'session' && caller.userId === userId;
}

/** @throws FORBIDDEN: nobody changes the roles that he wears himself, through a key of his neither */
export function assertNotOwnRoles(ctx: MembershipRun, userId: string): void {
  if (callerOf(ctx).userId === userId) {
    throw fail('FORBIDDEN', {
      fix: 'Ask another administrator to change your own roles; leaving is allowed.',
    });
  }
}

/** The one row of a membership table that says that the user belongs to the tenant. */
export const isMembership = (
  table: { readonly tenantId: Parameters<typeof eq>[0]; readonly userId: Parameters<typeof eq>[0] },
  tenantId: string,
  userId: string,
) => and(eq(table.tenantId as never, tenantId), eq(table.userId as never, userId));
