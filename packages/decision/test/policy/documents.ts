import fc from 'fast-check';
import type { ChangesClaims, SnapshotClaims } from '../../src/snapshot-claims.ts';

/** Random snapshots: few ids, so that rows share what they lead to, and names that careless code confuses with members. */
const ids = ['a', 'b', 'c', '__proto__', 'constructor', 'toString'];
export const nouns = ['ApiKey', 'Organization', 'OrganizationMember', 'Project'];
const slugs = ['order', 'project', '__proto__', 'constructor', ...nouns];
const actions = ['read', 'read', 'read', 'Read', 'toString', '__proto__', 'Query'];
const scopes = [
  'order:read',
  'Order:Read',
  'Project:Query',
  'project:query',
  'ApiKey:read',
  ':',
  'order',
  'a:b:c',
];

const conditions: readonly unknown[] = [
  null,
  null,
  {},
  { Equals: { 'resource.ownerId': '{{user.id}}' } },
  { In: { 'resource.ownerId': ['a', 'b', 'c'] } },
  { Not: { Equals: { 'resource.ownerId': '{{user.id}}' } } },
  { StringEquals: { 'user.metadata.dept': { $ref: 'resource.dept' } } },
  { Equals: { 'role.metadata.x': 1 } },
  { Equals: { 'group.metadata.x': 1 } },
  { Equals: { 'group.metadata.x': 1, 'resource.ownerId': 'a' } },
  { Equals: { 'group.name': 'name of a', 'role.name': 'name of b' } },
  { Equals: { 'scope.projectId': 'project', 'user.email': null } },
  { Matches: { 'resource.id': 'x' } },
  JSON.parse('{"__proto__": {"a": 1}}'),
  'owner',
  [],
];

export const resources = [undefined, null, {}, { ownerId: 'a', dept: 'x' }, { ownerId: 'b', dept: ['x'] }];

const attributes = fc.constantFrom<(Record<string, unknown> | undefined)[]>(
  undefined,
  { email: null, metadata: { dept: 'x' } },
  { id: 'other', metadata: { dept: 'y' } },
  JSON.parse('{"__proto__": {"metadata": {"dept": "x"}}}') as Record<string, unknown>,
);
const metadata = fc.constantFrom(undefined, {}, { x: 1 }, { x: '1' });

/** Rows with different ids; `link` is given the ids of the rows that they may lead to. */
const rows = <T>(row: fc.Arbitrary<T>, minLength = 0, maxLength = ids.length) =>
  fc.uniqueArray(fc.tuple(fc.constantFrom(...ids), row), {
    selector: ([id]) => id,
    minLength,
    maxLength,
    size: 'max',
  });
const pick = fc.array(fc.nat(ids.length), { minLength: 1, maxLength: 4, size: 'max' });
const linked = (among: readonly { readonly id: string }[], indexes: readonly number[]): string[] => [
  ...new Set(indexes.flatMap((index) => among[index % Math.max(among.length, 1)]?.id ?? [])),
];
const defined = <T extends object>(row: T): T =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)) as T;

/** As JSON, because a snapshot comes as JSON. */
export const snapshots: fc.Arbitrary<SnapshotClaims> = fc
  .record({
    resources: rows(fc.constantFrom('order', 'order', 'order', 'Project', ...slugs), 2),
    permissions: rows(
      fc.tuple(fc.nat(9), fc.constantFrom(...actions), fc.constantFrom(...conditions), fc.nat(2)),
      3,
    ),
    groups: rows(fc.tuple(pick, metadata), 3),
    roles: rows(fc.tuple(pick, metadata), 3),
    users: rows(fc.tuple(pick, attributes), 1),
    keys: rows(
      fc.tuple(fc.constantFrom(...ids), fc.boolean(), pick, fc.constantFrom(null, 5, 6), attributes),
      0,
      3,
    ),
    apps: rows(fc.tuple(fc.option(fc.subarray(scopes)), fc.nat(9)), 0, 2),
    version: fc.nat().map((number) => `version ${number}`),
  })
  .map((drawn) => {
    const resources = drawn.resources.map(([id, slug]) => ({ id, slug, isSystem: nouns.includes(slug) }));
    const permissions = drawn.permissions.flatMap(([id, [index, action, condition, createdAt]]) =>
      linked(resources, [index]).map((resourceId) => ({
        id,
        name: id,
        resourceId,
        action,
        condition,
        createdAt,
      })),
    );
    const groups = drawn.groups.map(([id, [indexes, own]]) =>
      defined({ id, name: `name of ${id}`, metadata: own, permissionIds: linked(permissions, indexes) }),
    );
    const roles = drawn.roles.map(([id, [indexes, own]]) =>
      defined({ id, name: `name of ${id}`, metadata: own, groupIds: linked(groups, indexes) }),
    );
    const users = drawn.users.map(([id, [indexes, own]]) =>
      defined({ id, roleIds: linked(roles, indexes), attributes: own }),
    );
    const keys = drawn.keys.map(([id, [userId, ofUser, indexes, expiresAt, own]]) => {
      const [roleId = null] = ofUser ? [] : linked(roles, indexes);
      return defined({ id, userId, ofUser, roleId, expiresAt, allowedCidrs: [], attributes: own });
    });
    const apps = drawn.apps.map(([clientId, [allowed, updatedAt]]) => ({
      clientId,
      scopes: allowed,
      updatedAt,
    }));
    return snapshot({ resources, permissions, groups, roles, users, keys, apps, version: drawn.version });
  });

/** A snapshot with the given members, as JSON. */
export const snapshot = (members: object = {}): SnapshotClaims =>
  JSON.parse(JSON.stringify({ ...header, version: 'v1', ...body, ...members })) as SnapshotClaims;

const header = {
  iss: 'https://doorward.test/projects/project',
  aud: 'doorward-snapshot',
  sub: 'project',
  iat: 0,
  exp: 86_400,
  format: 1,
  sequence: 1,
  revision: 'r1',
  asOf: 1000,
};
const ended = { jti: [], issuedBefore: null, kids: [] };
const body = {
  scope: { tenant: 'organizationProject', id: 'o:project', organizationId: 'o', projectId: 'project' },
  userFilter: 'all',
  nouns,
  resources: [],
  permissions: [],
  groups: [],
  roles: [],
  users: [],
  keys: [],
  apps: [],
  ended,
};

/** Changes with the given members, as JSON; by default from v1 to v2, with nothing in them. */
export const changes = (members: object = {}): ChangesClaims => {
  const versions = { from: 'v1', to: 'v2', full: false };
  return JSON.parse(
    JSON.stringify({ ...header, ...versions, put: {}, drop: {}, ended, ...members }),
  ) as ChangesClaims;
};
