import { and, eq, isNull } from 'drizzle-orm';
import { fail } from '../../errors.ts';
import { callerOf } from '../../kernel/context.ts';
import { projector } from '../../kernel/project.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';
import type { Executor, ScopedDb } from '../../kernel/scoped-db.ts';
import { accounts } from '../identity/account.ts';
import { assertHoldsAllOf, isMembership, rolesToGive } from '../memberships/giving-roles.ts';
import type { MembershipRun, RoleRef } from '../memberships/giving-roles.ts';
import { assertNotOwnMetadata, assertRoleCount, isOrganization } from '../memberships/in-scope.ts';
import { organizationMembers } from '../memberships/membership.ts';
import { joinOrganization } from '../memberships/organization.ts';
import { joinProject } from '../memberships/project.ts';
import { changeTags } from './changing.ts';
import { User } from './user.ts';

/** How somebody comes into a scope: as a new managed user, or in a project as one who is known to its owner. */
type Adding = MembershipRun & {
  readonly db: ScopedDb;
  readonly input: {
    readonly name?: string | undefined;
    readonly userId?: string | undefined;
    readonly pictureUrl?: string | null | undefined;
    readonly metadata: Record<string, unknown>;
    readonly roleIds?: readonly string[] | undefined;
    readonly tagIds?: readonly string[] | undefined;
  };
};

/**
 * Adds the user and answers his id.
 * @throws VALIDATION_ERROR, NOT_FOUND, FORBIDDEN, PRIVILEGE_ESCALATION, STEP_UP_REQUIRED, CONFLICT
 */
export async function add(ctx: Adding): Promise<string> {
  const { input, scope } = ctx;
  assertOneOfTwo(scope, input);
  assertRoleCount(scope, input.roleIds);
  return input.userId === undefined ? createManaged(ctx) : addKnown(ctx, input.userId);
}

/** @throws VALIDATION_ERROR */
function assertOneOfTwo(scope: ResolvedScope, { name, userId, pictureUrl }: Adding['input']): void {
  const refuse = (path: string, code: 'required' | 'excluded' | 'not_allowed', fix: string) =>
    fail('VALIDATION_ERROR', { details: [{ path, code }], fix });
  if (userId === undefined) {
    if (name !== undefined) return;
    throw refuse('name', 'required', 'Send name for a new managed user, or userId to add a known one.');
  }
  if (name !== undefined) throw refuse('userId', 'excluded', 'Send name or userId, not both.');
  if (pictureUrl !== undefined) {
    throw refuse(
      'pictureUrl',
      'excluded',
      'Leave pictureUrl out: who has an own sign-in has an own picture.',
    );
  }
  if (isOrganization(scope)) {
    throw refuse('userId', 'not_allowed', 'People with an own sign-in join an organization by invitation.');
  }
}

async function createManaged(ctx: Adding): Promise<string> {
  const { db, input, scope } = ctx;
  const { name, pictureUrl = null, metadata, tagIds } = input;
  const created = await db.insert(User, {
    name,
    pictureUrl,
    tagIds,
    isManaged: true,
    managedBy: scope.nodeId,
  });
  ctx.record({
    event: 'user.created',
    data: projector(User.schema)({ ...created, metadata }) as Record<string, unknown>,
    target: { type: 'User', id: created.id },
  });
  await join(ctx, created.id);
  return created.id;
}

/** Nobody gives himself by joining what he could not give himself afterwards. */
async function addKnown(ctx: Adding, userId: string): Promise<string> {
  const { tx, scope, input } = ctx;
  await assertKnown(tx, scope, userId);
  if (Object.keys(input.metadata).length > 0) {
    assertNotOwnMetadata(ctx, userId);
    // It lies over what his organization says, so it can weaken what he holds there.
    await assertHoldsAllOf(ctx, userId);
  }
  const caller = callerOf(ctx);
  if (caller.userId === userId && caller.type !== 'session' && input.roleIds?.length) {
    throw fail('FORBIDDEN', { fix: 'A key or app gives its own user no roles: sign in to take them on.' });
  }
  await join(ctx, userId);
  await changeTags(ctx, userId, input.tagIds);
  return userId;
}

/** Share-locked, so that who leaves the organization meanwhile leaves the project too. @throws NOT_FOUND */
async function assertKnown(tx: Executor, scope: ResolvedScope, userId: string): Promise<void> {
  const found =
    scope.organizationId === null
      ? tx
          .select({ id: accounts.ownerId })
          .from(accounts)
          .where(
            and(
              eq(accounts.id, scope.accountId as string),
              eq(accounts.ownerId, userId),
              isNull(accounts.deletedAt),
            ),
          )
      : tx
          .select({ id: organizationMembers.userId })
          .from(organizationMembers)
          .where(isMembership(organizationMembers, scope.organizationId, userId));
  if ((await found.for('share')).length > 0) return;
  throw fail('NOT_FOUND', {
    fix: 'Name a member of the organization that owns the project, or the owner of its account.',
  });
}

async function join(ctx: Adding, userId: string): Promise<void> {
  const { input, scope } = ctx;
  const { roleIds = [], metadata } = input;
  if (!isOrganization(scope)) return joinProject(ctx, { userId, roleIds, metadata });
  const [role] = (await rolesToGive(ctx, roleIds, userId)) as [RoleRef];
  await joinOrganization(ctx, { organizationId: scope.nodeId, userId, role, metadata, field: 'userId' });
}
