import { and, eq, inArray, isNull, notInArray, sql } from 'drizzle-orm';
import { assertCanChange } from '../../access/delegation/delegation.ts';
import { assertNoEscalation } from '../../access/delegation/escalation.ts';
import { fail } from '../../errors.ts';
import type { CallerRights } from '../../kernel/call/caller-rights.ts';
import type { RowOf } from '../../kernel/entity.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';
import type { Executor, ScopedDb } from '../../kernel/scoped-db.ts';
import { Permission, permissions } from '../../schema/rights/permission.ts';
import type { Resource } from '../../schema/rights/resource.ts';

/** Creates one permission per action, if the caller may grant them. @throws PRIVILEGE_ESCALATION */
export async function createPermissionsOf(
  db: ScopedDb,
  scope: ResolvedScope,
  { grants }: CallerRights,
  { id, slug, actions }: RowOf<typeof Resource>,
): Promise<RowOf<typeof Permission>[]> {
  const wanted = { resource: slug, managementPlane: false, condition: null };
  assertNoEscalation(
    grants,
    actions.map((action) => ({ ...wanted, action })),
  );
  const created: RowOf<typeof Permission>[] = [];
  for (const action of actions) {
    const values = { resourceId: id, resourceTenantId: scope.nodeId, action, name: `${slug}:${action}` };
    created.push(await db.insert(Permission, values));
  }
  return created;
}

/**
 * Asserts that the caller may delete, activate or deactivate a resource, which changes the rights of everyone with a
 * permission on it (authorization §5).
 */
export async function assertCanChangePermissionsOf(
  tx: Executor,
  scope: ResolvedScope,
  rights: CallerRights,
  { id, isSystem }: Pick<RowOf<typeof Resource>, 'id' | 'isSystem'>,
): Promise<void> {
  const used = await tx
    .select({ id: permissions.id })
    .from(permissions)
    .where(and(eq(permissions.resourceId, id), isNull(permissions.deletedAt)));
  await assertCanChange(
    tx,
    scope,
    rights,
    { permissionIds: used.map((permission) => permission.id) },
    { isSystem },
  );
}

/**
 * Asserts that no permission uses an action that was removed. Call it after the update: concurrent creations of
 * permissions wait for the row lock of the update.
 *
 * @throws IN_USE
 */
export async function assertActionsUnused(
  tx: Executor,
  resourceId: string,
  remaining: readonly string[],
): Promise<void> {
  const used = await tx
    .selectDistinct({ action: permissions.action })
    .from(permissions)
    .where(
      and(
        eq(permissions.resourceId, resourceId),
        isNull(permissions.deletedAt),
        notInArray(permissions.action, [...remaining]),
      ),
    );
  if (used.length === 0) return;
  throw fail('IN_USE', {
    details: used.slice(0, 20).map(({ action }) => ({ path: `actions.${action}`, code: 'in_use' as const })),
    fix: 'Delete the permissions on these actions first.',
  });
}

/**
 * Asserts that no policy document protects a permission on the resource from manual changes.
 *
 * @throws DELETION_NOT_ALLOWED
 */
export async function assertPermissionsNotHeld(tx: Executor, resourceId: string): Promise<void> {
  const held = await tx
    .select({ name: permissions.name })
    .from(permissions)
    .where(
      and(
        eq(permissions.resourceId, resourceId),
        isNull(permissions.deletedAt),
        inArray(permissions.policyHold, ['protected', 'locked']),
      ),
    )
    .limit(20);
  if (held.length === 0) return;
  throw fail('DELETION_NOT_ALLOWED', {
    details: held.map(({ name }) => ({ path: `permissions.${name}`, code: 'not_allowed' as const })),
    fix: 'The policy document of the project holds these permissions: change them there.',
  });
}

/** Soft-deletes all permissions on the resource. */
export async function deletePermissionsOf(tx: Executor, resourceId: string): Promise<void> {
  await tx
    .update(permissions)
    .set({ deletedAt: sql`now()`, updatedAt: sql`now()` })
    .where(and(eq(permissions.resourceId, resourceId), isNull(permissions.deletedAt)));
}
