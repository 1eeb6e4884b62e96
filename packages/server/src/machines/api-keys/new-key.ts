import { and, eq, inArray, isNull } from 'drizzle-orm';
import { evaluate } from '@doorward/decision/evaluate';
import { ACCOUNT_OWNER } from '../../schema/rights/built-in-ids.ts';
import { assertCanGrant } from '../../access/delegation/delegation.ts';
import { rolesOf } from '../../access/grants/grants.ts';
import { SYSTEM_NODE } from '../../schema/nodes.ts';
import { visible } from '../../db/query/visible-rows.ts';
import { fail } from '../../errors.ts';
import { callerOf, type Principal } from '../../kernel/context.ts';
import type { Context, Services } from '../../services.ts';
import type { CallerRights } from '../../kernel/call/caller-rights.ts';
import type { RowOf } from '../../kernel/entity.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { lockUser } from '../../people/lock-user.ts';
import { assertNoKeyForOwner } from '../../members/role-assignment.ts';
import { lockGrantedRoles } from '../../members/slices.ts';
import { Role, roles } from '../../schema/rights/role.ts';
import { apiKeys, type ApiKey } from '../../schema/machines/api-key.ts';
import { lockServiceUserOf } from './management-key.ts';

export interface KeyCreation {
  readonly input: { readonly roleId?: string | null | undefined; readonly userId?: string | undefined };
  readonly principal: Principal | null;
  readonly scope: ResolvedScope;
  readonly rights: CallerRights;
  readonly tx: Executor;
  readonly services: Services;
  readonly record: Context['record'];
  readonly invalidate: Context['invalidate'];
}

/**
 * Returns the role of a new key: the requested one (of the project, of its owner, or built-in), otherwise the creator's
 * current role. A ProjectUser key and a management key have none; in a granted scope it must be requested. The creator
 * must be able to grant what the key will hold (authorization §5, §9).
 *
 * @throws ROLE_REQUIRED, NOT_FOUND, PRIVILEGE_ESCALATION, SESSION_REQUIRED, VALIDATION_ERROR
 */
export async function roleForNewKey(ctx: KeyCreation): Promise<{ id: string; tenantId: string } | null> {
  const { input, scope, rights, tx } = ctx;
  const principal = callerOf(ctx);
  if (scope.level !== 'project' || scope.userId !== null) {
    if (input.roleId) {
      throw fail('VALIDATION_ERROR', {
        details: [{ path: 'roleId', code: 'not_allowed' }],
        fix: 'This key acts with the rights of its user: leave roleId out.',
      });
    }
  }
  if (scope.level !== 'project') {
    await lockServiceUserOf(ctx, input.userId);
    return null;
  }
  if (input.userId !== undefined) {
    throw fail('VALIDATION_ERROR', {
      details: [{ path: 'userId', code: 'not_allowed' }],
      fix: 'Leave userId out: a key for a user of a project has the scope projectUser.',
    });
  }
  if (scope.userId !== null) {
    await assertCanActFor(ctx, principal, scope.userId);
    return null;
  }
  if (scope.grant) return roleOfSlice(tx, scope, input.roleId);
  const id = input.roleId ?? defaultRole(rights);
  assertNoKeyForOwner(ctx, [id]);
  // The share lock keeps a concurrent transaction from deleting the role before this key has it.
  const [role] = await tx
    .select({ id: roles.id, tenantId: roles.tenantId, level: roles.level })
    .from(roles)
    .where(and(eq(roles.id, id), isNull(roles.deletedAt), inArray(roles.tenantId, tenantsOf(scope))))
    .for('share');
  const levels = ['project', scope.organizationId ? 'organization' : 'account'];
  if (!role || !levels.includes(role.level)) throw fail('NOT_FOUND');
  // The new key acts as its creator.
  await assertCanGrant(tx, scope, rights, { roleIds: [role.id] }, principal.userId);
  return role;
}

/**
 * Returns the role of a key in a granted scope: one of the granted roles. The owner of the project has delegated them
 * to everyone who may create keys there, so the caller need not hold the permissions of the role.
 * @throws ROLE_REQUIRED, NOT_FOUND
 */
async function roleOfSlice(tx: Executor, scope: ResolvedScope, roleId: string | null | undefined) {
  if (!roleId)
    throw fail('ROLE_REQUIRED', {
      fix: 'Send roleId: one of the roles that are granted to your organization.',
    });
  const [role] = await tx
    .select({ id: roles.id, tenantId: roles.tenantId })
    .from(roles)
    .where(and(eq(roles.id, roleId), visible(Role, scope)))
    .for('share');
  const isGranted = role && (await lockGrantedRoles(tx, scope, [role.id])).has(role.id);
  if (!isGranted)
    throw fail('NOT_FOUND', { fix: 'Name one of the roles that are granted to your organization.' });
  return role;
}

