/*
 * SQL fragments for the permissions of roles. Every statement that reads them is built from these fragments, so a new
 * state of a row, such as an archived role, needs a change in this file only. Aliases: `r` roles, `rg` role_groups, `g`
 * groups, `gp` group_permissions, `p` permissions, `s` resources.
 */

import { sql, type SQL } from 'drizzle-orm';

/** SQL conditions: a row of this kind is in a state in which it grants permissions. */
export const isGranting = {
  role: sql`r.deleted_at is null`,
  group: sql`g.deleted_at is null`,
  permission: sql`p.deleted_at is null`,
  resource: sql`s.deleted_at is null and s.is_active`,
} as const;

/** Joins `r` and `rg`: the groups of roles that grant permissions. */
export const roleGroups = sql`roles r join role_groups rg on rg.role_id = r.id and ${isGranting.role}`;

/** Joins `g` and `gp`: the permissions of groups that grant permissions. */
export const groupPermissions = sql`groups g join group_permissions gp on gp.group_id = g.id and ${isGranting.group}`;

/** Joins `r`, `rg`, `g`, `gp` and `p`: each path from a role to a permission, whatever the state of the resource. */
export const rolePermissions = sql`${roleGroups}
  join (${groupPermissions}) on g.id = rg.group_id
  join permissions p on p.id = gp.permission_id and ${isGranting.permission}`;

/**
 * By noun: selects the ids of the roles that contain a row, whatever its state, because deleting the row affects the
 * assignees of these roles too.
 */
export const rolesContaining: Readonly<Record<string, (id: string) => SQL>> = {
  Role: (id) => sql`select ${id}::uuid`,
  Group: (id) => sql`select role_id from role_groups where group_id = ${id}::uuid`,
  Permission: (id) => sql`
    select rg.role_id from group_permissions gp join role_groups rg on rg.group_id = gp.group_id
    where gp.permission_id = ${id}::uuid`,
};
