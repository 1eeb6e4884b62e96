import { sql } from 'drizzle-orm';
import { SYSTEM_NODE } from '../db/nodes.ts';
import { preparedRowsOf } from '../db/prepared.ts';
import { anyOf } from '../db/rows.ts';
import { fail } from '../errors.ts';
import type { CallerRights } from '../kernel/context.ts';
import type { ResolvedScope } from '../kernel/scope.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { organizationNouns } from './grants.ts';
import { assertHolds, type Receiver, type WantedPermission } from './subset.ts';

/**
 * The subset rule where rights are given or taken (authorization §5): what rows stand for is read inside the
 * transaction that uses them, and compared with what the caller holds. Effective in the scope only: rights
 * that have no effect there are given to nobody.
 */
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
 * Every permission that roles, groups and permissions lead to. Unknown ids lead to none, and so do groups and
 * permissions of another tenant: a refusal must not tell what is in them. Roles may be the owner's (a key's), and
 * are looked up by whoever names them here.
 */
export async function permissionsOf(
  tx: Executor,
  { level, nodeId }: Pick<ResolvedScope, 'level' | 'nodeId'>,
  { roleIds = [], groupIds = [], permissionIds = [] }: Bundle,
): Promise<WantedPermission[]> {
  if (roleIds.length + groupIds.length + permissionIds.length === 0) return [];
  const visible = sql`(${nodeId}::uuid, ${SYSTEM_NODE}::uuid)`;
  const rows = await preparedRowsOf<PermissionRow>(
    tx,
    sql`
    select distinct on (p.id) s.slug, p.action, s.is_system as built_in, p.condition
    from permissions p join resources s on s.id = p.resource_id and s.deleted_at is null
    where p.deleted_at is null and (p.id = ${anyOf(permissionIds)} and p.tenant_id in ${visible}
      or p.id in (select gp.permission_id from group_permissions gp join groups g on g.id = gp.group_id
        where g.deleted_at is null and (g.id = ${anyOf(groupIds)} and g.tenant_id in ${visible}
          or g.id in (select rg.group_id from role_groups rg join roles r on r.id = rg.role_id
            where r.deleted_at is null and r.id = ${anyOf(roleIds)}))))`,
  );
  return rows
    .filter((row) => !(level === 'project' && row.built_in && organizationNouns.has(row.slug)))
    .map((row) => ({
      resource: row.slug,
      action: row.action,
      managementPlane: row.built_in,
      condition: row.condition,
    }));
}

/**
 * `receiver`: the only user who gets the right, if there is only one.
 * @throws PRIVILEGE_ESCALATION when the caller lacks any permission that these rows grant
 */
export async function assertMayGive(
  tx: Executor,
  scope: ResolvedScope,
  { grants, projectGrants }: CallerRights,
  bundle: Bundle,
  receiver?: Receiver,
): Promise<void> {
  assertHolds(projectGrants ?? grants, await permissionsOf(tx, scope, bundle), receiver);
}

/** Changing or deleting a row takes what it stands for now; built-in rows answer for themselves first. */
export async function assertMayChange(
  tx: Executor,
  scope: ResolvedScope,
  rights: CallerRights,
  bundle: Bundle,
  target: { readonly isSystem: boolean },
): Promise<void> {
  if (target.isSystem) throw fail('SYSTEM_ENTITY');
  await assertMayGive(tx, scope, rights, bundle);
}
