import { and, eq, inArray, isNull } from 'drizzle-orm';
import { ACCOUNT_OWNER } from '../../access/built-in.ts';
import { evaluate } from '../../access/evaluate.ts';
import { assertMayGive } from '../../access/giving.ts';
import { rolesOf } from '../../access/grants.ts';
import { SYSTEM_NODE } from '../../db/nodes.ts';
import { fail } from '../../errors.ts';
import { callerOf, type CallerRights, type Principal, type Services } from '../../kernel/context.ts';
import type { RowOf } from '../../kernel/entity.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { lockUser } from '../identity/verification.ts';
import { roles } from '../roles/role.ts';
import { apiKeys, type ApiKey } from './api-key.ts';

interface Creation {
  readonly input: { readonly roleId?: string | null | undefined };
  readonly principal: Principal | null;
  readonly scope: ResolvedScope;
  readonly rights: CallerRights;
  readonly tx: Executor;
  readonly services: Services;
}

/**
 * The role that a new key gets: the one named (of the project or of its owner, or built-in), else the creator's
 * current one; a ProjectUser key has none. Always under the subset rule (authorization §5, §9).
 *
 * @throws ROLE_REQUIRED, NOT_FOUND, PRIVILEGE_ESCALATION, SESSION_REQUIRED, VALIDATION_ERROR
 */
export async function roleForNewKey(ctx: Creation): Promise<{ id: string; tenantId: string } | null> {
  const { input, scope, rights, tx } = ctx;
  const principal = callerOf(ctx);
  if (scope.userId !== null) {
    if (input.roleId) {
      throw fail('VALIDATION_ERROR', {
        details: [{ path: 'roleId', code: 'not_allowed' }],
        fix: 'A ProjectUser key acts with the rights of its user: leave roleId out.',
      });
    }
    await assertMayActFor(ctx, principal, scope.userId);
    return null;
  }
  const id = input.roleId ?? defaultRole(rights);
  // Share-locked, so that the role cannot be deleted as unworn before this key wears it.
  const [role] = await tx
    .select({ id: roles.id, tenantId: roles.tenantId, level: roles.level })
    .from(roles)
    .where(and(eq(roles.id, id), isNull(roles.deletedAt), inArray(roles.tenantId, tenantsOf(scope))))
    .for('share');
  const levels = ['project', scope.organizationId ? 'organization' : 'account'];
  if (!role || !levels.includes(role.level)) throw fail('NOT_FOUND');
  // The new key acts as the user who makes it.
  await assertMayGive(tx, scope, rights, { roleIds: [role.id] }, principal.userId);
  return role;
}

const tenantsOf = ({ nodeId, parentId }: ResolvedScope): string[] => [
  nodeId,
  SYSTEM_NODE,
  ...(parentId ? [parentId] : []),
];

function defaultRole({ keyRoleId, standing }: CallerRights): string {
  if (keyRoleId) return keyRoleId;
  if (standing.memberRoleId) return standing.memberRoleId;
  if (standing.ownsAccount) return ACCOUNT_OWNER;
  const [only, ...others] = standing.projectRoleIds;
  if (only !== undefined && others.length === 0) return only;
  throw fail('ROLE_REQUIRED', {
    fix: 'Send roleId: a role of this project, of its owner, or a built-in one.',
  });
}

/**
 * A key for another user holds what that user holds, so the caller must hold it too; a key for the caller gives them
 * nothing new. The row of the user is share-locked: a mutation that ends the user either waits for this key and ends it
 * too, or comes first, and this mutation waits.
 * @throws NOT_FOUND, and as `roleForNewKey`
 */
async function assertMayActFor(
  ctx: Omit<Creation, 'input'>,
  principal: Principal,
  userId: string,
): Promise<void> {
  if (principal.type !== 'session' && userId !== principal.userId) throw fail('SESSION_REQUIRED');
  const { scope, rights, services, tx } = ctx;
  if (!(await lockUser(ctx, userId, 'share'))) throw fail('NOT_FOUND');
  if (actsAs(principal, userId)) return;
  const held = await services.resolver.rightsOfUser(scope, userId, tx);
  await assertMayGive(tx, scope, rights, { roleIds: rolesOf(held.standing) }, userId);
}

/**
 * Whether a caller holds exactly what the user does. A project's key carries the id of its maker, but does not act as
 * them.
 */
const actsAs = ({ type, userId, pinned }: Principal, id: string): boolean =>
  userId === id && (type === 'session' || (type === 'ApiKey' && pinned?.tenant === 'projectUser'));

/**
 * Whoever gets the new secret of a key can act with it, so rotating one is judged as making it would be: what the key
 * holds now must be held, and a key that acts as another user needs the right to make keys for users.
 *
 * @throws FORBIDDEN, PRIVILEGE_ESCALATION, SESSION_REQUIRED
 */
export async function assertMayRotate(
  ctx: Omit<Creation, 'input'>,
  key: Pick<RowOf<typeof ApiKey>, 'scope' | 'roleId' | 'userId'>,
): Promise<void> {
  const { tx, scope, rights } = ctx;
  const principal = callerOf(ctx);
  if (principal.type === 'projectApp') throw fail('SESSION_REQUIRED');
  if (key.scope.tenant !== 'ProjectUser') {
    const roleIds = key.roleId ? [key.roleId] : [];
    return assertMayGive(tx, scope, rights, { roleIds }, key.userId);
  }
  const forOthers = evaluate(rights.grants, { resource: 'ApiKey', action: 'CreateForUser' });
  if (key.userId !== principal.userId && !forOthers.authorized) {
    throw fail('FORBIDDEN', { reason: forOthers.reason, fix: 'Only its user can rotate this key.' });
  }
  await assertMayActFor(ctx, principal, key.userId);
}

const MAX_YEARS = 10;

/**
 * The expiry of a new key: in the future, at most ten years ahead, and never after that of a key that makes it.
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
  const [own] = await tx
    .select({ expiresAt: apiKeys.expiresAt })
    .from(apiKeys)
    .where(eq(apiKeys.id, principal.credentialId));
  if (!own?.expiresAt) return expiresAt;
  if (expiresAt && expiresAt > own.expiresAt) throw refuse('too_far');
  return expiresAt ?? own.expiresAt;
}
