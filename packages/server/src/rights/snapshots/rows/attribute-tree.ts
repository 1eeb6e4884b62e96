import { isPlainObject } from '@doorward/decision/conditions-parse';

/**
 * The attributes below one root (`user`, `role`, `group`, `organization`) that conditions read, as a tree; `true`
 * where a whole value is read. A snapshot carries nothing else of a row.
 *
 * @example pick(attributeTree(['user.metadata.team'], 'user'), { name: 'Ada', metadata: { team: 'a', level: 3 } })
 *   // { metadata: { team: 'a' } }
 */
export type AttributeTree = ReadonlyMap<string, AttributeTree | true>;
type MutableTree = Map<string, MutableTree | true>;

/** Builds the tree. `paths`: the attribute paths of conditions, with any root. */
export function attributeTree(
  paths: Iterable<string>,
  root: 'user' | 'role' | 'group' | 'organization',
): AttributeTree {
  const tree: MutableTree = new Map();
  // Sorted, so that equal conditions give members in the same order, and a path comes before longer paths that begin
  // with it.
  for (const path of [...paths].sort()) {
    const [first, ...segments] = path.split('.');
    if (first === root) add(tree, segments);
  }
  return tree;
}

function add(tree: MutableTree, [segment, ...rest]: readonly string[]): void {
  if (segment === undefined) return;
  const existing = tree.get(segment);
  if (existing === true) return;
  if (rest.length === 0) {
    tree.set(segment, true);
    return;
  }
  const below: MutableTree = existing ?? new Map<string, MutableTree | true>();
  tree.set(segment, below);
  add(below, rest);
}

/**
 * Returns the members of `values` that the tree names. Arrays and inherited members are not entered, as in conditions.
 * An object is left out if nothing in it is read.
 */
export function pick(
  tree: AttributeTree,
  values: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const picked: [string, unknown][] = [];
  for (const [name, below] of tree) {
    if (!Object.hasOwn(values, name)) continue;
    const value = values[name];
    const read = below === true ? value : isPlainObject(value) ? nonEmpty(pick(below, value)) : undefined;
    if (read !== undefined) picked.push([name, read]);
  }
  return Object.fromEntries(picked);
}

const nonEmpty = (members: Record<string, unknown>): Record<string, unknown> | undefined =>
  Object.keys(members).length === 0 ? undefined : members;
