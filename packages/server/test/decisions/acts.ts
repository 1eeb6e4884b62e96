import type { WantedPermission } from '../../src/access/delegation/escalation.ts';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import type { Acts, Attempt, World } from './case-file.ts';
import { projectRoles, rolesOf, type Subject } from './model.ts';
import { newPermission, roleNamed, standsFor } from './role-graph.ts';
import { withOwner, type Where } from './world-names.ts';

/**
 * What a subject may try. Each act is declared twice: as the call of an operation, and as the question to the pure
 * core: the permission of the guard, and what the subset rule checks, in the same order.
 */
interface Act<W> {
  readonly operation: string;
  readonly permission: string;
  /** Set when the call needs another scope than the case names. */
  readonly where?: (where: Where, what: W) => Where;
  readonly input: (built: Ids, where: Where, what: W) => Record<string, unknown>;
  readonly weighed: (tried: Tried, what: W) => readonly (readonly WantedPermission[])[];
  /** What a condition on the permission of the guard can read. */
  readonly attributes?: (what: W) => Record<string, unknown>;
}

interface Tried {
  readonly world: World;
  readonly subject: Subject;
  readonly where: Where;
}

/** Ids of a world that was built. */
export interface Ids {
  readonly scope: (where: Where) => ScopeRef;
  readonly person: (name: string) => string;
  readonly group: (name: string, where: Where) => string;
  readonly permission: (name: string, where: Where) => string;
  readonly resource: (slug: string, where: Where) => string;
  readonly role: (name: string, where: Where) => string;
  /** Replaces the placeholders of a condition by their values. */
  readonly fill: <T>(json: T) => T;
}

const roles = ({ world, where }: Tried, names: readonly string[]) =>
  standsFor(world, where, { roles: names.map((name) => roleNamed(world, name, [where.place])) });
const groups = ({ world, where }: Tried, names: readonly string[] = []) =>
  standsFor(world, where, { groups: names });
const permissions = ({ world, where }: Tried, names: readonly string[] = []) =>
  standsFor(world, where, { permissions: names });

/** The rows that are disabled or deleted with a resource. */
const permissionsOn = (tried: Tried, resource: string) => {
  const names = Object.keys(tried.world.places[tried.where.place]?.permissions ?? {});
  return permissions(tried, names).filter((permission) => permission.resource === resource);
};

/** All permissions that a person holds in the scope by any role: the caller must hold them all to remove any. */
const heldBy = ({ world, where }: Tried, who: string) =>
  standsFor(world, where, { roles: rolesOf(world, who, where) });

/** Whether the new set of roles omits an assigned one; another role of a member always replaces the former one. */
const takes = ({ world, where }: Tried, who: string, names: readonly string[]): boolean =>
  where.kind === 'organization' ||
  projectRoles(world, who, where.place).some(({ name }) => !names.includes(name));

const given = <T>(key: string, value: T | undefined): Record<string, T> =>
  value === undefined ? {} : { [key]: value };

/** The default is the role of the caller: that of the key, of the membership, the owner role, or the only one. */
function roleOfNewKey({ world, subject, where }: Tried, role: string | undefined) {
  const nearest = withOwner(world, where.place);
  if (role !== undefined) return roleNamed(world, role, nearest);
  const key = subject.key === undefined ? undefined : world.places[where.place]?.keys?.[subject.key];
  if (key && 'role' in key) return roleNamed(world, key.role, nearest);
  const [first] = rolesOf(world, subject.who ?? '', where);
  if (!first) throw new Error('whoever has no role has no default either');
  return first;
}

