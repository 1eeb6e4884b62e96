import { sql, type SQL } from 'drizzle-orm';
import { SYSTEM_NODE } from '../../db/tenancy/nodes.ts';
import { idList, rowsOf } from '../../db/query/rows.ts';
import { definingNodeOf, usersNodeOf, type ResolvedScope } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { ACCOUNT_OWNER, ORGANIZATION_OWNER } from '../built-in.ts';
import type { GrantSource, HeldPermission, Target } from '@doorward/decision/evaluate';
import type { Link, ExplainContext } from '@doorward/decision/explain';
import { hasEffect, type SubjectStatus } from '../grants/grants.ts';
import { groupPermissions, isGranting, roleGroups } from '../grants/role-permissions.ts';

/**
 * Loads the context of an explanation: the paths of the subject's roles to the resource and action in question, and the
 * roles, groups and attributes that an owner of the tenant could change through the API. Two statements.
 *
 * It offers nothing that the API would refuse: changes of built-in rows and of rows of another tenant, additions to a full
 * group or user, and changes of the only owner, because users cannot change their own roles and metadata.
 */

/** The subject of an explanation, with its roles in the scope. */
export interface Explainee {
  readonly kind: 'user' | 'apiKey';
  /** The user; for a key, the user whose attributes its conditions read. */
  readonly userId: string;
  readonly status: SubjectStatus;
  readonly roleIds: readonly string[];
}

const ownerRoles: readonly string[] = [ACCOUNT_OWNER, ORGANIZATION_OWNER];

interface RoleName {
  readonly id: string;
  readonly name: string;
}

/** Limits of what is read; in a tenant with more, the explanation uses the first of them. */
const MAX = { paths: 1000, permissions: 50 } as const;
/** Limits of the API: permissions of a group, roles of a user. */
const CAPACITY = { group: 100, user: 20 } as const;

export async function loadExplainContext(
  db: Executor,
  scope: ResolvedScope,
  subject: Explainee,
  target: Target,
): Promise<{ readonly roles: readonly RoleName[]; readonly context: ExplainContext }> {
  const { management: managementPlane, resource, action } = target;
  const isEffective = hasEffect({ managementPlane, resource, action }, scope);
  const facts = await loadFacts(db, scope, subject, target);
  const paths = isEffective ? await loadPaths(db, scope, subject, target) : [];
  const assignedRoleIds = new Set(subject.roleIds);
  const held = paths.filter(({ role }) => assignedRoleIds.has(role.id)).map(heldOf);
  const roles = new Map(facts.assigned.map(({ role }) => [role.id, role]));
  // An administrator can grant only what they hold: owners hold the whole project plane, and on the management plane what
  // their role has.
  const owners = scope.organizationId ? ORGANIZATION_OWNER : ACCOUNT_OWNER;
  const canGrant =
    !target.management || paths.some(({ role, condition }) => role.id === owners && condition === null);
  const sources = facts.assigned.flatMap(({ role, group }) => [role, ...(group ? [group] : [])]);
  return {
    roles: [...roles.values()].map(({ id, name }) => ({ id, name })),
    context: {
      held,
      roles:
        canGrant && canTakeRole(scope, subject, facts)
          ? assignableRoles(paths, assignedRoleIds, scope, subject.status)
          : [],
      // The owner of the project defines what its roles contain, not the customer of a grant.
      links: canGrant && isEffective && !scope.grant ? linksOf(facts, held, scope) : [],
      settable: {
        user: facts.isProjectUser || subject.status.memberRoleId !== null ? facts.hasOtherOwner : false,
        grantSources: new Set(
          scope.grant ? [] : sources.filter(({ isSystem }) => !isSystem).map(({ id }) => id),
        ),
      },
    },
  };
}

interface Row extends GrantSource {
  readonly tenantId: string;
  readonly isSystem: boolean;
}

