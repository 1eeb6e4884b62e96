import type { Change, Comparison } from './document/match.ts';

/**
 * The changes that may affect existing users and keys. A new role has no holders yet. So a new role, and the new groups
 * and permissions that only new roles use, need not be written to find out who gains or loses permissions. In a first
 * document these are most rows, and writing them would keep the database busy only to be rolled back. Sign-up roles
 * stay, because apps refer to them.
 */
export function changesWithImpact({ after, changes }: Comparison): Change[] {
  const isNew = (kind: Change['kind']): ReadonlySet<string> =>
    new Set(
      changes.flatMap((change) => (change.kind === kind && change.action === 'create' ? [change.key] : [])),
    );
  const [roles, groups, permissions] = [isNew('roles'), isNew('groups'), isNew('permissions')];
  const signUpRoles = new Set(Object.values(after.apps).map(({ signUpRole }) => signUpRole));
  const keepsRole = (key: string) => !roles.has(key) || signUpRoles.has(key);
  const usedGroups = usedBy(after.roles, keepsRole, 'groups');
  const keepsGroup = (key: string) => !groups.has(key) || usedGroups.has(key);
  const usedPermissions = usedBy(after.groups, keepsGroup, 'permissions');
  const keeps: Partial<Record<Change['kind'], (key: string) => boolean>> = {
    roles: keepsRole,
    groups: keepsGroup,
    permissions: (key) => !permissions.has(key) || usedPermissions.has(key),
  };
  return changes.filter(({ kind, key }) => keeps[kind]?.(key) ?? true);
}

/** The groups or permissions to which the kept rows refer. */
function usedBy<M extends 'groups' | 'permissions'>(
  rows: Readonly<Record<string, { readonly [member in M]?: readonly string[] | undefined }>>,
  keeps: (key: string) => boolean,
  member: M,
): ReadonlySet<string> {
  return new Set(Object.entries(rows).flatMap(([key, row]) => (keeps(key) ? (row[member] ?? []) : [])));
}
