import { sql, type SQL } from 'drizzle-orm';
import type { ScopeGrant } from '../../kernel/scope.ts';

/* The rows of a project that the customer of a grant sees: the granted roles, and the live rows that they contain. */

const roles = ({ id }: ScopeGrant): SQL => sql`select granted.role_id from project_grant_roles granted
  join roles r on r.id = granted.role_id and r.deleted_at is null where granted.project_grant_id = ${id}::uuid`;

const groups = (grant: ScopeGrant): SQL => sql`select rg.group_id from role_groups rg
  join groups g on g.id = rg.group_id and g.deleted_at is null where rg.role_id in (${roles(grant)})`;

const permissions = (grant: ScopeGrant): SQL => sql`select gp.permission_id from group_permissions gp
  join permissions p on p.id = gp.permission_id and p.deleted_at is null where gp.group_id in (${groups(grant)})`;

/** SQL: the ids of the granted roles. */
export const grantedRoles = (grant: ScopeGrant): SQL => sql`(${roles(grant)})`;
/** The ids of the groups of the granted roles. */
export const grantedGroups = (grant: ScopeGrant): SQL => sql`(${groups(grant)})`;
/** The ids of the permissions of those groups. */
export const grantedPermissions = (grant: ScopeGrant): SQL => sql`(${permissions(grant)})`;
/** The ids of the resources of those permissions. */
export const grantedResources = (grant: ScopeGrant): SQL =>
  sql`(select p.resource_id from permissions p where p.id in (${permissions(grant)}))`;
