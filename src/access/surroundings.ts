import { sql, type SQL } from 'drizzle-orm';
import { SYSTEM_NODE } from '../db/nodes.ts';
import { idList, rowsOf } from '../db/rows.ts';
import type { ResolvedScope } from '../kernel/scope.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { ACCOUNT_OWNER, ORGANIZATION_OWNER } from './built-in.ts';
import type { Carrier, HeldPermission, Target } from './evaluate.ts';
import type { Link, Surroundings } from './explain.ts';
import { organizationNouns, type Standing } from './grants.ts';

/**
 * What stands around one question in a tenant: how the subject's roles lead to the pair, and which roles, groups and
 * attributes an owner of the tenant could change through the API. Two statements, read for explanations only.
 *
 * Nothing is offered that the API would refuse: built-in rows, what belongs to another tenant, what is full, and what
 * nobody can do for lack of a second owner, since no one changes his own roles and metadata.
 */

/** Whose rights are explained, and by which roles he has them in the scope. */
export interface Explainee {
  readonly kind: 'user' | 'apiKey';
  /** Of a key, the user whose attributes its conditions read. */
  readonly userId: string;
  readonly standing: Standing;
  readonly roleIds: readonly string[];
}

const ownerRoles: readonly string[] = [ACCOUNT_OWNER, ORGANIZATION_OWNER];

export interface RoleName {
  readonly id: string;
  readonly name: string;
}

/** As many paths and permissions as are looked at; a tenant with more is explained by the first of them. */
const MOST = { paths: 1000, permissions: 50 } as const;
/** Caps of the inputs: permissions of a group, roles of a user. */
const FULL = { group: 100, user: 20 } as const;

export async function loadSurroundings(
  db: Executor,
  scope: ResolvedScope,
  subject: Explainee,
  target: Target,
): Promise<{ readonly roles: readonly RoleName[]; readonly surroundings: Surroundings }> {
  const hasEffect = !(
    scope.level === 'project' &&
    target.management &&
    organizationNouns.has(target.resource)
  );
  const facts = await loadFacts(db, scope, subject, target);
  const paths = hasEffect ? await loadPaths(db, scope, subject, target) : [];
  const worn = new Set(subject.roleIds);
  const held = paths.filter(({ role }) => worn.has(role.id)).map(heldOf);
  const roles = new Map(facts.carried.map(({ role }) => [role.id, role]));
  // Who gives must hold it himself: of the management plane that is what the owners' role has, of the other everything.
  const owners = scope.organizationId ? ORGANIZATION_OWNER : ACCOUNT_OWNER;
  const canGive =
    !target.management || paths.some(({ role, condition }) => role.id === owners && condition === null);
  const own = facts.carried.flatMap(({ role, group }) => [role, ...(group ? [group] : [])]);
  return {
    roles: [...roles.values()].map(({ id, name }) => ({ id, name })),
    surroundings: {
      held,
      roles: canGive && canBeGivenRoles(scope, subject, facts) ? offered(paths, worn, scope) : [],
      links: canGive && hasEffect ? linksOf(facts, held, scope) : [],
      settable: {
        user: facts.takesPart || subject.standing.memberRoleId !== null ? facts.otherOwner : false,
        carriers: new Set(own.filter(({ isSystem }) => !isSystem).map(({ id }) => id)),
      },
    },
  };
}

