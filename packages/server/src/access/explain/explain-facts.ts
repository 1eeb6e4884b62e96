import type { Target } from '@doorward/decision/evaluate';
import { sql } from 'drizzle-orm';
import { idList, rowsOf } from '../../db/statements/rows.ts';
import { usersNodeOf, type ResolvedScope } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { ORGANIZATION_OWNER } from '../../schema/rights/built-in-ids.ts';
import { isGranting } from '../grants/role-permissions.ts';
import { byId, g, matching, r, row, type PermissionRow, type Row } from './explain-rows.ts';

export interface Facts {
  readonly permissions: readonly { readonly permission: PermissionRow; readonly condition: unknown }[];
  /** The subject's roles: one entry for each of their groups, and one for a role without groups. */
  readonly assigned: readonly { readonly role: Row; readonly group: SizedGroup | null }[];
  /** Whether there is an owner besides the subject. */
  readonly hasOtherOwner: boolean;
  /** Whether the subject is a user of the project, not only a member of its organization. */
  readonly isProjectUser: boolean;
}

interface SizedGroup extends Row {
  /** The number of its permissions. */
  readonly size: number;
}

interface FactRows extends Omit<Facts, 'assigned'> {
  readonly assigned: readonly (readonly [role: string, group: string | null])[];
  readonly roles: readonly Row[] | null;
  readonly groups: readonly SizedGroup[] | null;
}

/** If more permissions match, the explanation uses only the first ones. */
const MAX_PERMISSIONS = 50;

/**
 * Loads the facts that an explanation needs about the subject, the resource and the action. Each role and group is read
 * once, because twenty roles may have the same hundred groups, with metadata of 16 KB each.
 */
export async function loadFacts(
  db: Executor,
  scope: ResolvedScope,
  { roleIds, userId }: { readonly roleIds: readonly string[]; readonly userId: string },
  target: Target,
): Promise<Facts> {
  const [read] = await rowsOf<FactRows>(
    db,
    sql`
    with assigned as materialized (
      select r.id as role_id, r.name as role_name, g.id as group_id, g.name as group_name
      from roles r left join role_groups rg on rg.role_id = r.id
      left join groups g on g.id = rg.group_id and ${isGranting.group}
      where ${isGranting.role} and r.id in ${idList(roleIds)})
    select
      (select coalesce(json_agg(json_build_object('permission', m.permission, 'condition', m.condition)
          order by m.condition is null, m.created_at, m.id), '[]'::json)
        from (select * from (${matching(scope, target)}) matching limit ${MAX_PERMISSIONS}) m) as permissions,
      (select coalesce(json_agg(json_build_array(role_id, group_id)
        order by role_name, role_id, group_name, group_id), '[]'::json) from assigned) as assigned,
      (select json_agg(${row(r)})) from roles r where r.id in (select role_id from assigned)) as roles,
      (select json_agg(${row(g)}, 'size', (select count(*) from group_permissions gp where gp.group_id = g.id)))
        from groups g where g.id in (select group_id from assigned)) as groups,
      exists (select 1 from project_users p
        where p.tenant_id = ${usersNodeOf(scope)}::uuid and p.user_id = ${userId}::uuid) as "isProjectUser",
      case when ${scope.organizationId}::uuid is null
        then exists (select 1 from accounts a where a.id = ${scope.accountId}::uuid and a.owner_id <> ${userId}::uuid)
        else exists (select 1 from organization_members m join users u on u.id = m.user_id
          where m.tenant_id = ${scope.organizationId}::uuid and m.role_id = ${ORGANIZATION_OWNER}::uuid
            and m.user_id <> ${userId}::uuid and u.status = 'active' and u.deleted_at is null)
        end as "hasOtherOwner"`,
  );
  const { permissions, hasOtherOwner, isProjectUser, ...rows } = read as FactRows;
  const [roles, groups] = [byId(rows.roles), byId(rows.groups)];
  const assigned = rows.assigned.flatMap(([roleId, groupId]) => {
    const role = roles.get(roleId);
    return role ? [{ role, group: groups.get(groupId ?? '') ?? null }] : [];
  });
  return { permissions, assigned, hasOtherOwner, isProjectUser };
}
