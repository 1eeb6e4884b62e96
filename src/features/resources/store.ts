import { and, eq, isNull, notInArray, sql } from 'drizzle-orm';
import { assertMayChange } from '../../access/giving.ts';
import { assertHolds } from '../../access/subset.ts';
import { fail } from '../../errors.ts';
import type { CallerRights } from '../../kernel/context.ts';
import type { RowOf } from '../../kernel/entity.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';
import type { Executor, ScopedDb } from '../../kernel/scoped-db.ts';
import { Permission, permissions } from '../permissions/permission.ts';
import type { Resource } from './resource.ts';

/** One permission per action, under the subset rule like every other permission. */
export async function createPermissionsOf(
  db: ScopedDb,
  scope: ResolvedScope,
  { grants }: CallerRights,
  { id, slug, actions }: RowOf<typeof Resource>,
): Promise<RowOf<typeof Permission>[]> {
  const wanted = { resource: slug, managementPlane: false, condition: null };
  assertHolds(
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

/** Deleting or switching a resource moves the rights of everybody who holds a permission on it (authorization §5). */
export async function assertMayMovePermissionsOf(
  tx: Executor,
  scope: ResolvedScope,
  rights: CallerRights,
  { id, isSystem }: Pick<RowOf<typeof Resource>, 'id' | 'isSystem'>,
): Promise<void> {
  const used = await tx
    .select({ id: permissions.id })
    .from(permissions)
    .where(and(eq(permissions.resourceId, id), isNull(permissions.deletedAt)));
  await assertMayChange(tx, scope, rights, { permissionIds: used.map((one) => one.id) }, { isSystem });
}

/**
 * An action that a permission uses cannot be removed (409 IN_USE). Asked after the update, whose row lock makes
 * permissions that are being created wait for it.
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

export async function deletePermissionsOf(tx: Executor, resourceId: string): Promise<void> {
  await tx
    .update(permissions)
    .set({ deletedAt: sql`now()`, updatedAt: sql`now()` })
    .where(and(eq(permissions.resourceId, resourceId), isNull(permissions.deletedAt)));
}
