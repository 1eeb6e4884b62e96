import type { ResolvedScope } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import {
  indexPermissions,
  type Grants,
  type HeldPermission,
  type PermissionIndex,
} from '@doorward/decision/evaluate';
import {
  effectKey,
  hasEffect,
  loadSubjects,
  organizationAttributes,
  rolesOf,
  scopeAttributes,
  type SubjectRef,
} from '../grants/grants.ts';
import type { SubjectStatus } from '../../kernel/call/caller-rights.ts';
import { rolePathBatches, roleSetKey } from '../grants/role-path-batches.ts';
import { MAX_PATHS } from '../grants/role-paths.ts';

interface Holder {
  readonly scope: Pick<
    ResolvedScope,
    'tenant' | 'id' | 'accountId' | 'organizationId' | 'projectId' | 'level'
  > &
    Partial<Pick<ResolvedScope, 'grant' | 'organizationMetadata'>>;
  readonly subject: SubjectStatus;
  /** The roles that have effect; for a user, those of `activeRolesOf`. */
  readonly roleIds: readonly string[];
}

/** The roles of this user that have effect; none if the user may not act. */
export const activeRolesOf = (subject: SubjectStatus): string[] =>
  subject.related && subject.alive ? rolesOf(subject) : [];

interface Held {
  readonly grants: Grants;
  /** The number of paths that were read. */
  readonly paths: number;
}

/**
 * Loads the grants of many subjects, each in their own scope, as the transaction sees them and with the functions that
 * decisions use. Takes as many statements as for one subject, unless they hold very many permissions. Not cached.
 *
 * Processes one holder after the other; their paths are read together as far as the limits of `loadRolePaths` allow.
 * Holders with the same roles share one index, unless holders with very many permissions come in between.
 */
export async function* grantsOfEach(
  tx: Executor,
  holders: readonly Holder[],
  nouns: ReadonlySet<string>,
): AsyncGenerator<Held> {
  const rolesOfEach = holders.map(({ roleIds }) => roleIds);
  for await (const { from, to, paths, complete } of rolePathBatches(tx, rolesOfEach)) {
    const indexOf = sharedIndexes(paths, nouns);
    for (const { scope, subject, roleIds } of holders.slice(from, to)) {
      const { index, size } = indexOf(roleIds, scope);
      const grants: Grants = {
        membership: 'active',
        user: subject.user,
        organization: organizationAttributes(scope),
        scope: scopeAttributes(scope),
        held: index,
      };
      yield { grants, paths: complete ? size : MAX_PATHS };
    }
  }
}

interface SharedIndex {
  readonly index: PermissionIndex;
  /** The number of paths in it. */
  readonly size: number;
}

/** The maximum number of paths in the indexes that are kept for later holders: some tens of megabytes. */
const MAX_KEPT_PATHS = 4 * MAX_PATHS;

/**
 * Returns a function that builds one index per set of roles. An index keeps the order of the paths, as decisions do.
 */
function sharedIndexes(paths: readonly HeldPermission[], nouns: ReadonlySet<string>) {
  // Positions of paths by role, because hundreds of holders with few paths each would otherwise all search thousands of
  // paths.
  const positions = new Map<string, number[]>();
  for (const [at, { role }] of paths.entries()) {
    const existing = positions.get(role.id);
    if (existing) existing.push(at);
    else positions.set(role.id, [at]);
  }
  const indexes = new Map<string, SharedIndex>();
  let keptPaths = 0;
  return (roleIds: readonly string[], scope: Holder['scope']): SharedIndex => {
    const key = `${effectKey(scope)} ${roleSetKey(roleIds)}`;
    const existing = indexes.get(key);
    if (existing) return existing;
    const held = [...new Set(roleIds)]
      .flatMap((roleId) => positions.get(roleId) ?? [])
      .sort((a, b) => a - b)
      .flatMap((at) => paths[at] ?? [])
      .filter(({ permission }) => hasEffect(permission, scope));
    const made = { index: indexPermissions(held, nouns), size: held.length };
    if (keptPaths + made.size > MAX_KEPT_PATHS) {
      indexes.clear();
      keptPaths = 0;
    }
    indexes.set(key, made);
    keptPaths += made.size;
    return made;
  };
}

/** Loads the grants of users, with all of their roles. */
export async function grantsOfUsers(
  tx: Executor,
  users: readonly (SubjectRef & Pick<Holder, 'scope'>)[],
  nouns: ReadonlySet<string>,
): Promise<Grants[]> {
  const subjects = await loadSubjects(tx, users);
  const holders = users.map(({ scope }, index) => {
    const subject = subjects[index] as SubjectStatus;
    return { scope, subject, roleIds: activeRolesOf(subject) };
  });
  const all: Grants[] = [];
  for await (const { grants } of grantsOfEach(tx, holders, nouns)) all.push(grants);
  return all;
}
