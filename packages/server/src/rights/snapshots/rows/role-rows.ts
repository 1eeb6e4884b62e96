import { sql, type SQL } from 'drizzle-orm';
import { setImmediate as nextTick } from 'node:timers/promises';
import { compileCondition, type Condition } from '@doorward/decision/conditions';
import type { SnapshotRows } from '@doorward/decision/snapshot-claims';
import { organizationNouns } from '@doorward/decision/policy/organization-nouns';
import { MAX_PATHS } from '../../../access/grants/role-paths.ts';
import { isGranting, rolePermissions } from '../../../access/grants/role-permissions.ts';
import { anyOf, rowsOf } from '../../../db/statements/rows.ts';
import type { Executor } from '../../../kernel/scoped-db.ts';
import { attributeTree, pick, type AttributeTree } from './attribute-tree.ts';
import { tooLarge } from './limits.ts';

interface RoleRows extends Pick<SnapshotRows, 'roles' | 'groups' | 'permissions' | 'resources'> {
  /** The attributes of users that conditions read, without the id. */
  readonly userAttributes: AttributeTree;
  /** The attributes of the organization that conditions read. */
  readonly organizationAttributes: AttributeTree;
}

const ROWS = 1000;
/** The same limit as `MAX_BYTES` in role-paths.ts. */
const MAX_BYTES = 8 * 1024 * 1024;

interface PathRow {
  readonly role: string;
  readonly group: string;
  readonly permission: string;
}

interface PermissionRow {
  readonly id: string;
  readonly name: string;
  readonly action: string;
  readonly condition: unknown;
  readonly createdAt: number;
  readonly resourceId: string;
  readonly slug: string;
  readonly isSystem: boolean;
}

interface SourceRow {
  readonly id: string;
  readonly name: string;
}

/**
 * Reads the rows on the paths role → group → permission → resource that grant something in a project (`loadRolePaths`
 * in `access/grants/role-paths.ts`). That function limits the paths of one subject. Here all roles together must be
 * within the same limits, so that the service uses every path that a snapshot contains.
 *
 * @throws SNAPSHOT_TOO_LARGE
 */
export async function readRoleRows(tx: Executor, roleIds: readonly string[]): Promise<RoleRows> {
  const allPaths = await readPaths(tx, roleIds);
  await assertBytes(tx, allPaths);
  const permissionRows = await readPermissions(tx, distinct(allPaths, 'permission'));
  const permissions = new Map(permissionRows.map((row) => [row.id, row]));
  const paths = allPaths.filter(({ permission }) => permissions.has(permission));

  const userPaths = new Set<string>();
  const organizationPaths = new Set<string>();
  const sourcePaths = { role: new Map<string, Set<string>>(), group: new Map<string, Set<string>>() };
  for (const [index, path] of paths.entries()) {
    if (index % ROWS === 0) await nextTick();
    const { paths: conditionPaths } = compileCondition(permissions.get(path.permission)?.condition ?? null);
    for (const text of conditionPaths) {
      if (text.startsWith('user.')) userPaths.add(text);
      else if (text.startsWith('organization.')) organizationPaths.add(text);
      else if (text.startsWith('role.')) addTo(sourcePaths.role, path.role, text);
      else if (text.startsWith('group.')) addTo(sourcePaths.group, path.group, text);
    }
  }
  const groupIdsOf = links(paths, 'role', 'group');
  const permissionIdsOf = links(paths, 'group', 'permission');
  const roles = await readSources(tx, 'role', roleIds, sourcePaths.role);
  const groups = await readSources(tx, 'group', distinct(paths, 'group'), sourcePaths.group);
  const resources = new Map(
    permissionRows.map(({ resourceId: id, slug, isSystem }) => [id, { id, slug, isSystem }]),
  );
  userPaths.delete('user.id');
  return {
    userAttributes: attributeTree(userPaths, 'user'),
    organizationAttributes: attributeTree(organizationPaths, 'organization'),
    resources: [...resources.values()].sort(byId),
    permissions: permissionRows
      .map(({ id, name, resourceId, action, condition, createdAt }) => {
        return { id, name, resourceId, action, condition: condition as Condition, createdAt };
      })
      .sort(byId),
    groups: groups.map((row) => ({ ...row, permissionIds: permissionIdsOf.get(row.id) ?? [] })),
    roles: roles.map((row) => ({ ...row, groupIds: groupIdsOf.get(row.id) ?? [] })),
  };
}

