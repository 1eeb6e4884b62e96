import type { SnapshotKey, SnapshotUser } from '../snapshot-claims.ts';
import { rowAt, rowsAt, type Graph } from './graph.ts';
import type { RoleNode } from './nodes.ts';
import type { Holder, PolicyKey, RoleSet } from './policy.ts';
import { SnapshotError } from './snapshot-error.ts';

/**
 * Returns functions that turn rows of users and keys into holders of rights. Holders with equal sets of roles share one
 * object, because a project has many users but few different sets.
 */
export function createHolders({ roles }: Graph) {
  const sets = new Map<string, RoleSet>();

  function setOf(assigned: readonly RoleNode[]): RoleSet {
    // Uses the ids of the role nodes, so that the equal strings in each user's row can be freed.
    const ids = assigned.map(({ row }) => row.id).sort();
    const key = JSON.stringify(ids);
    const existing = sets.get(key);
    if (existing) return existing;
    const set = Object.freeze({ ids: Object.freeze(ids), key });
    sets.set(key, set);
    return set;
  }

  return {
    ofUser: ({ id, roleIds, attributes }: SnapshotUser): Holder => ({
      roles: setOf(rowsAt(roles, roleIds, 'roleIds')),
      user: attributesOf(id, attributes),
    }),
    ofKey: ({ attributes, roleId, ...key }: SnapshotKey): PolicyKey => ({
      ...key,
      holder: key.ofUser
        ? null
        : {
            roles: setOf(roleId === null ? [] : [rowAt(roles, roleId, 'roleId')]),
            user: attributesOf(key.userId, attributes),
          },
    }),
  };
}

/** `id` comes last, so that no attribute can replace it. */
const attributesOf = (id: string, attributes: Record<string, unknown> | undefined): Holder['user'] =>
  Object.freeze(attributes ? { ...attributes, id } : { id });

/**
 * Checks that no user or key still has a dropped role.
 *
 * @throws SnapshotError if a dropped role is still assigned
 */
export function assertRolesExist(
  graph: Graph,
  users: ReadonlyMap<string, Holder>,
  keys: ReadonlyMap<string, PolicyKey>,
): void {
  const checked = new Set<RoleSet>();
  const assertOf = ({ roles }: Holder): void => {
    if (checked.has(roles)) return;
    checked.add(roles);
    if (!roles.ids.every((id) => graph.roles.has(id)))
      throw new SnapshotError('SHAPE', 'drop.roles', 'name a role that is still assigned');
  };
  for (const user of users.values()) assertOf(user);
  for (const { holder } of keys.values()) if (holder) assertOf(holder);
}