interface PathRow {
  readonly role: Row & { readonly size: number };
  readonly group: Row;
  readonly permission: PermissionRow;
  readonly condition: unknown;
}

interface PermissionRow {
  readonly id: string;
  readonly name: string;
  readonly action: string;
  readonly tenantId: string;
  readonly slug: string;
  readonly builtIn: boolean;
}

const heldOf = ({ role, group, permission, condition }: PathRow): HeldPermission => ({
  permission: {
    id: permission.id,
    name: permission.name,
    action: permission.action,
    resource: permission.slug,
    managementPlane: permission.builtIn,
  },
  condition,
  role,
  group,
});

/** The permissions for the question in the tenant, its owner, and among built-in rows. */
const matching = (scope: ResolvedScope, { management, resource, action }: Target): SQL => sql`
  select p.id, p.created_at, p.condition, json_build_object('id', p.id, 'name', p.name, 'action', p.action,
      'tenantId', p.tenant_id, 'slug', s.slug, 'builtIn', s.is_system) as permission
  from resources s join permissions p on p.resource_id = s.id and ${isGranting.permission}
  where s.slug = ${resource} and s.is_system = ${management} and ${isGranting.resource}
    and lower(p.action) = ${action}
    and p.tenant_id in (${definingNodeOf(scope)}::uuid, ${scope.grant ? scope.organizationId : scope.parentId}::uuid, ${SYSTEM_NODE}::uuid)`;

const row = (table: SQL): SQL => sql`json_build_object('id', ${table}.id, 'name', ${table}.name,
  'metadata', ${table}.metadata, 'tenantId', ${table}.tenant_id, 'isSystem', ${table}.is_system`;
const [r, g] = [sql.raw('r'), sql.raw('g')];

/** Whether role `r` can be assigned in the scope. */
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
 * The paths of the subject's roles, of the roles that can be assigned in the scope, and of the role of its owners. The
 * paths of the subject come first. Each row is read once, however many paths contain it.
 */
async function loadPaths(
  db: Executor,
  scope: ResolvedScope,
  { roleIds }: Explainee,
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
      order by r.id not in ${idList([...roleIds, owners])}, r.created_at, r.id limit ${MAX.paths})
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
  const byId = <T>(all: readonly T[] | null | undefined, idOf: (item: T) => string) =>
    new Map((all ?? []).map((item) => [idOf(item), item]));
  const roles = byId(rows?.roles, ({ id }) => id);
  const groups = byId(rows?.groups, ({ id }) => id);
  const permissions = byId(rows?.permissions, ({ permission }) => permission.id);
  return (rows?.paths ?? []).flatMap(([roleId, groupId, permissionId]) => {
    const [role, group, permission] = [roles.get(roleId), groups.get(groupId), permissions.get(permissionId)];
    return role && group && permission ? [{ ...permission, role, group }] : [];
  });
}

interface Facts {
  readonly permissions: readonly { readonly permission: PermissionRow; readonly condition: unknown }[];
  readonly assigned: readonly { readonly role: Row; readonly group: (Row & { size: number }) | null }[];
  /** Whether there is an owner besides the subject. */
  readonly hasOtherOwner: boolean;
  /** Whether the subject is a user of the project, not only a member of its organization. */
  readonly isProjectUser: boolean;
}

