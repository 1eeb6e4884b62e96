import { builtIns } from '../../src/access/built-in.ts';
import type { HeldPermission } from '../../src/access/evaluate.ts';
import type { WantedPermission } from '../../src/access/subset.ts';
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

/** The graph of a world without a database: which permissions a role leads to, and by which paths. */
export const rows = builtIns(declaredPermissions(operations));
const organizationNouns = ['Organization', 'OrganizationInvitation', 'OrganizationMember'];

/** A role, and the place whose row it is; null for a built-in one. */
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

/** Every path of a role, whether or not it counts in a scope; `given` also follows what is switched off. */
export function pathsOf(world: World, { place, name }: RoleRef, given: boolean): HeldPermission[] {
  if (place === null) {
    const role = rows.roles.find((one) => one.name === name);
    const groups = rows.groups.filter(({ id }) => role?.groupIds.includes(id));
    return groups.flatMap((group) => builtInPaths(group.name, { id: pureId(name), name, metadata: {} }));
  }
  const role = roleIn(placeOf(world, place), name);
  if (!role || role.deleted) return [];
  const carrier = { id: pureId(name), name, metadata: role.metadata ?? {} };
  return role.groups.flatMap((group) => groupPaths(world, place, group, carrier, given));
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
  const found = findRow(world, 'groups', name, [place]);
  if (!found) return builtInPaths(name, role);
  const group = groupIn(placeOf(world, found.place), found.name);
  if (!group || group.deleted) return [];
  const carrier = { id: pureId(name), name: found.name, metadata: group.metadata ?? {} };
  return group.permissions.flatMap((permission) => {
    const one = permissionNamed(world, found.place, permission, given);
    return one ? [{ ...one, role, group: carrier }] : [];
  });
}

/** Null when the permission, or the resource under it, does not count. */
export function permissionNamed(
  world: World,
  place: string,
  name: string,
  given = true,
): Pick<HeldPermission, 'permission' | 'condition'> | null {
  const found = findRow(world, 'permissions', name, [place]);
  if (!found) {
    const row = rows.permissions.find((one) => one.name === name);
    if (!row) throw new Error(`no permission "${name}"`);
    return { permission: { id: row.id, name, ...split(name) }, condition: null };
  }
  const owner = placeOf(world, found.place);
  const row = permissionIn(owner, found.name);
  const target = split(row?.on ?? '');
  const resource = target.managementPlane ? undefined : resourceIn(owner, target.resource);
  if (!target.managementPlane && !resource) throw new Error(`no resource "${target.resource}" in "${place}"`);
  if (!row || row.deleted || resource?.deleted || (resource?.inactive && !given)) return null;
  return {
    permission: { id: pureId(found.name), name: found.name, ...target },
    condition: withIds(row.when ?? null, pureId),
  };
}

/** What has an effect: rights about the organization itself end at the border of a project. */
export const effective = <P extends { permission: { resource: string; managementPlane: boolean } }>(
  paths: readonly P[],
  inProject: boolean,
): P[] =>
  paths.filter(
    ({ permission }) =>
      !(inProject && permission.managementPlane && organizationNouns.includes(permission.resource)),
  );

/** What roles, groups and permissions stand for when they are given or taken in a scope. */
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

/** A permission that is being made. */
export const newPermission = (on: string, condition: unknown): WantedPermission => ({
  ...split(on),
  condition: withIds(condition, pureId),
});
