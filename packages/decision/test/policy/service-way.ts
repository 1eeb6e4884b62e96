import { commonScopes } from '../../src/app-scopes.ts';
import { indexPermissions, locate, type Grants, type HeldPermission } from '../../src/evaluate.ts';
import { explain, type Outcome } from '../../src/explain.ts';
import type { LocalQuestion } from '../../src/questions/decide.ts';
import type { Subject } from '../../src/questions/subject.ts';
import type { SnapshotClaims } from '../../src/snapshot-claims.ts';
import { nouns, resources } from './documents.ts';

/** The rights of a subject as the service loads them from the same rows, and questions about it. */
export function grantsOf(claims: SnapshotClaims, subject: Subject, now: number): Grants {
  const key = claims.keys.find(({ id }) => id === subject.apiKeyId);
  const userId = subject.apiKeyId === undefined ? subject.userId : key?.userId;
  const user = claims.users.find(({ id }) => id === userId);
  const isOwnKey = key?.ofUser === false;
  const isExpired = key !== undefined && key.expiresAt !== null && key.expiresAt <= now;
  const app = claims.apps.find(({ clientId }) => clientId === subject.clientId);
  const isGone = (subject.apiKeyId !== undefined && !key) || (subject.clientId !== undefined && !app);
  const consented = app && commonScopes(app.scopes, subject.scopes ?? null);
  const holder = isOwnKey ? key : user;
  const roleIds = isOwnKey ? [key.roleId].filter((id) => id !== null) : (user?.roleIds ?? []);
  return {
    membership: !holder || isExpired || isGone ? 'inactive' : 'active',
    user: holder ? { ...holder.attributes, id: userId } : null,
    scope: claims.scope,
    held: indexPermissions(pathsOf(claims, roleIds), new Set(nouns)),
    ...(consented ? { consented: new Set(consented) } : {}),
    ...(app && !consented ? { projectPlaneOnly: true } : {}),
  };
}

/** Every path of the roles, in the order of the statement by which the service reads them. */
function pathsOf(claims: SnapshotClaims, roleIds: readonly string[]): HeldPermission[] {
  const paths = claims.roles
    .filter(({ id }) => roleIds.includes(id))
    .flatMap((role) =>
      claims.groups
        .filter(({ id }) => role.groupIds.includes(id))
        .flatMap((group) =>
          claims.permissions
            .filter(({ id }) => group.permissionIds.includes(id))
            .map((permission) => ({ role, group, permission })),
        ),
    );
  return paths
    .sort(
      (a, b) =>
        a.permission.createdAt - b.permission.createdAt ||
        compare(a.permission.id, b.permission.id) ||
        compare(a.role.id, b.role.id) ||
        compare(a.group.id, b.group.id),
    )
    .flatMap(({ role, group, permission: { id, name, resourceId, action, condition } }) => {
      const resource = claims.resources.find((row) => row.id === resourceId);
      if (!resource || /^Organization/.test(resource.slug)) return [];
      return {
        permission: { id, name, action, resource: resource.slug, managementPlane: resource.isSystem },
        condition,
        role: { metadata: {}, ...role },
        group: { metadata: {}, ...group },
      };
    });
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The candidates of an explanation, as the service gives them. */
export function candidatesOf(
  claims: SnapshotClaims,
  { subject, now, ...question }: LocalQuestion,
): Outcome[] {
  const grants = grantsOf(claims, subject, now);
  if (grants.membership !== 'active') return [];
  const { resource, action } = partsOf(question.permission);
  const target = locate(grants.held, resource, action);
  const key = claims.keys.find(({ id }) => id === subject.apiKeyId);
  const user = claims.users.find(({ id }) => id === (key ?? subject).userId || id === subject.userId);
  const roleIds = key?.ofUser === false ? [key.roleId ?? ''] : (user?.roleIds ?? []);
  const held = pathsOf(claims, roleIds).filter(
    ({ permission }) =>
      permission.managementPlane === target.management &&
      permission.resource === target.resource &&
      permission.action.toLowerCase() === target.action,
  );
  const nothing = { roles: [], links: [], settable: { user: false, grantSources: new Set<string>() } };
  const accepts = { resource: () => false, metadata: () => false };
  const attributes = question.context?.resource as Record<string, unknown> | null;
  return [...explain(grants, { resource, action, attributes }, { held, ...nothing }, accepts).candidates];
}

export function partsOf(permission: LocalQuestion['permission']): { resource: string; action: string } {
  if (typeof permission !== 'string') return permission;
  const [resource = '', action = ''] = permission.split(':');
  return { resource, action };
}

/** Subjects with rights more often than others. */
const subjectsOf = ({ users, keys, apps }: SnapshotClaims): Subject[] => [
  { userId: 'unknown' },
  { apiKeyId: 'unknown' },
  { userId: users[0]?.id ?? '', clientId: 'unknown' },
  ...keys.map(({ id }) => ({ apiKeyId: id })),
  ...users.flatMap(({ id: userId }) => [
    { userId },
    { userId },
    { userId },
    ...apps.flatMap(({ clientId }) => [
      { userId, clientId },
      { userId, clientId, scopes: null },
      { userId, clientId, scopes: ['order:read', 'Project:query', 'ApiKey:read', '__proto__:__proto__'] },
    ]),
  ]),
];

/** Besides the permissions of a snapshot: other spellings, and pairs that it may have. */
const spellings: readonly LocalQuestion['permission'][] = [
  'order:read',
  'project:query',
  'Project:Query',
  '__proto__:__proto__',
  'constructor:toString',
  'ApiKey:Read',
  ' Order :READ ',
  'Organization:Query',
  'OrganizationMember:read',
  { resource: 'project', action: 'READ' },
  { resource: 'Project', action: 'read' },
  { resource: 'constructor', action: 'read' },
  { resource: 'order', action: 'tostring' },
  'order:pay',
];

/** About `count` of all questions about a snapshot, beginning at `start`. */
export function questionsOf(claims: SnapshotClaims, start: number, count: number): LocalQuestion[] {
  const subjects = subjectsOf(claims);
  const own = claims.permissions.map(({ resourceId, action }) => ({
    resource: claims.resources.find(({ id }) => id === resourceId)?.slug ?? '',
    action,
  }));
  const permissions = [...own, ...own, ...spellings];
  const all = subjects.length * permissions.length * resources.length;
  return Array.from({ length: count }, (_, index): LocalQuestion => {
    // A step that has no divisor in common with the sizes of the lists visits all combinations.
    const at = (start + index * 101) % all;
    const resource = resources[at % resources.length];
    const permission = permissions[Math.floor(at / resources.length) % permissions.length];
    const subject = subjects[Math.floor(at / resources.length / permissions.length)];
    return {
      subject: subject as Subject,
      permission: permission as LocalQuestion['permission'],
      ...(resource === undefined ? {} : { context: { resource } }),
      now: 5,
    };
  });
}