async function loadFacts(
  db: Executor,
  scope: ResolvedScope,
  { roleIds, userId }: Explainee,
  target: Target,
): Promise<Facts> {
  const rows = await rowsOf<Facts>(
    db,
    sql`
    select
      (select coalesce(json_agg(json_build_object('permission', m.permission, 'condition', m.condition)
          order by m.condition is null, m.created_at, m.id), '[]'::json)
        from (select * from (${matching(scope, target)}) matching limit ${MAX.permissions}) m) as permissions,
      (select coalesce(json_agg(json_build_object('role', ${row(r)}), 'group', case when g.id is null then null
          else ${row(g)}, 'size', (select count(*) from group_permissions gp where gp.group_id = g.id)) end)
          order by r.name, r.id, g.name, g.id), '[]'::json)
        from roles r left join role_groups rg on rg.role_id = r.id
        left join groups g on g.id = rg.group_id and ${isGranting.group}
        where ${isGranting.role} and r.id in ${idList(roleIds)}) as assigned,
      exists (select 1 from project_users p
        where p.tenant_id = ${usersNodeOf(scope)}::uuid and p.user_id = ${userId}::uuid) as "isProjectUser",
      case when ${scope.organizationId}::uuid is null
        then exists (select 1 from accounts a where a.id = ${scope.accountId}::uuid and a.owner_id <> ${userId}::uuid)
        else exists (select 1 from organization_members m join users u on u.id = m.user_id
          where m.tenant_id = ${scope.organizationId}::uuid and m.role_id = ${ORGANIZATION_OWNER}::uuid
            and m.user_id <> ${userId}::uuid and u.status = 'active' and u.deleted_at is null)
        end as "hasOtherOwner"`,
  );
  return rows[0] as Facts;
}

/**
 * The role of a key is fixed; a member, and a service user of an account, has one role, which owners keep; a user of a
 * project has up to 20.
 */
function canTakeRole(
  { level }: ResolvedScope,
  { kind, status }: Explainee,
  { hasOtherOwner: otherOwner, isProjectUser: takesPart }: Facts,
): boolean {
  if (kind !== 'user') return false;
  if (level === 'account') return status.memberRoleId !== null;
  if (level === 'organization')
    return status.memberRoleId !== null && status.memberRoleId !== ORGANIZATION_OWNER;
  // A member who is not a user of the project yet can be added to it with the role.
  return takesPart ? otherOwner && status.projectRoleIds.length < CAPACITY.user : true;
}

/** Roles that can be assigned in the scope. The paths also contain the owners' role, which is not assignable in a project. */
function assignableRoles(
  paths: readonly PathRow[],
  assignedRoleIds: ReadonlySet<string>,
  { level }: ResolvedScope,
  { isService }: SubjectStatus,
): ExplainContext['roles'] {
  const byRole = new Map<string, PathRow[]>();
  for (const path of paths) {
    const { id } = path.role;
    if (assignedRoleIds.has(id) || (level === 'project' && ownerRoles.includes(id))) continue;
    if (isService && id === ORGANIZATION_OWNER) continue;
    const existing = byRole.get(id);
    if (existing) existing.push(path);
    else byRole.set(id, [path]);
  }
  return [...byRole]
    .sort(([, [a]], [, [b]]) => Number(a?.role.size) - Number(b?.role.size))
    .map(([roleId, rolePaths]) => ({ roleId, paths: rolePaths.map(heldOf) }));
}

/** Least privilege first: groups of the scope before those of its owner, small groups and conditional permissions first. */
function linksOf(
  { permissions, assigned }: Facts,
  held: readonly HeldPermission[],
  { nodeId }: ResolvedScope,
): Link[] {
  const groups = new Map(assigned.flatMap(({ group }) => (group ? [[group.id, group] as const] : [])));
  return [...groups.values()]
    .filter(({ isSystem, size }) => !isSystem && size < CAPACITY.group)
    .sort((a, b) => Number(b.tenantId === nodeId) - Number(a.tenantId === nodeId) || a.size - b.size)
    .flatMap((group) =>
      permissions
        .filter(({ permission }) => permission.builtIn || permission.tenantId === group.tenantId)
        .filter(
          ({ permission: { id } }) =>
            !held.some(
              (heldPermission) => heldPermission.group.id === group.id && heldPermission.permission.id === id,
            ),
        )
        .map(({ permission, condition }) => ({
          groupId: group.id,
          permissionId: permission.id,
          paths: assigned
            .filter((item) => item.group?.id === group.id)
            .map(({ role }) => heldOf({ role: { ...role, size: 0 }, group, permission, condition })),
        })),
    );
}
