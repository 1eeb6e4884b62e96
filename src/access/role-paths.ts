import { sql, type SQL } from 'drizzle-orm';
import { SYSTEM_NODE } from '../db/nodes.ts';
import { preparedRowsOf } from '../db/prepared.ts';
import { anyOf } from '../db/rows.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import type { Carrier, HeldPermission } from './evaluate.ts';

/**
 * Every path role → group → permission → resource by which roles hold something. Deleted rows and inactive resources
 * contribute nothing.
 *
 * A hundred groups with the same hundred permissions are ten thousand paths, but only two hundred rows. So each row is
 * read once, and a path is a list of ids. The paths and bytes of one subject are bounded too, so that one subject's
 * rights cannot slow down all others. Rights only add up: beyond the bounds a subject holds less, never more. Built-in
 * rows are counted first.
 */
export interface RolePaths {
  /** In the order of their permissions: by creation, then by id. */
  readonly paths: readonly HeldPermission[];
  /** False if there is more than the bounds allow. */
  readonly complete: boolean;
}

export const MAX_PATHS = 10_000;
/** Of conditions and metadata, as text. */
const MAX_BYTES = 8 * 1024 * 1024;
/** Rows of one kind in one statement; the largest row has about 10 KB. */
const BATCH = 500;

type Ids = readonly [role: string, group: string, permission: string];
type Permission = HeldPermission['permission'];
type Row = Carrier | { readonly permission: Permission; readonly condition: unknown };
type Kind = 'role' | 'group' | 'permission';
interface Read {
  readonly kind: Kind | 'paths';
  readonly value: Row | Ids[] | null;
  readonly bytes: number;
}

export async function loadRolePaths(db: Executor, roleIds: readonly string[]): Promise<RolePaths> {
  if (roleIds.length === 0) return { paths: [], complete: true };
  const first = await preparedRowsOf<Read>(db, pathsAndRows(roleIds));
  const ids = first.flatMap(({ kind, value }) => (kind === 'paths' ? ((value ?? []) as Ids[]) : []));
  const rows = keptRows();
  rows.add(first);
  for (const kind of kinds) {
    const missing = rows.missing(kind, ids);
    for (let at = 0; at < missing.length && !rows.isFull(); at += BATCH) {
      const some = sql`= ${anyOf(missing.slice(at, at + BATCH))}`;
      rows.add(await preparedRowsOf<Read>(db, rowsOfKind[kind](some)));
    }
  }
  const paths = ids.slice(0, MAX_PATHS).flatMap((path) => rows.pathOf(path) ?? []);
  return { paths, complete: paths.length === ids.length };
}

const kinds: readonly Kind[] = ['role', 'group', 'permission'];

/** Each row is one object, however many paths lead over it. */
function keptRows() {
  const kept: Record<Kind, Map<string, Row>> = { role: new Map(), group: new Map(), permission: new Map() };
  let bytes = 0;
  let isFull = false;
  return {
    isFull: () => isFull,
    add(read: readonly Read[]): void {
      for (const { kind, value, bytes: own } of read) {
        if (kind === 'paths') continue;
        if (bytes + own > MAX_BYTES) {
          isFull = true;
          continue;
        }
        const row = value as Row;
        kept[kind].set('permission' in row ? row.permission.id : row.id, row);
        bytes += own;
      }
    },
    missing(kind: Kind, ids: readonly Ids[]): string[] {
      const place = kinds.indexOf(kind);
      return [...new Set(ids.map((path) => path[place] as string))].filter((id) => !kept[kind].has(id));
    },
    pathOf([roleId, groupId, permissionId]: Ids): HeldPermission | undefined {
      const role = kept.role.get(roleId) as Carrier | undefined;
      const group = kept.group.get(groupId) as Carrier | undefined;
      const held = kept.permission.get(permissionId) as Pick<HeldPermission, 'permission' | 'condition'>;
      return role && group && held && { ...held, role, group };
    },
  };
}

/** Built-in rows are few, and always kept: no role that somebody assigns to an owner can take their own rights away. */
const bytesOf = (text: SQL): SQL =>
  sql`case when x.is_system then 0 else coalesce(octet_length(${text}::text), 0) end as bytes`;

const carrier = (table: SQL, which: SQL): SQL => sql`
  json_build_object('id', x.id, 'name', x.name, 'metadata', x.metadata) as value, ${bytesOf(sql`x.metadata`)}
  from ${table} x where x.id ${which}`;

const rowsOfKind: Readonly<Record<Kind, (which: SQL) => SQL>> = {
  role: (which) => sql`select 'role' as kind, ${carrier(sql`roles`, which)}`,
  group: (which) => sql`select 'group' as kind, ${carrier(sql`groups`, which)}`,
  permission: (which) => sql`
    select 'permission' as kind, json_build_object('permission', json_build_object('id', x.id, 'name', x.name,
        'action', x.action, 'resource', s.slug, 'managementPlane', s.is_system), 'condition', x.condition) as value,
      ${bytesOf(sql`x.condition`)}
    from permissions x join resources s on s.id = x.resource_id where x.id ${which}`,
};

/** One statement is enough for all but the widest roles. */
const pathsAndRows = (roleIds: readonly string[]): SQL => {
  const some = (kind: string): SQL =>
    sql`in (select ${sql.raw(`${kind}_id`)} from paths group by 1 order by bool_or(built_in) desc
      limit ${sql.raw(String(BATCH))})`;
  return sql`
    with paths as materialized (
      select r.id as role_id, g.id as group_id, p.id as permission_id, p.created_at,
        r.tenant_id = ${SYSTEM_NODE}::uuid as built_in
      from roles r
      join role_groups rg on rg.role_id = r.id
      join groups g on g.id = rg.group_id and g.deleted_at is null
      join group_permissions gp on gp.group_id = g.id
      join permissions p on p.id = gp.permission_id and p.deleted_at is null
      join resources s on s.id = p.resource_id and s.deleted_at is null and s.is_active
      where r.deleted_at is null and r.id = ${anyOf(roleIds)}
      order by r.tenant_id <> ${SYSTEM_NODE}::uuid, p.created_at, p.id, r.id, g.id
      limit ${sql.raw(String(MAX_PATHS + 1))})
    select 'paths' as kind, json_agg(json_build_array(role_id, group_id, permission_id)
      order by created_at, permission_id, role_id, group_id) as value, 0 as bytes from paths
    union all ${rowsOfKind.role(some('role'))}
    union all ${rowsOfKind.group(some('group'))}
    union all ${rowsOfKind.permission(some('permission'))}`;
};
