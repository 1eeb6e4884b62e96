import type { Target } from '@doorward/decision/evaluate';
import { sql, type SQL } from 'drizzle-orm';
import { idList, rowsOf } from '../../db/statements/rows.ts';
import { SYSTEM_NODE } from '../../schema/nodes.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { ACCOUNT_OWNER, ORGANIZATION_OWNER } from '../../schema/rights/built-in-ids.ts';
import { groupPermissions, roleGroups } from '../grants/role-permissions.ts';
import { byId, g, matching, r, row, type PermissionRow, type Row } from './explain-rows.ts';

/** A path from a role to a matching permission. */
export interface PathRow {
  readonly role: Row & { readonly size: number };
  readonly group: Row;
  readonly permission: PermissionRow;
  readonly condition: unknown;
}

/** If there are more paths, the explanation uses only the first ones. */
const MAX_PATHS = 1000;

/** SQL condition: role `r` can be assigned in the scope. */
const isAssignable = ({ nodeId, level, grant }: ResolvedScope): SQL =>
  grant
    ? sql`r.id in (select granted.role_id from project_grant_roles granted where granted.project_grant_id = ${nodeId}::uuid)`
    : sql`r.tenant_id = ${nodeId}::uuid or r.tenant_id = ${SYSTEM_NODE}::uuid and r.level = ${level}`;

type PathIds = readonly [role: string, group: string, permission: string];
interface PathRows {
  readonly paths: readonly PathIds[] | null;
  readonly roles: readonly PathRow['role'][] | null;
  readonly groups: readonly Row[] | null;
  readonly permissions: readonly Pick<PathRow, 'permission' | 'condition'>[] | null;
}

/**
 * Loads the paths of the subject's roles, of the roles that can be assigned in the scope, and of the owners' role. The
 * subject's paths come first. Each row is read once, however many paths contain it.
 */
export async function loadPaths(
  db: Executor,
  scope: ResolvedScope,
  roleIds: readonly string[],
  target: Target,
): Promise<PathRow[]> {
  const owners = scope.organizationId ? ORGANIZATION_OWNER : ACCOUNT_OWNER;
  const [rows] = await rowsOf<PathRows>(
    db,
    sql`
    with matching as materialized (${matching(scope, target)}),
    paths as materialized (
      select m.id as permission_id, m.created_at, r.id as role_id, g.id as group_id from matching m
      join (${groupPermissions}) on gp.permission_id = m.id
      join (${roleGroups}) on rg.group_id = g.id
      where r.id in ${idList([...roleIds, owners])} or ${isAssignable(scope)}
      order by r.id not in ${idList([...roleIds, owners])}, r.created_at, r.id limit ${MAX_PATHS})
    select
      (select json_agg(json_build_array(role_id, group_id, permission_id)
        order by created_at, permission_id, role_id, group_id) from paths) as paths,
      (select json_agg(${row(r)}, 'size', (select count(distinct gp.permission_id) from role_groups rg
          join group_permissions gp on gp.group_id = rg.group_id where rg.role_id = r.id)))
        from roles r where r.id in (select role_id from paths)) as roles,
      (select json_agg(${row(g)})) from groups g where g.id in (select group_id from paths)) as groups,
      (select json_agg(json_build_object('permission', m.permission, 'condition', m.condition))
        from matching m where m.id in (select permission_id from paths)) as permissions`,
  );
  const roles = byId(rows?.roles);
  const groups = byId(rows?.groups);
  const permissions = new Map((rows?.permissions ?? []).map((held) => [held.permission.id, held]));
  return (rows?.paths ?? []).flatMap(([roleId, groupId, permissionId]) => {
    const [role, group, permission] = [roles.get(roleId), groups.get(groupId), permissions.get(permissionId)];
    return role && group && permission ? [{ ...permission, role, group }] : [];
  });
}
