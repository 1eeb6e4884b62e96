import { isPlainObject } from '../conditions-parse.ts';
import type { GrantSource, HeldPermission } from '../evaluate.ts';
import { unlimited, type Charged } from '../work.ts';
import { isBuiltInNoun, targetOf, type PolicyDocument } from './document.ts';

/**
 * The permissions that a document's roles grant. A role has up to 100 groups of 100 permissions each, and a document
 * has up to a thousand roles. So each group is looked up once, and a question about one resource and action builds only
 * the paths to that pair.
 */
export class DocumentRights {
  readonly #document: PolicyDocument;
  readonly #work: Charged;
  readonly #groups = new Map<string, GroupRights>();

  constructor(document: PolicyDocument, work: Charged = unlimited) {
    this.#document = document;
    this.#work = work;
  }

  /** Whether the role grants nothing: none of its permissions counts (see `groupRights`). */
  isEmpty(role: string): boolean {
    return !this.#groupsOf(role).some((group) => this.groupRights(group).all.length > 0);
  }

  grants(role: string, resource: string, action: string): boolean {
    const pair = keyOf(resource, action);
    return this.#groupsOf(role).some((group) => this.groupRights(group).byPair.has(pair));
  }

  /**
   * The paths from these roles to a resource and action, in any spelling. Roles that are not in the document are
   * ignored.
   */
  pathsTo(roles: Iterable<string>, resource: string, action: string): HeldPermission[] {
    const pair = keyOf(resource, action);
    const paths: HeldPermission[] = [];
    for (const name of roles) {
      let role: GrantSource | undefined;
      for (const key of this.#groupsOf(name)) {
        const held = this.groupRights(key).byPair.get(pair);
        if (!held) continue;
        role ??= sourceOf(name, this.#document.roles[name]?.metadata);
        const group = sourceOf(key, this.#document.groups[key]?.metadata);
        this.#work.charge('paths', PATH_STEPS * held.length);
        // Written out as a literal: a spread takes several times as long, and one question may have ten thousand paths.
        for (const { permission, condition } of held) paths.push({ permission, condition, role, group });
      }
    }
    return paths;
  }

  /** The permissions of a group that count. Permissions on inactive resources are left out. */
  groupRights(group: string): GroupRights {
    const existing = this.#groups.get(group);
    if (existing) return existing;
    const names = permissionNamesOf(this.#document, group);
    this.#work.charge('paths', PATH_STEPS * names.length);
    const all = names.flatMap((name) => this.#permissionOf(name));
    const byPair = new Map<string, HeldByGroup[]>();
    for (const held of all) {
      const key = keyOf(held.permission.resource, held.permission.action);
      const same = byPair.get(key);
      if (same) same.push(held);
      else byPair.set(key, [held]);
    }
    const rights = { all, byPair };
    this.#groups.set(group, rights);
    return rights;
  }

  #groupsOf(role: string): readonly string[] {
    const groups = this.#document.roles[role]?.groups ?? [];
    this.#work.charge('paths', groups.length);
    return groups;
  }

  #permissionOf(name: string): HeldByGroup[] {
    const own = this.#document.permissions[name];
    const { resource, action } = own ?? targetOf(name);
    const managementPlane = isBuiltInNoun(resource);
    if (!managementPlane && this.#document.resources[resource]?.isActive !== true) return [];
    const permission = { id: name, name, resource, action, managementPlane };
    return [{ permission, condition: own?.condition ?? null }];
  }
}

/** Building a path takes about as long as this many comparisons. */
const PATH_STEPS = 3;

type HeldByGroup = Pick<HeldPermission, 'permission' | 'condition'>;

interface GroupRights {
  readonly all: readonly HeldByGroup[];
  readonly byPair: ReadonlyMap<string, readonly HeldByGroup[]>;
}

/**
 * Normalizes the spelling: built-in nouns stay as they are, slugs and actions are trimmed and lower-cased. Unlike
 * `locate`, treats every name with a capital first letter as a built-in noun.
 */
function keyOf(resource: string, action: string): string {
  const name = isBuiltInNoun(resource) ? resource : resource.trim().toLowerCase();
  return `${name} ${action.trim().toLowerCase()}`;
}

/**
 * The names of the permissions in a group. A built-in group lists its permissions in its own name: `Project: Query,
 * Update`.
 */
export function permissionNamesOf(document: PolicyDocument, group: string): readonly string[] {
  const own = document.groups[group];
  if (own) return own.permissions;
  const [noun = '', actions = ''] = group.split(': ');
  return actions === '' ? [] : actions.split(', ').map((action) => `${noun}:${action}`);
}

const sourceOf = (name: string, metadata: unknown): GrantSource => ({
  id: name,
  name,
  metadata: isPlainObject(metadata) ? metadata : {},
});
