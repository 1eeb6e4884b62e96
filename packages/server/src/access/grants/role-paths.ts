import { sql, type SQL } from 'drizzle-orm';
import { SYSTEM_NODE } from '../../schema/nodes.ts';
import { preparedRowsOf } from '../../db/statements/prepared.ts';
import { anyOf } from '../../db/statements/rows.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import type { GrantSource, HeldPermission } from '@doorward/decision/evaluate';
import { groupPermissions, isGranting, roleGroups } from './role-permissions.ts';

interface RolePaths {
  /** Ordered by the creation of their permissions, then by id. */
  readonly paths: readonly HeldPermission[];
  /** False if the roles have more paths or bytes than the limits. */
  readonly complete: boolean;
}

export const MAX_PATHS = 10_000;
/** The limit for conditions and metadata together, in bytes of text. */
const MAX_BYTES = 8 * 1024 * 1024;
/** How many rows of one kind a statement reads; the largest row has about 10 KB. */
const BATCH = 500;

type Ids = readonly [role: string, group: string, permission: string];
type Permission = HeldPermission['permission'];
type Row = GrantSource | { readonly permission: Permission; readonly condition: unknown };
type Kind = 'role' | 'group' | 'permission';
interface ReadRow {
  readonly kind: Kind | 'paths';
  readonly value: Row | Ids[] | null;
  readonly bytes: number;
}

/**
 * Reads the paths role → group → permission → resource through which roles hold permissions. Deleted rows and inactive
 * resources grant nothing.
 *
 * A hundred groups with the same hundred permissions are ten thousand paths, but only two hundred rows. So each row is
 * read once, and a path is a list of ids. The paths and bytes of one subject are limited too, so that one subject can't
 * slow down all others. Permissions only add, so beyond the limits a subject holds less, never more. Built-in rows come
 * first.
 */
export async function loadRolePaths(db: Executor, roleIds: readonly string[]): Promise<RolePaths> {
  if (roleIds.length === 0) return { paths: [], complete: true };
  const first = await preparedRowsOf<ReadRow>(db, pathsAndRows(roleIds));
  const ids = first.flatMap(({ kind, value }) => (kind === 'paths' ? ((value ?? []) as Ids[]) : []));
  const rows = createRowStore();
  rows.add(first);
  for (const kind of kinds) {
    const missing = rows.missing(kind, ids);
    for (let start = 0; start < missing.length && !rows.isFull(); start += BATCH) {
      const isInBatch = sql`= ${anyOf(missing.slice(start, start + BATCH))}`;
      rows.add(await preparedRowsOf<ReadRow>(db, rowsOfKind[kind](isInBatch)));
    }
  }
  const paths = ids.slice(0, MAX_PATHS).flatMap((path) => rows.pathOf(path) ?? []);
  return { paths, complete: paths.length === ids.length };
}

const kinds: readonly Kind[] = ['role', 'group', 'permission'];

/** Creates a store that keeps each row once, however many paths contain it, up to the byte limit. */
function createRowStore() {
  const stored: Record<Kind, Map<string, Row>> = { role: new Map(), group: new Map(), permission: new Map() };
  let bytes = 0;
  let isFull = false;
  return {
    isFull: () => isFull,
    add(read: readonly ReadRow[]): void {
      for (const { kind, value, bytes: own } of read) {
        if (kind === 'paths') continue;
        if (bytes + own > MAX_BYTES) {
          isFull = true;
          continue;
        }
        const row = value as Row;
        stored[kind].set('permission' in row ? row.permission.id : row.id, row);
        bytes += own;
      }
    },
    missing(kind: Kind, ids: readonly Ids[]): string[] {
      const index = kinds.indexOf(kind);
      return [...new Set(ids.map((path) => path[index] as string))].filter((id) => !stored[kind].has(id));
    },
    pathOf([roleId, groupId, permissionId]: Ids): HeldPermission | undefined {
      const role = stored.role.get(roleId) as GrantSource | undefined;
      const group = stored.group.get(groupId) as GrantSource | undefined;
      const held = stored.permission.get(permissionId) as
        Pick<HeldPermission, 'permission' | 'condition'> | undefined;
      if (!role || !group || !held) return undefined;
      // Written out as a literal, because a spread takes several times as long.
      return { permission: held.permission, condition: held.condition, role, group };
    },
  };
}

/**
 * SQL for the size of a row. Built-in rows are few and count as 0, so a wide role that is assigned to an owner cannot
 * displace their own rights.
 */
const bytesOf = (text: SQL): SQL =>
  sql`case when x.is_system then 0 else coalesce(octet_length(${text}::text), 0) end as bytes`;

const grantSource = (table: SQL, which: SQL): SQL => sql`
  json_build_object('id', x.id, 'name', x.name, 'metadata', x.metadata) as value, ${bytesOf(sql`x.metadata`)}
  from ${table} x where x.id ${which}`;

const rowsOfKind: Readonly<Record<Kind, (which: SQL) => SQL>> = {
  role: (which) => sql`select 'role' as kind, ${grantSource(sql`roles`, which)}`,
  group: (which) => sql`select 'group' as kind, ${grantSource(sql`groups`, which)}`,
  permission: (which) => sql`
    select 'permission' as kind, json_build_object('permission', json_build_object('id', x.id, 'name', x.name,
        'action', x.action, 'resource', s.slug, 'managementPlane', s.is_system), 'condition', x.condition) as value,
      ${bytesOf(sql`x.condition`)}
    from permissions x join resources s on s.id = x.resource_id where x.id ${which}`,
};

/**
 * Reads the paths and their rows; one statement is enough for all but the widest roles. Each step from roles to
 * permissions is a separate materialized query: without statistics, right after a large import, PostgreSQL would
 * otherwise begin with the permissions of every tenant.
 */
const pathsAndRows = (roleIds: readonly string[]): SQL => {
  const firstOf = (kind: string): SQL =>
    sql`in (select ${sql.raw(`${kind}_id`)} from paths group by 1 order by bool_or(built_in) desc
      limit ${sql.raw(String(BATCH))})`;
  return sql`
    with granted as materialized (
      select r.id as role_id, rg.group_id, r.tenant_id = ${SYSTEM_NODE}::uuid as built_in
      from ${roleGroups} where r.id = ${anyOf(roleIds)}),
    held as materialized (
      select role_id, g.id as group_id, gp.permission_id, built_in
      from granted join (${groupPermissions}) on g.id = granted.group_id),
    paths as materialized (
      select role_id, group_id, permission_id, p.created_at, built_in from held
      join permissions p on p.id = held.permission_id and ${isGranting.permission}
      join resources s on s.id = p.resource_id and ${isGranting.resource}
      order by not built_in, p.created_at, p.id, role_id, group_id
      limit ${sql.raw(String(MAX_PATHS + 1))})
    select 'paths' as kind, json_agg(json_build_array(role_id, group_id, permission_id)
      order by created_at, permission_id, role_id, group_id) as value, 0 as bytes from paths
    union all ${rowsOfKind.role(firstOf('role'))}
    union all ${rowsOfKind.group(firstOf('group'))}
    union all ${rowsOfKind.permission(firstOf('permission'))}`;
};