interface Row extends Carrier {
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

/** What matches the question in the tenant, its owner, and among built-in rows. */
const matching = ({ nodeId, parentId }: ResolvedScope, { management, resource, action }: Target): SQL => sql`
  select p.id, p.created_at, p.condition, json_build_object('id', p.id, 'name', p.name, 'action', p.action,
      'tenantId', p.tenant_id, 'slug', s.slug, 'builtIn', s.is_system) as permission
  from resources s join permissions p on p.resource_id = s.id and p.deleted_at is null
  where s.slug = ${resource} and s.is_system = ${management} and s.is_active and s.deleted_at is null
    and lower(p.action) = ${action}
    and p.tenant_id in (${nodeId}::uuid, ${parentId}::uuid, ${SYSTEM_NODE}::uuid)`;

const row = (table: SQL): SQL => sql`json_build_object('id', ${table}.id, 'name', ${table}.name,
  'metadata', ${table}.metadata, 'tenantId', ${table}.tenant_id, 'isSystem', ${table}.is_system`;
const [r, g] = [sql.raw('r'), sql.raw('g')];

type Found = readonly [role: string, group: string, permission: string];
interface FoundRows {
  readonly found: readonly Found[] | null;
  readonly roles: readonly PathRow['role'][] | null;
  readonly groups: readonly Row[] | null;
  readonly permissions: readonly Pick<PathRow, 'permission' | 'condition'>[] | null;
}

/**
 * The paths of the subject's roles, of the roles that could be assigned in the scope, and of the roles of its owners.
 * The paths of the subject come first. Each row is read once, however many paths lead over it.
 */
async function loadPaths(
  db: Executor,
  scope: ResolvedScope,
  { roleIds }: Explainee,
  target: Target,
): Promise<PathRow[]> {
  const owners = scope.organizationId ? ORGANIZATION_OWNER : ACCOUNT_OWNER;
  const [rows] = await rowsOf<FoundRows>(
    db,
    sql`
    with matching as materialized (${matching(scope, target)}),
    found as materialized (
      select m.id as permission_id, m.created_at, x.id as role_id, g.id as group_id from matching m
      join group_permissions gp on gp.permission_id = m.id
      join groups g on g.id = gp.group_id and g.deleted_at is null
      join role_groups rg on rg.group_id = gp.group_id
      join roles x on x.id = rg.role_id and x.deleted_at is null
      where x.id in ${idList([...roleIds, owners])} or x.tenant_id = ${scope.nodeId}::uuid
        or x.tenant_id = ${SYSTEM_NODE}::uuid and x.level = ${scope.level}
      order by x.id not in ${idList([...roleIds, owners])}, x.created_at, x.id limit ${MOST.paths})
    select
      (select json_agg(json_build_array(role_id, group_id, permission_id)
        order by created_at, permission_id, role_id, group_id) from found) as found,
      (select json_agg(${row(r)}, 'size', (select count(distinct gp.permission_id) from role_groups rg
          join group_permissions gp on gp.group_id = rg.group_id where rg.role_id = r.id)))
        from roles r where r.id in (select role_id from found)) as roles,
      (select json_agg(${row(g)})) from groups g where g.id in (select group_id from found)) as groups,
      (select json_agg(json_build_object('permission', m.permission, 'condition', m.condition))
        from matching m where m.id in (select permission_id from found)) as permissions`,
  );
  const byId = <T>(all: readonly T[] | null | undefined, idOf: (one: T) => string) =>
    new Map((all ?? []).map((one) => [idOf(one), one]));
  const roles = byId(rows?.roles, ({ id }) => id);
  const groups = byId(rows?.groups, ({ id }) => id);
  const permissions = byId(rows?.permissions, ({ permission }) => permission.id);
  return (rows?.found ?? []).flatMap(([roleId, groupId, permissionId]) => {
    const [role, group, permission] = [roles.get(roleId), groups.get(groupId), permissions.get(permissionId)];
    return role && group && permission ? [{ ...permission, role, group }] : [];
  });
}

interface Facts {
  readonly permissions: readonly { readonly permission: PermissionRow; readonly condition: unknown }[];
  readonly carried: readonly { readonly role: Row; readonly group: (Row & { size: number }) | null }[];
  /** There is an owner beside the subject. */
  readonly otherOwner: boolean;
  /** The subject has a membership of his own in the project. */
  readonly takesPart: boolean;
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
        from (select * from (${matching(scope, target)}) every limit ${MOST.permissions}) m) as permissions,
      (select coalesce(json_agg(json_build_object('role', ${row(r)}), 'group', case when g.id is null then null
          else ${row(g)}, 'size', (select count(*) from group_permissions gp where gp.group_id = g.id)) end)
          order by r.name, r.id, g.name, g.id), '[]'::json)
        from roles r left join role_groups rg on rg.role_id = r.id
        left join groups g on g.id = rg.group_id and g.deleted_at is null
        where r.deleted_at is null and r.id in ${idList(roleIds)}) as carried,
      exists (select 1 from project_users p
        where p.tenant_id = ${scope.projectId}::uuid and p.user_id = ${userId}::uuid) as "takesPart",
      case when ${scope.organizationId}::uuid is null
        then exists (select 1 from accounts a where a.id = ${scope.accountId}::uuid and a.owner_id <> ${userId}::uuid)
        else exists (select 1 from organization_members m join users u on u.id = m.user_id
          where m.tenant_id = ${scope.organizationId}::uuid and m.role_id = ${ORGANIZATION_OWNER}::uuid
            and m.user_id <> ${userId}::uuid and u.status = 'active' and u.deleted_at is null)
        end as "otherOwner"`,
  );
  return rows[0] as Facts;
}

/** A key's role is fixed; a member has one role, and an owner's is not taken away; who is in a project has up to 20. */
function canBeGivenRoles(
  { level }: ResolvedScope,
  { kind, standing }: Explainee,
  { otherOwner, takesPart }: Facts,
): boolean {
  if (kind !== 'user' || level === 'account') return false;
  if (level === 'organization')
    return standing.memberRoleId !== null && standing.memberRoleId !== ORGANIZATION_OWNER;
  // Who is not in the project yet is added to it, with the role.
  return takesPart ? otherOwner && standing.projectRoleIds.length < FULL.user : true;
}

/** Roles that the scope itself may give: an owner's are read for another purpose, and wear none in a project. */
function offered(
  paths: readonly PathRow[],
  worn: ReadonlySet<string>,
  { level }: ResolvedScope,
): Surroundings['roles'] {
  const byRole = new Map<string, PathRow[]>();
  for (const path of paths) {
    const { id } = path.role;
    if (worn.has(id) || (level === 'project' && ownerRoles.includes(id))) continue;
    const known = byRole.get(id);
    if (known) known.push(path);
    else byRole.set(id, [path]);
  }
  return [...byRole]
    .sort(([, [a]], [, [b]]) => Number(a?.role.size) - Number(b?.role.size))
    .map(([roleId, some]) => ({ roleId, paths: some.map(heldOf) }));
}

/** Of the project before its owner's, small groups first, conditional permissions first: in this order they give least. */
function linksOf(
  { permissions, carried }: Facts,
  held: readonly HeldPermission[],
  { nodeId }: ResolvedScope,
): Link[] {
  const groups = new Map(carried.flatMap(({ group }) => (group ? [[group.id, group] as const] : [])));
  return [...groups.values()]
    .filter(({ isSystem, size }) => !isSystem && size < FULL.group)
    .sort((a, b) => Number(b.tenantId === nodeId) - Number(a.tenantId === nodeId) || a.size - b.size)
    .flatMap((group) =>
      permissions
        .filter(({ permission }) => permission.builtIn || permission.tenantId === group.tenantId)
        .filter(
          ({ permission: { id } }) =>
            !held.some((one) => one.group.id === group.id && one.permission.id === id),
        )
        .map(({ permission, condition }) => ({
          groupId: group.id,
          permissionId: permission.id,
          paths: carried
            .filter((one) => one.group?.id === group.id)
            .map(({ role }) => heldOf({ role: { ...role, size: 0 }, group, permission, condition })),
        })),
    );
}
