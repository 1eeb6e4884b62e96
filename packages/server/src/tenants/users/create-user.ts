import { and, eq, isNull } from 'drizzle-orm';
import { ORGANIZATION_OWNER } from '../../schema/rights/built-in-ids.ts';
import { fail } from '../../errors.ts';
import { callerOf } from '../../kernel/context.ts';
import { projector } from '../../kernel/output/projector.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';
import type { Executor, ScopedDb } from '../../kernel/scoped-db.ts';
import { accounts } from '../../schema/people/account.ts';
import {
  assertHoldsAllOf,
  assertNotOwnRoles,
  isMembership,
  ownerIsNoMachine,
  rolesToAssign,
  type MembershipRun,
  type RoleRef,
} from '../../members/role-assignment.ts';
import { assertServiceUserLimit, joinAccount } from '../../members/account.ts';
import { assertNotOwnMetadata, assertRoleCount } from '../../members/scope-membership.ts';
import { accountServiceUsers, organizationMembers } from '../../schema/rights/membership.ts';
import { joinOrganization } from '../../members/organization.ts';
import { joinProject } from '../../members/project.ts';
import { changeTags } from './update-user.ts';
import { User } from '../../schema/people/user.ts';

type CreateUserRun = MembershipRun & {
  readonly db: ScopedDb;
  readonly input: {
    readonly kind?: 'person' | 'service' | undefined;
    readonly name?: string | undefined;
    readonly userId?: string | undefined;
    readonly pictureUrl?: string | null | undefined;
    readonly metadata: Record<string, unknown>;
    readonly roleIds?: readonly string[] | undefined;
    readonly tagIds?: readonly string[] | undefined;
  };
};

/**
 * Adds a new managed user to a scope, or an existing user to a project, and returns their id.
 * @throws VALIDATION_ERROR, NOT_FOUND, FORBIDDEN, PRIVILEGE_ESCALATION, STEP_UP_REQUIRED, CONFLICT
 */
export async function addUser(ctx: CreateUserRun): Promise<string> {
  const { input, scope } = ctx;
  assertKind(scope, input);
  assertNameOrUserId(scope, input);
  assertRoleCount(scope, input.roleIds);
  return input.userId === undefined ? createManaged(ctx) : addExisting(ctx, input.userId);
}

const refuse = (path: string, code: 'required' | 'excluded' | 'not_allowed', fix: string) =>
  fail('VALIDATION_ERROR', { details: [{ path, code }], fix });

/**
 * Asserts that the scope can have a user of this kind: service users belong to organizations and accounts, and an
 * account has no other users.
 * @throws VALIDATION_ERROR
 */
function assertKind(
  { level, grant }: ResolvedScope,
  { kind, userId, roleIds }: CreateUserRun['input'],
): void {
  if (grant && userId === undefined) {
    const fix =
      'Add a member or managed user of your organization by userId: a granted project has no users of its own.';
    throw refuse('userId', 'required', fix);
  }
  if (level === 'account' && kind !== 'service') {
    const code = kind === undefined ? 'required' : 'not_allowed';
    throw refuse('kind', code, 'An account has service users only: send kind: "service".');
  }
  if (kind !== 'service') return;
  if (level === 'project') {
    const fix = 'Create the service user in the organization or account, and add it here by userId.';
    throw refuse('kind', 'not_allowed', fix);
  }
  if (userId !== undefined) throw refuse('userId', 'excluded', 'Send name: a service user is always new.');
  if (roleIds?.includes(ORGANIZATION_OWNER)) throw ownerIsNoMachine('roleIds');
}

/** Asserts that the call names either a new user or an existing one. @throws VALIDATION_ERROR */
function assertNameOrUserId(
  scope: ResolvedScope,
  { name, userId, pictureUrl }: CreateUserRun['input'],
): void {
  if (userId === undefined) {
    if (name !== undefined) return;
    throw refuse('name', 'required', 'Send name for a new managed user, or userId to add an existing one.');
  }
  if (name !== undefined) throw refuse('userId', 'excluded', 'Send name or userId, not both.');
  if (pictureUrl !== undefined) {
    throw refuse('pictureUrl', 'excluded', 'Leave pictureUrl out: an existing user has their own picture.');
  }
  if (scope.level === 'organization') {
    throw refuse(
      'userId',
      'not_allowed',
      'People with their own sign-in join an organization by invitation.',
    );
  }
}

async function createManaged(ctx: CreateUserRun): Promise<string> {
  const { db, input, scope } = ctx;
  const { kind = 'person', name, pictureUrl = null, metadata, tagIds } = input;
  const created = await db.insert(User, {
    kind,
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
  if (kind === 'service') await assertServiceUserLimit(ctx);
  return created.id;
}

/**
 * Adds an existing user. Callers who add themselves must not gain more than they could grant to themselves
 * afterwards.
 */
async function addExisting(ctx: CreateUserRun, userId: string): Promise<string> {
  const { tx, scope, input } = ctx;
  await assertKnownToOwner(tx, scope, userId);
  if (Object.keys(input.metadata).length > 0) {
    assertNotOwnMetadata(ctx, userId);
    // Metadata of the project overrides that of the organization, so setting it can remove rights through conditions.
    await assertHoldsAllOf(ctx, userId);
  }
  const caller = callerOf(ctx);
  // Callers who assign granted roles need not hold them, so they must not assign them to themselves.
  if (scope.grant && input.roleIds?.length) assertNotOwnRoles(ctx, userId);
  if (caller.userId === userId && caller.type !== 'session' && input.roleIds?.length) {
    throw fail('FORBIDDEN', { fix: 'A key or app cannot assign roles to its own user: sign in to do so.' });
  }
  await join(ctx, userId);
  await changeTags(ctx, userId, input.tagIds);
  return userId;
}

/**
 * Asserts that the user is known to the owner of the project. The share lock ensures that a user who leaves the
 * organization meanwhile leaves the project too.
 * @throws NOT_FOUND
 */
async function assertKnownToOwner(tx: Executor, scope: ResolvedScope, userId: string): Promise<void> {
  const accountId = scope.accountId as string;
  const related =
    scope.organizationId === null
      ? tx
          .select({ id: accounts.ownerId })
          .from(accounts)
          .where(and(eq(accounts.id, accountId), eq(accounts.ownerId, userId), isNull(accounts.deletedAt)))
      : tx
          .select({ id: organizationMembers.userId })
          .from(organizationMembers)
          .where(isMembership(organizationMembers, scope.organizationId, userId));
  if ((await related.for('share')).length > 0) return;
  const ofAccount = tx
    .select({ id: accountServiceUsers.userId })
    .from(accountServiceUsers)
    .where(isMembership(accountServiceUsers, accountId, userId));
  if (scope.organizationId === null && (await ofAccount.for('share')).length > 0) return;
  throw fail('NOT_FOUND', {
    fix: 'Name a member of the organization that owns the project, or the owner or a service user of its account.',
  });
}

async function join(ctx: CreateUserRun, userId: string): Promise<void> {
  const { input, scope } = ctx;
  const { roleIds = [], metadata } = input;
  if (scope.level === 'project') return joinProject(ctx, { userId, roleIds, metadata });
  const [role] = (await rolesToAssign(ctx, roleIds, userId)) as [RoleRef];
  if (scope.level === 'account') return joinAccount(ctx, userId, role, metadata);
  await joinOrganization(ctx, { organizationId: scope.nodeId, userId, role, metadata, field: 'userId' });
}
