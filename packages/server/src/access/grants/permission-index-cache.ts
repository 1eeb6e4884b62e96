import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Changes } from '../../db/cache/changes.ts';
import { createFreshCache } from '../../db/cache/fresh-cache.ts';
import { SYSTEM_NODE } from '../../schema/nodes.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import type { BuiltIns } from '../built-in.ts';
import { indexPermissions, type HeldPermission, type PermissionIndex } from '@doorward/decision/evaluate';
import { effectKey, loadHeldPermissions } from './grants.ts';

interface PermissionIndexCache {
  /**
   * Returns the cached index of a set of roles. `ofOwner`: all the roles, and their permissions, belong to the
   * organization that owns the project.
   */
  forRoles(scope: ResolvedScope, roleIds: readonly string[], ofOwner?: boolean): Promise<PermissionIndex>;
  /** The estimated memory of an index from `forRoles`. */
  bytesOf(index: PermissionIndex): number;
  /** Loads the index as the transaction sees it; not cached. */
  loadIn(tx: Executor, scope: ResolvedScope, roleIds: readonly string[]): Promise<PermissionIndex>;
}

/** The memory limit for all indexes together, estimated as below. */
const CACHE_BYTES = 32 * 1024 * 1024;
/** The estimated size of a compiled path, without its condition and the metadata of its role and group. */
const PATH_BYTES = 600;
/** How many paths can be indexed within a few milliseconds. */
const LARGE = 1000;

/**
 * Caches the permission index of each set of roles in a scope; all subjects with the same roles share it. Built-in
 * roles have the same permissions everywhere, so the owners of a million accounts share one index.
 */
export function createPermissionIndexCache(
  pool: Executor,
  changes: Changes,
  builtIns: Pick<BuiltIns, 'nouns' | 'roles'>,
): PermissionIndexCache {
  const { nouns } = builtIns;
  const builtInRoles = new Set(builtIns.roles.map(({ id }) => id));
  const nothing = indexPermissions([], nouns);
  const sizes = new WeakMap<PermissionIndex, number>();
  const bytesOf = (index: PermissionIndex): number => sizes.get(index) ?? 0;
  const cache = createFreshCache<PermissionIndex>(changes, 20_000, {
    maxBytes: CACHE_BYTES,
    ownBytes: bytesOf,
  });

  async function load(db: Executor, scope: ResolvedScope, roleIds: readonly string[]) {
    const held = await loadHeldPermissions(db, roleIds, scope);
    // With very many paths, reading, indexing and deciding each take long, so other requests run in between.
    const isLarge = held.length > LARGE;
    if (isLarge) await nextTurn();
    const index = indexPermissions(held, nouns);
    sizes.set(index, estimated(held));
    if (isLarge) await nextTurn();
    return index;
  }

  return {
    async forRoles(scope, roleIds, ofOwner = false) {
      if (roleIds.length === 0) return nothing;
      const nodes = roleIds.every((id) => builtInRoles.has(id)) ? [SYSTEM_NODE] : nodesOf(scope, ofOwner);
      const permissionIndex = await cache.get(
        [effectKey(scope), ...nodes, ...roleIds.toSorted()].join(' '),
        async () => ({
          value: await load(pool, scope, roleIds),
          topics: nodes.map((id) => `node:${id}`),
        }),
      );
      return permissionIndex ?? nothing;
    },

    bytesOf,

    loadIn: load,
  };
}

/** The nodes whose changes may change the permissions of the roles. */
function nodesOf({ nodeId, parentId, grant, organizationId }: ResolvedScope, ofOwner: boolean): string[] {
  // In a granted scope, roles come from the project or from the customer's organization. The slice is not included, so
  // that slices with the same roles share one index.
  if (grant) return [grant.projectId, ...(organizationId ? [organizationId] : [])];
  return ofOwner && parentId ? [parentId] : [nodeId, ...(parentId ? [parentId] : [])];
}

function estimated(held: readonly HeldPermission[]): number {
  // Several paths can share a row, which is counted once.
  const rows = new Set(
    held.flatMap(({ role, group, condition }) => [role, group, condition].filter(Boolean)),
  );
  // An object takes several times the memory of its JSON text.
  return (
    1000 +
    held.length * PATH_BYTES +
    8 * [...rows].reduce<number>((sum, row) => sum + JSON.stringify(row).length, 0)
  );
}
