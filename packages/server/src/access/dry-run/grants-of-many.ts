import type { ResolvedScope } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { indexPermissions, type Grants, type HeldPermission } from '@doorward/decision/evaluate';
import {
  hasEffect,
  loadSubjects,
  organizationAttributes,
  rolesOf,
  scopeAttributes,
  type SubjectRef,
  type SubjectStatus,
} from '../grants/grants.ts';
import { rolePathBatches } from '../grants/role-path-batches.ts';
import { MAX_PATHS } from '../grants/role-paths.ts';

/**
 * Loads the grants of many subjects, each in their own scope, as the transaction sees them and with the functions that
 * decisions use. It needs as many statements as for one subject, unless they hold very many permissions. Not cached.
 */
interface Holder {
  readonly scope: Pick<
    ResolvedScope,
    'tenant' | 'id' | 'accountId' | 'organizationId' | 'projectId' | 'level'
  > &
    Partial<Pick<ResolvedScope, 'grant' | 'organizationMetadata'>>;
  readonly subject: SubjectStatus;
  /** The effective roles; for a user, `activeRolesOf`. */
  readonly roleIds: readonly string[];
}

/** The effective roles of this user; none if they may not act. */
export const activeRolesOf = (subject: SubjectStatus): string[] =>
  subject.related && subject.alive ? rolesOf(subject) : [];

interface Held {
  readonly grants: Grants;
  /** The number of paths that were read. */
  readonly paths: number;
}

/**
 * Processes one holder after the other; their paths are read together as far as the limits of `loadRolePaths` allow.
 */
export async function* grantsOfEach(
  tx: Executor,
  holders: readonly Holder[],
  nouns: ReadonlySet<string>,
): AsyncGenerator<Held> {
  const rolesOfEach = holders.map(({ roleIds }) => roleIds);
  for await (const { from, to, paths, complete } of rolePathBatches(tx, rolesOfEach)) {
    const byRole = new Map<string, HeldPermission[]>();
    for (const path of paths) {
      const existing = byRole.get(path.role.id);
      if (existing) existing.push(path);
      else byRole.set(path.role.id, [path]);
    }
    for (const { scope, subject, roleIds } of holders.slice(from, to)) {
      const held = [...new Set(roleIds)]
        .flatMap((roleId) => byRole.get(roleId) ?? [])
        .filter(({ permission }) => hasEffect(permission, scope));
      const grants: Grants = {
        membership: 'active',
        user: subject.user,
        organization: organizationAttributes(scope),
        scope: scopeAttributes(scope),
        held: indexPermissions(held, nouns),
      };
      yield { grants, paths: complete ? held.length : MAX_PATHS };
    }
  }
}

/** The grants of users, with all of their roles. */
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
