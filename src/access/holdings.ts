import type { Changes } from '../db/changes.ts';
import { createFreshCache } from '../db/fresh-cache.ts';
import { SYSTEM_NODE } from '../db/nodes.ts';
import type { ResolvedScope } from '../kernel/scope.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import type { BuiltIns } from './built-in.ts';
import { indexPermissions, type HeldPermission, type PermissionIndex } from './evaluate.ts';
import { loadHeld } from './grants.ts';

/**
 * What sets of roles hold, read and compiled once for all who wear the same roles in a scope. What built-in roles hold
 * is the same everywhere, so that the owners of a million accounts share one index.
 */
export interface Holdings {
  /** `ofOwner`: all the roles belong to the organization above the project, and so does what they lead to. */
  of(scope: ResolvedScope, roleIds: readonly string[], ofOwner?: boolean): Promise<PermissionIndex>;
  /** About how much memory an answer of `of` takes. */
  bytesOf(index: PermissionIndex): number;
  /** As the transaction sees it; nothing is kept. */
  within(tx: Executor, scope: ResolvedScope, roleIds: readonly string[]): Promise<PermissionIndex>;
}

/** Together, in bytes as they are estimated below. */
const KEPT_BYTES = 32 * 1024 * 1024;
/** Of a permission on one path, compiled, besides its condition and what its role and group say. */
const PATH_BYTES = 600;

export function createHoldings(
  pool: Executor,
  changes: Changes,
  builtIns: Pick<BuiltIns, 'nouns' | 'roles'>,
): Holdings {
  const { nouns } = builtIns;
  const builtInRoles = new Set(builtIns.roles.map(({ id }) => id));
  const nothing = indexPermissions([], nouns);
  const sizes = new WeakMap<PermissionIndex, number>();
  const bytesOf = (index: PermissionIndex): number => sizes.get(index) ?? 0;
  const kept = createFreshCache<PermissionIndex>(changes, 20_000, { most: KEPT_BYTES, own: bytesOf });

  async function load(db: Executor, { level }: ResolvedScope, roleIds: readonly string[]) {
    const held = await loadHeld(db, roleIds, level);
    const index = indexPermissions(held, nouns);
    sizes.set(index, estimated(held));
    return index;
  }

  return {
    async of(scope, roleIds, ofOwner = false) {
      if (roleIds.length === 0) return nothing;
      const { level } = scope;
      const nodes = roleIds.every((id) => builtInRoles.has(id)) ? [SYSTEM_NODE] : nodesOf(scope, ofOwner);
      const found = await kept.get([level, ...nodes, ...roleIds.toSorted()].join(' '), async () => ({
        value: await load(pool, scope, roleIds),
        topics: nodes.map((id) => `node:${id}`),
      }));
      return found ?? nothing;
    },

    bytesOf,

    within: load,
  };
}

/** Where what the roles hold may change. */
const nodesOf = ({ nodeId, parentId }: ResolvedScope, ofOwner: boolean): string[] =>
  ofOwner && parentId ? [parentId] : [nodeId, ...(parentId ? [parentId] : [])];

function estimated(held: readonly HeldPermission[]): number {
  // Several paths can lead over the same row.
  const said = new Set(
    held.flatMap(({ role, group, condition }) => [role, group, condition].filter(Boolean)),
  );
  // Objects take some times the room of their text.
  return (
    1000 +
    held.length * PATH_BYTES +
    8 * [...said].reduce<number>((sum, one) => sum + JSON.stringify(one).length, 0)
  );
}