const acts: { readonly [K in keyof Acts]: Act<Acts[K]> } = {
  createRole: {
    operation: 'createRole',
    permission: 'Role:Create',
    input: (ids, where, what) => ({
      name: 'New',
      groupIds: what.groups.map((name) => ids.group(name, where)),
    }),
    weighed: (tried, what) => [groups(tried, what.groups)],
    attributes: () => ({ name: 'New' }),
  },
  changeRole: {
    operation: 'updateRole',
    permission: 'Role:Update',
    input: (ids, where, what) => ({
      id: ids.role(what.role, where),
      ...given('name', what.name),
      ...given(
        'groupIds',
        what.groups?.map((name) => ids.group(name, where)),
      ),
    }),
    weighed: (tried, what) => [roles(tried, [what.role]), groups(tried, what.groups)],
    attributes: ({ role }) => ({ name: role }),
  },
  deleteRole: {
    operation: 'deleteRole',
    permission: 'Role:Delete',
    input: (ids, where, what) => ({ id: ids.role(what.role, where) }),
    weighed: (tried, what) => [roles(tried, [what.role])],
    attributes: ({ role }) => ({ name: role }),
  },
  createGroup: {
    operation: 'createGroup',
    permission: 'Group:Create',
    input: (ids, where, what) => ({
      name: 'New',
      permissionIds: what.permissions.map((name) => ids.permission(name, where)),
    }),
    weighed: (tried, what) => [permissions(tried, what.permissions)],
  },
  changeGroup: {
    operation: 'updateGroup',
    permission: 'Group:Update',
    input: (ids, where, what) => ({
      id: ids.group(what.group, where),
      ...given('name', what.name),
      ...given(
        'permissionIds',
        what.permissions?.map((name) => ids.permission(name, where)),
      ),
    }),
    weighed: (tried, what) => [groups(tried, [what.group]), permissions(tried, what.permissions)],
  },
  deleteGroup: {
    operation: 'deleteGroup',
    permission: 'Group:Delete',
    input: (ids, where, what) => ({ id: ids.group(what.group, where) }),
    weighed: (tried, what) => [groups(tried, [what.group])],
  },
  createPermission: {
    operation: 'createPermission',
    permission: 'Permission:Create',
    input: (ids, where, { on, when }) => {
      const [slug = '', action = ''] = on.split(':');
      return { resourceId: ids.resource(slug, where), action, ...given('condition', ids.fill(when)) };
    },
    weighed: (_, { on, when }) => [[newPermission(on, when ?? null)]],
    attributes: ({ on }) => ({ action: on.split(':')[1] }),
  },
  changePermission: {
    operation: 'updatePermission',
    permission: 'Permission:Update',
    input: (ids, where, what) => ({
      id: ids.permission(what.permission, where),
      ...given('name', what.name),
      ...given('condition', ids.fill(what.when)),
    }),
    weighed: (tried, { permission, when }) => {
      const now = permissions(tried, [permission]);
      return when === undefined
        ? [now]
        : [now, now.map((wantedPermission) => ({ ...wantedPermission, condition: when }))];
    },
  },
  deletePermission: {
    operation: 'deletePermission',
    permission: 'Permission:Delete',
    input: (ids, where, what) => ({ id: ids.permission(what.permission, where) }),
    weighed: (tried, what) => [permissions(tried, [what.permission])],
  },
  createResource: {
    operation: 'createResource',
    permission: 'Resource:Create',
    input: (_, __, { slug, actions }) => ({ name: slug, slug, actions, createPermissions: true }),
    weighed: (_, { slug, actions }) => [actions.map((action) => newPermission(`${slug}:${action}`, null))],
  },
  switchResource: {
    operation: 'updateResource',
    permission: 'Resource:Update',
    input: (ids, where, { resource, active }) => ({ id: ids.resource(resource, where), isActive: active }),
    weighed: (tried, { resource }) => [permissionsOn(tried, resource)],
  },
  deleteResource: {
    operation: 'deleteResource',
    permission: 'Resource:Delete',
    input: (ids, where, { resource }) => ({ id: ids.resource(resource, where) }),
    weighed: (tried, { resource }) => [permissionsOn(tried, resource)],
  },
  createKey: {
    operation: 'createApiKey',
    permission: 'ApiKey:Create',
    input: (ids, where, what) => (what.role === undefined ? {} : { roleId: ids.role(what.role, where) }),
    weighed: (tried, what) => [
      standsFor(tried.world, tried.where, { roles: [roleOfNewKey(tried, what.role)] }),
    ],
  },
  createKeyFor: {
    operation: 'createApiKey',
    permission: 'ApiKey:Create',
    where: (where, { user }) => ({ ...where, user }),
    input: () => ({}),
    weighed: (tried, { user }) => [heldBy(tried, user)],
  },
  inviteMember: {
    operation: 'inviteMember',
    permission: 'OrganizationInvitation:Create',
    input: (ids, where, what) => ({ email: 'new@example.test', roleId: ids.role(what.role, where) }),
    weighed: (tried, what) => [roles(tried, [what.role])],
  },
  changeMember: {
    operation: 'updateOrganizationMember',
    permission: 'OrganizationMember:Update',
    input: (ids, where, what) => ({ userId: ids.person(what.member), roleId: ids.role(what.role, where) }),
    weighed: (tried, what) => [heldBy(tried, what.member), roles(tried, [what.role])],
  },
  removeMember: {
    operation: 'removeOrganizationMember',
    permission: 'OrganizationMember:Remove',
    input: (ids, _, what) => ({ userId: ids.person(what.member) }),
    weighed: (tried, what) => [heldBy(tried, what.member)],
  },
  addUser: {
    operation: 'createUser',
    permission: 'User:Create',
    input: (ids, where, what) => ({
      ...(what.user === undefined ? { name: 'New' } : { userId: ids.person(what.user) }),
      roleIds: what.roles.map((name) => ids.role(name, where)),
    }),
    weighed: (tried, what) => [roles(tried, what.roles)],
  },
  changeUser: {
    operation: 'updateUser',
    permission: 'User:Update',
    input: (ids, where, what) => ({
      id: ids.person(what.user),
      roleIds: what.roles.map((name) => ids.role(name, where)),
    }),
    weighed: (tried, what) => [
      ...(takes(tried, what.user, what.roles) ? [heldBy(tried, what.user)] : []),
      roles(tried, what.roles),
    ],
  },
  removeUser: {
    operation: 'deleteUser',
    permission: 'User:Delete',
    input: (ids, _, what) => ({ id: ids.person(what.user) }),
    weighed: (tried, what) => [heldBy(tried, what.user)],
  },
};

/** The act of a case, without its name: each kind of act accepts only its own input. */
export function actOf(tries: Attempt['tries']): { readonly act: Act<unknown>; readonly what: unknown } {
  const [kind, what] = Object.entries(tries)[0] as [keyof Acts, unknown];
  return { act: acts[kind] as Act<unknown>, what };
}