/** @throws SNAPSHOT_TOO_LARGE */
async function readPaths(tx: Executor, roleIds: readonly string[]): Promise<PathRow[]> {
  const paths = await rowsOf<PathRow>(
    tx,
    sql`
    select r.id as role, g.id as "group", p.id as permission
    from ${rolePermissions} join resources s on s.id = p.resource_id and ${isGranting.resource}
    where r.id = ${anyOf(roleIds)} order by 1, 2, 3 limit ${MAX_PATHS + 1}`,
  );
  if (paths.length > MAX_PATHS) throw tooLarge(`more than ${MAX_PATHS} paths from roles to permissions`);
  return paths;
}

/** Asserts that all roles together are within the byte limit of one subject. @throws SNAPSHOT_TOO_LARGE */
async function assertBytes(tx: Executor, paths: readonly PathRow[]): Promise<void> {
  const bytesOf = (table: string, column: string, ids: readonly string[]): SQL => sql`
    (select coalesce(sum(octet_length(x.${sql.raw(column)}::text)), 0) from ${sql.raw(table)} x
      where x.id = ${anyOf(ids)} and not x.is_system)`;
  const [row] = await rowsOf<{ bytes: number }>(
    tx,
    sql`select (${bytesOf('roles', 'metadata', distinct(paths, 'role'))}
      + ${bytesOf('groups', 'metadata', distinct(paths, 'group'))}
      + ${bytesOf('permissions', 'condition', distinct(paths, 'permission'))})::float8 as bytes`,
  );
  if (Number(row?.bytes) > MAX_BYTES) throw tooLarge('more than 8 MiB of conditions and metadata');
}

/** Reads the permissions that have effect in a project (authorization §3). */
async function readPermissions(tx: Executor, ids: readonly string[]): Promise<PermissionRow[]> {
  const permissions: PermissionRow[] = [];
  for (const batch of batches(ids)) {
    const rows = await rowsOf<PermissionRow>(
      tx,
      sql`
      select p.id, p.name, p.action, p.condition, p.resource_id as "resourceId", s.slug, s.is_system as "isSystem",
        (extract(epoch from p.created_at) * 1000000)::float8 as "createdAt"
      from permissions p join resources s on s.id = p.resource_id where p.id = ${anyOf(batch)}`,
    );
    permissions.push(...rows.filter(({ slug, isSystem }) => !(isSystem && organizationNouns.has(slug))));
    await nextTick();
  }
  return permissions;
}

/** Reads roles or groups, each with the part of its metadata that conditions on its paths read, if any. */
async function readSources(
  tx: Executor,
  kind: 'role' | 'group',
  ids: readonly string[],
  pathsOf: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<(SourceRow & { readonly metadata?: Record<string, unknown> })[]> {
  const trees = new Map<string, AttributeTree>();
  for (const [id, paths] of pathsOf) {
    const tree = attributeTree(paths, kind);
    if (tree.has('metadata')) trees.set(id, tree);
  }
  const table = sql.raw(`${kind}s`);
  const sources: (SourceRow & { readonly metadata?: Record<string, unknown> })[] = [];
  for (const batch of batches(ids)) {
    const withMetadata = batch.filter((id) => trees.has(id));
    const rows = await rowsOf<SourceRow & { readonly metadata: Record<string, unknown> | null }>(
      tx,
      sql`
      select x.id, x.name, case when x.id = ${anyOf(withMetadata)} then x.metadata end as metadata
      from ${table} x where x.id = ${anyOf(batch)} and x.deleted_at is null order by x.id`,
    );
    for (const { id, name, metadata } of rows) {
      const tree = trees.get(id);
      const picked = tree && metadata ? pick(tree, { metadata })['metadata'] : undefined;
      sources.push(
        picked === undefined ? { id, name } : { id, name, metadata: picked as Record<string, unknown> },
      );
    }
    await nextTick();
  }
  return sources;
}

function* batches(ids: readonly string[]): Generator<string[]> {
  for (let start = 0; start < ids.length; start += ROWS) yield ids.slice(start, start + ROWS);
}

const distinct = (paths: readonly PathRow[], member: keyof PathRow): string[] =>
  [...new Set(paths.map((path) => path[member]))].sort();

/** For each id of `from`, the sorted ids of `to` that are on the same paths. */
function links(
  paths: readonly PathRow[],
  from: keyof PathRow,
  to: keyof PathRow,
): ReadonlyMap<string, string[]> {
  const sets = new Map<string, Set<string>>();
  for (const path of paths) addTo(sets, path[from], path[to]);
  return new Map([...sets].map(([id, ids]) => [id, [...ids].sort()]));
}

function addTo(sets: Map<string, Set<string>>, id: string, value: string): void {
  const set = sets.get(id) ?? new Set<string>();
  sets.set(id, set);
  set.add(value);
}

const byId = (a: { readonly id: string }, b: { readonly id: string }): number => (a.id < b.id ? -1 : 1);
