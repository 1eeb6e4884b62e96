import { builtIns } from '../../src/access/built-in.ts';
import type { HeldPermission } from '@doorward/decision/evaluate';
import type { WantedPermission } from '../../src/access/delegation/escalation.ts';
import { declaredPermissions, operations } from '../../src/operations.ts';
import type { World } from './case-file.ts';
import {
  findRow,
  groupIn,
  permissionIn,
  placeOf,
  resourceIn,
  roleIn,
  withIds,
  type Where,
} from './world-names.ts';

/** The graph of a world without a database: the permissions of a role, and the paths to them. */
export const rows = builtIns(declaredPermissions(operations));
const organizationNouns = [
  'Organization',
  'OrganizationInvitation',
  'OrganizationDomain',
  'OrganizationConnection',
  'OrganizationMember',
];

/** A role with the place to which its row belongs; null for a built-in role. */
export interface RoleRef {
  readonly place: string | null;
  readonly name: string;
}

/** In the pure world a name is its own id. */
export const pureId = (name: string): string =>
  name.endsWith('.email') ? `${name.slice(0, -6).toLowerCase()}@example.test` : `id of ${name}`;

export const isProject = (where: Where): boolean => where.kind === 'project';
const managed = (on: string): boolean => rows.nouns.has(on.split(':')[0] ?? '');

function split(on: string): { resource: string; action: string; managementPlane: boolean } {
  const [resource = '', action = ''] = on.split(':');
  return { resource, action, managementPlane: managed(on) };
}

/** A role as a case names it. @throws Error when there is none */
export function roleNamed(world: World, name: string, nearest: readonly string[]): RoleRef {
  const own = findRow(world, 'roles', name, nearest);
  if (own) return own;
  if (!rows.roles.some((role) => role.name === name)) throw new Error(`no role "${name}" here`);
  return { place: null, name };
}

/** Every path of a role, whether or not it applies in a scope; `given` also follows disabled rows. */
export function pathsOf(world: World, { place, name }: RoleRef, given: boolean): HeldPermission[] {
  if (place === null) {
    const role = rows.roles.find((role) => role.name === name);
    const groups = rows.groups.filter(({ id }) => role?.groupIds.includes(id));
    return groups.flatMap((group) => builtInPaths(group.name, { id: pureId(name), name, metadata: {} }));
  }
  const role = roleIn(placeOf(world, place), name);
  if (!role || role.deleted) return [];
  const source = { id: pureId(name), name, metadata: role.metadata ?? {} };
  return role.groups.flatMap((group) => groupPaths(world, place, group, source, given));
}

function builtInPaths(group: string, role: HeldPermission['role']): HeldPermission[] {
  const row = rows.groups.find(({ name }) => name === group);
  if (!row) throw new Error(`no group "${group}"`);
  return rows.permissions
    .filter(({ id }) => row.permissionIds.includes(id))
    .map(({ id, name }) => ({
      permission: { id, name, ...split(name) },
      condition: null,
      role,
      group: { id: pureId(group), name: group, metadata: {} },
    }));
}

function groupPaths(
  world: World,
  place: string,
  name: string,
  role: HeldPermission['role'],
  given: boolean,
): HeldPermission[] {
  const match = findRow(world, 'groups', name, [place]);
  if (!match) return builtInPaths(name, role);
  const group = groupIn(placeOf(world, match.place), match.name);
  if (!group || group.deleted) return [];
  const source = { id: pureId(name), name: match.name, metadata: group.metadata ?? {} };
  return group.permissions.flatMap((permission) => {
    const item = permissionNamed(world, match.place, permission, given);
    return item ? [{ ...item, role, group: source }] : [];
  });
}

/** Null when the permission or its resource is disabled or deleted. */
function permissionNamed(
  world: World,
  place: string,
  name: string,
  given = true,
): Pick<HeldPermission, 'permission' | 'condition'> | null {
  const match = findRow(world, 'permissions', name, [place]);
  if (!match) {
    const row = rows.permissions.find((permission) => permission.name === name);
    if (!row) throw new Error(`no permission "${name}"`);
    return { permission: { id: row.id, name, ...split(name) }, condition: null };
  }
  const owner = placeOf(world, match.place);
  const row = permissionIn(owner, match.name);
  const target = split(row?.on ?? '');
  const resource = target.managementPlane ? undefined : resourceIn(owner, target.resource);
  if (!target.managementPlane && !resource) throw new Error(`no resource "${target.resource}" in "${place}"`);
  if (!row || row.deleted || resource?.deleted || (resource?.inactive && !given)) return null;
  return {
    permission: { id: pureId(match.name), name: match.name, ...target },
    condition: withIds(row.when ?? null, pureId),
  };
}

/** The effective paths: permissions about the organization do not apply in its projects. */
export const effective = <P extends { permission: { resource: string; managementPlane: boolean } }>(
  paths: readonly P[],
  inProject: boolean,
): P[] =>
  paths.filter(
    ({ permission }) =>
      !(inProject && permission.managementPlane && organizationNouns.includes(permission.resource)),
  );

/** The permissions behind roles, groups and permissions that are granted or removed in a scope. */
export const standsFor = (
  world: World,
  where: Where,
  what: { roles?: readonly RoleRef[]; groups?: readonly string[]; permissions?: readonly string[] },
): WantedPermission[] => {
  const nobody = { id: '', name: '', metadata: {} };
  const { roles = [], groups = [], permissions = [] } = what;
  const paths = [
    ...roles.flatMap((role) => pathsOf(world, role, true)),
    ...groups.flatMap((group) => groupPaths(world, where.place, group, nobody, true)),
    ...permissions.flatMap((name) => permissionNamed(world, where.place, name) ?? []),
  ];
  return effective(paths, isProject(where)).map(({ permission, condition }) => ({
    resource: permission.resource,
    action: permission.action,
    managementPlane: permission.managementPlane,
    condition,
  }));
};

/** A permission that is being created. */
export const newPermission = (on: string, condition: unknown): WantedPermission => ({
  ...split(on),
  condition: withIds(condition, pureId),
});
