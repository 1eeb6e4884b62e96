import { permissionNamesOf, type DocumentRights } from '@doorward/decision/document/document-rights';
import {
  isBuiltInNoun,
  rowsIn,
  targetOf,
  type DocumentKind,
  type PolicyDocument,
} from '@doorward/decision/document/document';
import { evaluate } from '@doorward/decision/evaluate';
import type { BuiltIns } from '../../access/built-in.ts';
import { missingPermissions, type WantedPermission } from '../../access/delegation/escalation.ts';
import { activeRolesOf } from '../../access/dry-run/grants-of-many.ts';
import { hasEffect } from '../../access/grants/grants.ts';
import type { CallerRights } from '../../kernel/call/caller-rights.ts';
import type { RequestWork } from '../../kernel/request-work.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';
import { entityOf } from './document/kinds.ts';
import type { Change, Comparison } from './document/match.ts';

/** Why the caller may not make a change. */
interface Blocked {
  readonly kind: DocumentKind;
  readonly key: string;
  readonly code: 'FORBIDDEN' | 'PRIVILEGE_ESCALATION';
  /** The permission that the caller lacks. */
  readonly cause: string;
}

const actionOf: Readonly<Record<Change['action'], string>> = {
  create: 'Create',
  adopt: 'Update',
  update: 'Update',
  rename: 'Update',
  delete: 'Delete',
};

/**
 * Finds the changes that the caller may not make. A change needs the permission of its own operation, and callers can
 * grant and remove only rights that they hold (authorization §5). The rights before the document is applied count.
 */
export function deniedChanges(
  { changes, all: { before, after }, rowOf }: Comparison,
  scope: ResolvedScope,
  { grants, projectGrants }: CallerRights,
  work: RequestWork,
): Blocked[] {
  const missingIn = (document: PolicyDocument) =>
    missingOfRows(document, (item) =>
      hasEffect(item, scope) ? missingPermissions(projectGrants ?? grants, [item])[0] : undefined,
    );
  const [missingBefore, missingAfter] = [missingIn(before), missingIn(after)];
  return changes.flatMap(({ kind, key, label, action, id, fields }): Blocked[] => {
    const noun = entityOf[kind].name;
    const permission = `${noun}:${actionOf[action]}`;
    const row = action === 'create' ? undefined : rowOf(kind, label);
    // Conditions read the stored row, or the fields of a new row, as they do in the operation for a single row.
    const read = row?.fields ?? rowsIn(after, kind)[label];
    const attributes = { id, ...read, name: row?.name ?? key, isSystem: false };
    const question = { resource: noun, action: actionOf[action], attributes };
    if (!evaluate(grants, question, work).authorized)
      return [{ kind, key, code: 'FORBIDDEN', cause: permission }];
    // Deleting a resource, or switching it on or off, grants or removes every permission on it.
    const concerns = kind !== 'resources' || action === 'delete' || 'isActive' in fields;
    if (!concerns) return [];
    const missing = new Set([...missingBefore(kind, label), ...missingAfter(kind, label)]);
    return [...missing]
      .slice(0, MAX_MISSING)
      .map((cause) => ({ kind, key, code: 'PRIVILEGE_ESCALATION', cause }));
  });
}

/**
 * Maximum number of missing permissions in a report, the same as in an error. Thousands of roles may lack thousands of
 * permissions each.
 */
export const MAX_MISSING = 20;

/**
 * Returns a function that finds the permissions of a row that the caller lacks. A thousand roles may have the same
 * groups, so each permission and each group is evaluated once.
 */
function missingOfRows(
  document: PolicyDocument,
  missingOf: (wanted: WantedPermission) => string | undefined,
): (kind: DocumentKind, label: string) => ReadonlySet<string> {
  const ofPermission = memoized((name: string) =>
    permissionsNamed(document, [name]).flatMap((item) => missingOf(item) ?? []),
  );
  const ofAll = (names: readonly string[], ask: (name: string) => Iterable<string>): ReadonlySet<string> => {
    const all = new Set<string>();
    for (const name of names) {
      for (const missing of ask(name)) all.add(missing);
      if (all.size >= MAX_MISSING) break;
    }
    return all;
  };
  const ofGroup = memoized((group: string) => ofAll(permissionNamesOf(document, group), ofPermission));
  return (kind, label) => {
    if (!(label in document[kind])) return new Set();
    if (kind === 'roles') return ofAll(document.roles[label]?.groups ?? [], ofGroup);
    return ofAll(namesOf(document, kind, label), ofPermission);
  };
}

/** Caches the results of `make` by key. */
export function memoized<K, V extends object | string>(make: (key: K) => V): (key: K) => V {
  const results = new Map<K, V>();
  return (key) => {
    const existing = results.get(key);
    if (existing !== undefined) return existing;
    const value = make(key);
    results.set(key, value);
    return value;
  };
}

/** The rights that a row gives to its holders. Resources that are switched off count: they can be switched on again. */
export function rightsOf(document: PolicyDocument, kind: DocumentKind, label: string): WantedPermission[] {
  if (!(label in document[kind])) return [];
  return permissionsNamed(document, [...new Set(namesOf(document, kind, label))]);
}

/** Permissions by their keys in the document, or the names of built-in permissions. */
export const permissionsNamed = (document: PolicyDocument, names: readonly string[]): WantedPermission[] =>
  names.map((name) => {
    const own = document.permissions[name];
    const { resource, action } = own ?? targetOf(name);
    return { resource, action, managementPlane: isBuiltInNoun(resource), condition: own?.condition ?? null };
  });

/** The names of the permissions that a row contains; for a resource, of the permissions on it. */
function namesOf(document: PolicyDocument, kind: DocumentKind, label: string): readonly string[] {
  if (kind === 'permissions') return [label];
  if (kind === 'groups') return permissionNamesOf(document, label);
  if (kind === 'roles')
    return (document.roles[label]?.groups ?? []).flatMap((group) => permissionNamesOf(document, group));
  if (kind === 'resources')
    return Object.entries(document.permissions).flatMap(([name, { resource }]) =>
      resource === label ? [name] : [],
    );
  return [];
}

/** Whether the caller may apply a policy now, but could not afterwards. */
export function locksItselfOut(
  { all: { before }, rowOf }: Comparison,
  rights: { readonly before: DocumentRights; readonly after: DocumentRights },
  { subject, keyRoleId }: CallerRights,
  builtIns: BuiltIns,
): boolean {
  const labels = new Map(Object.keys(before.roles).map((label) => [rowOf('roles', label)?.id, label]));
  const builtInLabels = new Map(builtIns.groups.map(({ id, name }) => [id, name]));
  const mine = keyRoleId === null ? activeRolesOf(subject) : [keyRoleId];
  const stillGrants = (roleId: string): boolean => {
    const label = labels.get(roleId);
    if (label !== undefined) return rights.after.grants(label, 'Policy', 'Apply');
    const builtIn = builtIns.roles.find(({ id }) => id === roleId);
    // The document cannot change a role of the organization.
    if (!builtIn) return true;
    const groups = builtIn.groupIds.map((id) => builtInLabels.get(id) ?? '');
    return groups.some((group) => permissionNamesOf(before, group).includes('Policy:Apply'));
  };
  const grants = mine.some((roleId) => {
    const label = labels.get(roleId);
    return label !== undefined && rights.before.grants(label, 'Policy', 'Apply');
  });
  return grants && !mine.some(stillGrants);
}
