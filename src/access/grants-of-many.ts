import type { ResolvedScope } from '../kernel/scope.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { indexPermissions, type Grants, type HeldPermission } from './evaluate.ts';
import { hasEffect, loadStandings, rolesOf, scopeAttributes, type Someone, type Standing } from './grants.ts';
import { loadRolePaths, MAX_PATHS } from './role-paths.ts';

/**
 * Loads what many subjects hold, each in their own scope, as the transaction sees it and with the functions that
 * decisions use. It takes as many statements as for one subject, unless they hold very much. Nothing is cached.
 */
export interface Holder {
  readonly scope: Pick<
    ResolvedScope,
    'tenant' | 'id' | 'accountId' | 'organizationId' | 'projectId' | 'level'
  >;
  readonly standing: Standing;
  /** The roles that count; a user's are `activeRolesOf`. */
  readonly roleIds: readonly string[];
}

/** The roles that count for this user; none if they may not act. */
export const activeRolesOf = (standing: Standing): string[] =>
  standing.related && standing.alive ? rolesOf(standing) : [];

interface Held {
  readonly grants: Grants;
  /** The number of paths that were read for it. */
  readonly paths: number;
}

/**
 * Processes one holder after the other; their paths are read together as far as the bounds of `loadRolePaths` allow.
 */
export async function* grantsOfEach(
  tx: Executor,
  holders: readonly Holder[],
  nouns: ReadonlySet<string>,
): AsyncGenerator<Held> {
  for (let at = 0, together = holders.length; at < holders.length;) {
    const some = holders.slice(at, at + together);
    const { paths, complete } = await loadRolePaths(tx, [...new Set(some.flatMap(({ roleIds }) => roleIds))]);
    if (!complete && some.length > 1) {
      together = Math.ceil(some.length / 4);
      continue;
    }
    const byRole = new Map<string, HeldPermission[]>();
    for (const path of paths) {
      const known = byRole.get(path.role.id);
      if (known) known.push(path);
      else byRole.set(path.role.id, [path]);
    }
    for (const { scope, standing, roleIds } of some) {
      const held = [...new Set(roleIds)]
        .flatMap((roleId) => byRole.get(roleId) ?? [])
        .filter((path) => hasEffect(path, scope.level));
      const grants: Grants = {
        standing: 'active',
        user: standing.user,
        scope: scopeAttributes(scope),
        held: indexPermissions(held, nouns),
      };
      yield { grants, paths: complete ? held.length : MAX_PATHS };
    }
    at += some.length;
  }
}

/** Of users, by all of their roles. */
export async function grantsOfUsers(
  tx: Executor,
  people: readonly (Someone & Pick<Holder, 'scope'>)[],
  nouns: ReadonlySet<string>,
): Promise<Grants[]> {
  const standings = await loadStandings(tx, people);
  const holders = people.map(({ scope }, at) => {
    const standing = standings[at] as Standing;
    return { scope, standing, roleIds: activeRolesOf(standing) };
  });
  const all: Grants[] = [];
  for await (const { grants } of grantsOfEach(tx, holders, nouns)) all.push(grants);
  return all;
}
