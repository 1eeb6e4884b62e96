import { indexPermissions, type PermissionIndex } from '../evaluate.ts';
import { pathsOf, type RoleNode } from './nodes.ts';
import type { RoleSet } from './policy.ts';

/** How many paths the indexes of all sets with several roles may contain in total: about 20 MB. */
const MAX_PATHS = 50_000;

interface SetIndex {
  readonly roles: readonly RoleNode[];
  /** Undefined if the index would exceed the limit. */
  readonly index: PermissionIndex | undefined;
  readonly paths: number;
}

/**
 * Permission indexes of sets of several roles. An index is built at the first question about its set, and all holders
 * of the set share it. Ten thousand users may have ten thousand different sets, so sets beyond the limit get no index;
 * `decideAmong` then reads the index of each single role.
 */
export class SetIndexes {
  readonly #indexes = new Map<string, SetIndex>();
  readonly #nouns: ReadonlySet<string>;
  #paths = 0;

  constructor(nouns: ReadonlySet<string>) {
    this.#nouns = nouns;
  }

  /** The index of a set; undefined if it would exceed the limit. */
  indexOf({ ids, key }: RoleSet, roles: ReadonlyMap<string, RoleNode>): PermissionIndex | undefined {
    if (ids.length === 1) return roles.get(ids[0] as string)?.index;
    let entry = this.#indexes.get(key);
    if (!entry) {
      entry = entryOf(
        ids.flatMap((id) => roles.get(id) ?? []),
        this.#nouns,
        MAX_PATHS - this.#paths,
      );
      this.#add(key, entry);
    }
    return entry.index;
  }

  /** Returns a copy for a changed graph, with only the indexes of sets whose roles did not change. */
  keptFor(roles: ReadonlyMap<string, RoleNode>): SetIndexes {
    const kept = new SetIndexes(this.#nouns);
    for (const [key, entry] of this.#indexes) {
      const isKept = entry.index && entry.roles.every((node) => node === roles.get(node.row.id));
      if (isKept) kept.#add(key, entry);
    }
    return kept;
  }

  #add(key: string, entry: SetIndex): void {
    this.#indexes.set(key, entry);
    if (entry.index) this.#paths += entry.paths;
  }
}

function entryOf(roles: readonly RoleNode[], nouns: ReadonlySet<string>, maxPaths: number): SetIndex {
  const paths = roles.reduce((sum, role) => sum + role.pathCount, 0);
  return { roles, index: paths <= maxPaths ? indexPermissions(pathsOf(roles), nouns) : undefined, paths };
}
