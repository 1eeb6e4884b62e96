import type { Names } from '../evaluate.ts';
import type { RowSection, SnapshotResource } from '../snapshot-claims.ts';
import { changedMap } from './changed-map.ts';
import { within } from './members.ts';
import type { GroupNode, PermissionNode } from './nodes.ts';
import { RoleNode } from './nodes.ts';
import { limits, type DroppedIds, type PermissionRow, type Rows } from './rows.ts';
import { SnapshotError } from './snapshot-error.ts';
import { SetIndexes } from './set-indexes.ts';

/**
 * The roles, groups, permissions and resources of a policy, linked to each other. Nodes are immutable: `changedGraph`
 * creates a new node for each changed row, and for each node that refers to a changed node, directly or indirectly. The
 * old and the new graph share all other nodes, together with their compiled indexes.
 */
export interface Graph {
  /**
   * The names by which `locate` recognizes the resource of a question: built-in nouns, and the slugs of the project.
   */
  readonly names: Names & { readonly managementNouns: ReadonlySet<string> };
  readonly resources: ReadonlyMap<string, SnapshotResource>;
  readonly permissions: ReadonlyMap<string, PermissionNode>;
  readonly groups: ReadonlyMap<string, GroupNode>;
  readonly roles: ReadonlyMap<string, RoleNode>;
  /** Permission indexes for sets of several roles. */
  readonly sets: SetIndexes;
}

export const emptyGraph = (nouns: ReadonlySet<string>): Graph => ({
  names: { managementNouns: nouns, project: new Set() },
  resources: new Map(),
  permissions: new Map(),
  groups: new Map(),
  roles: new Map(),
  sets: new SetIndexes(nouns),
});

/**
 * Applies changed rows to a graph; returns the same graph if nothing in it changed.
 *
 * @throws SnapshotError if a row is missing, or if there are too many paths
 */
export function changedGraph(old: Graph, rows: Rows, dropped: DroppedIds): Graph {
  const nouns = old.names.managementNouns;
  const resources = changedMap(old.resources, 'resources', rows.resources, dropped, (row) => row);
  const permissions = relinked(
    old.permissions,
    'permissions',
    rows.permissions,
    dropped,
    (row) => permissionNode(row, rowAt(resources, row.resourceId, 'resourceId')),
    ({ resource }) => resource === resources.get(resource.id),
  );
  const groups = relinked(
    old.groups,
    'groups',
    rows.groups,
    dropped,
    (row) => ({ row, permissions: rowsAt(permissions, row.permissionIds, 'permissionIds') }),
    (group) => group.permissions.every((node) => node === permissions.get(node.row.id)),
  );
  const roles = relinked(
    old.roles,
    'roles',
    rows.roles,
    dropped,
    (row) => new RoleNode(row, rowsAt(groups, row.groupIds, 'groupIds'), nouns),
    (role) => role.groups.every((node) => node === groups.get(node.row.id)),
  );
  const next = { resources, permissions, groups, roles };
  const isSame =
    resources === old.resources &&
    permissions === old.permissions &&
    groups === old.groups &&
    roles === old.roles;
  if (isSame) return old;
  assertFewPaths(roles);
  const slugs = [...resources.values()].flatMap(({ isSystem, slug }) => (isSystem ? [] : [slug]));
  return {
    names: { managementNouns: nouns, project: new Set(slugs) },
    ...next,
    sets: old.sets.keptFor(roles),
  };
}

/** Returns the nodes of a section after changes. Nodes that refer to a changed node are linked again. */
function relinked<R extends { readonly id: string }, N extends { readonly row: R }>(
  old: ReadonlyMap<string, N>,
  section: RowSection,
  rows: readonly R[],
  dropped: DroppedIds,
  link: (row: R) => N,
  isCurrent: (node: N) => boolean,
): ReadonlyMap<string, N> {
  const changed = changedMap(old, section, rows, dropped, link);
  const stale = [...changed.values()].filter((node) => !isCurrent(node));
  if (stale.length === 0) return changed;
  const next = new Map(changed);
  within(section, () => {
    for (const { row } of stale) next.set(row.id, link(row));
  });
  return next;
}

const permissionNode = (row: PermissionRow, resource: SnapshotResource): PermissionNode => ({
  row,
  resource,
  held: {
    id: row.id,
    name: row.name,
    resource: resource.slug,
    action: row.action,
    managementPlane: resource.isSystem,
  },
});

export const rowsAt = <N>(
  nodes: ReadonlyMap<string, N>,
  ids: readonly string[],
  member: string,
): readonly N[] => ids.map((id, index) => rowAt(nodes, id, `${member}.${index}`));

export function rowAt<N>(nodes: ReadonlyMap<string, N>, id: string, path: string): N {
  const node = nodes.get(id);
  if (node === undefined) throw new SnapshotError('SHAPE', path, 'names no row');
  return node;
}

/**
 * Limits the paths by counting them, without creating them: a document with a few thousand ids can have billions of
 * paths.
 */
function assertFewPaths(roles: ReadonlyMap<string, RoleNode>): void {
  let paths = 0;
  for (const role of roles.values()) paths += role.pathCount;
  if (paths > limits.paths) throw new SnapshotError('SHAPE', 'roles', `have more than ${limits.paths} paths`);
}