const tenantsOf = ({ nodeId, parentId }: ResolvedScope): string[] => [
  nodeId,
  SYSTEM_NODE,
  ...(parentId ? [parentId] : []),
];

function defaultRole({ keyRoleId, subject }: CallerRights): string {
  if (keyRoleId) return keyRoleId;
  if (subject.memberRoleId) return subject.memberRoleId;
  if (subject.ownsAccount) return ACCOUNT_OWNER;
  const [only, ...others] = subject.projectRoleIds;
  if (only !== undefined && others.length === 0) return only;
  throw fail('ROLE_REQUIRED', {
    fix: 'Send roleId: a role of this project, of its owner, or a built-in one.',
  });
}

/**
 * Asserts that the caller may create a key for this user. The key has the user's rights, so the caller must hold them
 * too; a key for the caller's own user adds no rights. The share lock on the user's row orders this mutation and one
 * that deletes the user: the deletion either ends this key too, or commits first.
 * @throws NOT_FOUND, and as `roleForNewKey`
 */
async function assertCanActFor(
  ctx: Omit<KeyCreation, 'input'>,
  principal: Principal,
  userId: string,
): Promise<void> {
  if (principal.type !== 'session' && userId !== principal.userId) throw fail('SESSION_REQUIRED');
  const { scope, rights, services, tx } = ctx;
  if (!(await lockUser(ctx, userId, 'share'))) throw fail('NOT_FOUND');
  if (actsAs(principal, userId)) return;
  const rightsOfUser = await services.resolver.rightsOfUser(scope, userId, tx);
  await assertCanGrant(tx, scope, rights, { roleIds: rolesOf(rightsOfUser.subject) }, userId);
}

/**
 * Whether the caller's rights are exactly the user's. A project's key has its creator's user id, but its own rights.
 */
const actsAs = ({ type, userId, pinned }: Principal, id: string): boolean =>
  userId === id && (type === 'session' || (type === 'ApiKey' && pinned?.tenant === 'projectUser'));

/**
 * Asserts that the caller may rotate a key. They get its new secret and can act with it, so the rules of creation
 * apply: the caller must hold what the key holds, and for another user's key they need `ApiKey:CreateForUser`.
 *
 * @throws FORBIDDEN, PRIVILEGE_ESCALATION, SESSION_REQUIRED
 */
export async function assertCanRotate(
  ctx: Omit<KeyCreation, 'input'>,
  key: Pick<RowOf<typeof ApiKey>, 'scope' | 'roleId' | 'userId'>,
): Promise<void> {
  const { tx, scope, rights } = ctx;
  const principal = callerOf(ctx);
  if (principal.type === 'projectApp') throw fail('SESSION_REQUIRED');
  if (scope.level !== 'project') return void (await lockServiceUserOf(ctx, key.userId));
  assertNoKeyForOwner(ctx, [key.roleId]);
  if (key.scope.tenant !== 'ProjectUser') {
    // Callers who may rotate keys of a slice could also create one with the same role (`roleOfSlice`).
    const roleIds = key.roleId && !scope.grant ? [key.roleId] : [];
    return assertCanGrant(tx, scope, rights, { roleIds }, key.userId);
  }
  const forOthers = evaluate(rights.grants, { resource: 'ApiKey', action: 'CreateForUser' });
  if (key.userId !== principal.userId && !forOthers.authorized) {
    throw fail('FORBIDDEN', { reason: forOthers.reason, fix: 'Only its user can rotate this key.' });
  }
  await assertCanActFor(ctx, principal, key.userId);
}

const MAX_YEARS = 10;

/**
 * Returns the expiry of a new key. It must be in the future, at most ten years ahead, and not after the expiry of the
 * calling key. Without a requested expiry, it is that of the calling key.
 * @throws VALIDATION_ERROR
 */
export async function assertExpiry(
  tx: Executor,
  principal: Principal,
  expiresAt: Date | null,
  now: Date,
): Promise<Date | null> {
  const refuse = (code: 'in_past' | 'too_far') =>
    fail('VALIDATION_ERROR', { details: [{ path: 'expiresAt', code }] });
  const latest = new Date(now);
  latest.setUTCFullYear(latest.getUTCFullYear() + MAX_YEARS);
  if (expiresAt && expiresAt <= now) throw refuse('in_past');
  if (expiresAt && expiresAt > latest) throw refuse('too_far');
  if (principal.type !== 'ApiKey') return expiresAt;
  const [callingKey] = await tx
    .select({ expiresAt: apiKeys.expiresAt })
    .from(apiKeys)
    .where(eq(apiKeys.id, principal.credentialId));
  if (!callingKey?.expiresAt) return expiresAt;
  if (expiresAt && expiresAt > callingKey.expiresAt) throw refuse('too_far');
  return expiresAt ?? callingKey.expiresAt;
}
