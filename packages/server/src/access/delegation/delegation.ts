import { sql } from 'drizzle-orm';
import { SYSTEM_NODE } from '../../schema/nodes.ts';
import { preparedRowsOf } from '../../db/statements/prepared.ts';
import { anyOf } from '../../db/statements/rows.ts';
import { fail } from '../../errors.ts';
import type { CallerRights } from '../../kernel/call/caller-rights.ts';
import { definingNodeOf, type ResolvedScope } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { hasEffect } from '../grants/grants.ts';
import { groupPermissions, isGranting, roleGroups } from '../grants/role-permissions.ts';
import { assertNoEscalation, type Grantee, type WantedPermission } from './escalation.ts';

/*
 * Delegation (authorization §5): a caller can grant or revoke only permissions that they hold. These permissions are
 * read in the transaction that grants or revokes them. Permissions without effect in the scope are ignored.
 */

/** Roles, groups and permissions that a call grants or revokes. */
interface Bundle {
  readonly roleIds?: readonly string[] | undefined;
  readonly groupIds?: readonly string[] | undefined;
  readonly permissionIds?: readonly string[] | undefined;
}

interface PermissionRow {
  slug: string;
  action: string;
  built_in: boolean;
  condition: unknown;
}

/**
 * Returns all permissions in these roles, groups and permissions, including those on inactive resources, which can be
 * activated again. Unknown ids, and groups and permissions of another tenant, count as empty, because a refusal must
 * not reveal their content. Roles may belong to the project's owner (for a key), so the caller of this function must
 * check their tenant.
 */
export async function permissionsOf(
  tx: Executor,
  scope: Pick<ResolvedScope, 'level' | 'nodeId'> & Partial<Pick<ResolvedScope, 'grant'>>,
  { roleIds = [], groupIds = [], permissionIds = [] }: Bundle,
): Promise<WantedPermission[]> {
  if (roleIds.length + groupIds.length + permissionIds.length === 0) return [];
  const nodeId = definingNodeOf(scope);
  const visible = sql`(${nodeId}::uuid, ${SYSTEM_NODE}::uuid)`;
  const rows = await preparedRowsOf<PermissionRow>(
    tx,
    sql`
    select distinct on (p.id) s.slug, p.action, s.is_system as built_in, p.condition
    from permissions p join resources s on s.id = p.resource_id and s.deleted_at is null
    where ${isGranting.permission} and (p.id = ${anyOf(permissionIds)} and p.tenant_id in ${visible}
      or p.id in (select gp.permission_id from ${groupPermissions}
        where g.id = ${anyOf(groupIds)} and g.tenant_id in ${visible}
          or g.id in (select rg.group_id from ${roleGroups} where r.id = ${anyOf(roleIds)})))`,
  );
  return rows
    .map((row) => ({
      resource: row.slug,
      action: row.action,
      managementPlane: row.built_in,
      condition: row.condition,
    }))
    .filter((permission) => hasEffect(permission, scope));
}

/**
 * Asserts that the caller can grant the permissions of these rows. `grantee`: the user who gains them, if there is only
 * one.
 *
 * @throws PRIVILEGE_ESCALATION if the caller lacks one of the permissions
 */
export async function assertCanGrant(
  tx: Executor,
  scope: ResolvedScope,
  { grants, projectGrants }: CallerRights,
  bundle: Bundle,
  grantee?: Grantee,
): Promise<void> {
  assertNoEscalation(projectGrants ?? grants, await permissionsOf(tx, scope, bundle), grantee);
}

/**
 * Asserts that the caller can change or delete a row, which revokes its current permissions.
 *
 * @throws SYSTEM_ENTITY for a built-in row, PRIVILEGE_ESCALATION like `assertCanGrant`
 */
export async function assertCanChange(
  tx: Executor,
  scope: ResolvedScope,
  rights: CallerRights,
  bundle: Bundle,
  target: { readonly isSystem: boolean },
): Promise<void> {
  if (target.isSystem) throw fail('SYSTEM_ENTITY');
  await assertCanGrant(tx, scope, rights, bundle);
}
