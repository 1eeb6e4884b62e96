import type { RoleName } from '../../src/schema/rights/built-in-ids.ts';
import {
  indexPermissions,
  evaluateWithoutConditions,
  type Grants,
  type HeldPermission,
} from '@doorward/decision/evaluate';
import type { World } from './case-file.ts';
import { effective, isProject, pathsOf, pureId, roleNamed, rows, type RoleRef } from './role-graph.ts';
import { ACCOUNT, founderOf, membershipIn, placeOf, userIn, withOwner, type Where } from './world-names.ts';

/**
 * The grants of a subject as the pure core takes them: authorization §3 derived from the YAML without a database. It
 * shares no code with the loader of the service, so that every case compares the two.
 */
export interface Subject {
  readonly who?: string | undefined;
  readonly key?: string | undefined;
}

interface Rights {
  readonly grants: Grants;
  /** In the scope of another user: what the caller holds in the project. */
  readonly projectGrants: Grants;
}

/** The grants of a subject in a scope; `asked` when another user asks about the subject. */
export function rightsOf(world: World, subject: Subject, where: Where, requested = false): Rights {
  const { who, key } = subject;
  return key === undefined
    ? rightsOfPerson(world, who ?? '', where, requested)
    : rightsOfKey(world, key, where);
}

function rightsOfPerson(world: World, who: string, where: Where, requested: boolean): Rights {
  const related = isRelated(world, who, where);
  const alive = !world.disabled?.includes(who);
  const membership = related ? (alive ? 'active' : 'inactive') : requested ? 'inactive' : 'outside';
  const paths = membership === 'active' ? pathsIn(world, rolesOf(world, who, where), where) : [];
  return scoped(world, where, who, membership, paths, where.user === undefined || where.user === who);
}

function rightsOfKey(world: World, name: string, where: Where): Rights {
  const [project, { keys } = { keys: {} }] =
    Object.entries(world.places).find(([, place]) => place.keys?.[name]) ?? [];
  const key = keys?.[name];
  if (project === undefined || !key) throw new Error(`no key "${name}"`);
  const user = 'user' in key ? key.user : (key.by ?? founderOf(world, project));
  const own = where.kind === 'project' && where.place === project && where.under === undefined;
  if (!own) return scoped(world, where, user, 'outside', [], true);
  if ('user' in key) {
    const alive = isRelated(world, user, where) && !world.disabled?.includes(user);
    const paths = alive ? pathsIn(world, rolesOf(world, user, where), where) : [];
    const ownScope = where.user === undefined || where.user === user;
    return scoped(world, where, user, alive ? 'active' : 'inactive', paths, ownScope);
  }
  const role = roleNamed(world, key.role, withOwner(world, project));
  const ownScope = where.user === undefined || where.user === user;
  return scoped(world, where, user, 'active', pathsIn(world, [role], where), ownScope);
}

const pathsIn = (world: World, roles: readonly RoleRef[], where: Where): HeldPermission[] =>
  effective(
    roles.flatMap((role) => pathsOf(world, role, false)),
    isProject(where),
  );

function scoped(
  world: World,
  where: Where,
  user: string,
  membership: Grants['membership'],
  held: readonly HeldPermission[],
  ownScope: boolean,
): Rights {
  const projectGrants: Grants = {
    membership,
    user: attributesOf(world, user, where),
    scope: scopeAttributes(world, where),
    held: indexPermissions(held, rows.nouns),
  };
  if (ownScope) return { grants: projectGrants, projectGrants };
  // In the scope of another user the only permissions are those to create keys for them.
  const may = evaluateWithoutConditions(projectGrants, { resource: 'ApiKey', action: 'CreateForUser' });
  const making = held.filter(
    ({ permission: { resource, action, managementPlane } }) =>
      managementPlane && resource === 'ApiKey' && action === 'Create',
  );
  const allowed = may !== 'conditional' && may.authorized;
  return {
    projectGrants,
    grants: { ...projectGrants, held: indexPermissions(allowed ? making : [], rows.nouns) },
  };
}

function isRelated(world: World, who: string, where: Where): boolean {
  if (where.kind === 'nowhere' || where.under !== undefined) return false;
  if (where.kind === 'account') return world.founder === who;
  if (where.kind === 'organization') return membershipOf(world, who, where.place) !== undefined;
  const owner = placeOf(world, where.place).projectOf ?? '';
  const above = owner === ACCOUNT ? world.founder === who : membershipOf(world, who, owner) !== undefined;
  return above || participationOf(world, who, where.place) !== undefined;
}

function membershipOf(world: World, who: string, organization: string) {
  const member = membershipIn(world, organization, who);
  return member?.left ? undefined : member;
}

/** A user who leaves an organization leaves its projects. */
function participationOf(world: World, who: string, project: string) {
  const { projectOf = '' } = placeOf(world, project);
  const user = userIn(placeOf(world, project), who);
  const member = projectOf in world.places ? membershipIn(world, projectOf, who) : undefined;
  return member?.left || user?.left ? undefined : user;
}

/** The roles that apply to a person in a scope. */
export function rolesOf(world: World, who: string, where: Where): RoleRef[] {
  const owns: RoleRef[] =
    world.founder === who ? [{ place: null, name: 'Account Owner' satisfies RoleName }] : [];
  if (where.kind === 'account') return owns;
  if (where.kind === 'organization') return memberRole(world, who, where.place);
  const owner = placeOf(world, where.place).projectOf ?? '';
  const above = owner === ACCOUNT ? owns : memberRole(world, who, owner);
  return [...above, ...projectRoles(world, who, where.place)];
}

function memberRole(world: World, who: string, organization: string): RoleRef[] {
  const member = membershipOf(world, who, organization);
  return member ? [roleNamed(world, member.role, [organization])] : [];
}

export function projectRoles(world: World, who: string, project: string): RoleRef[] {
  const user = participationOf(world, who, project);
  return user ? user.roles.map((role) => roleNamed(world, role, [project])) : [];
}

function attributesOf(world: World, who: string, where: Where): Record<string, unknown> {
  const owner = where.kind === 'project' ? placeOf(world, where.place).projectOf : where.place;
  const member = owner && world.places[owner] ? membershipOf(world, who, owner) : undefined;
  const user = where.kind === 'project' ? participationOf(world, who, where.place) : undefined;
  const metadata = { ...member?.metadata, ...user?.metadata };
  return { id: pureId(who), name: who, email: pureId(`${who}.email`), emailVerified: true, metadata };
}

function scopeAttributes(world: World, where: Where): Record<string, unknown> {
  if (where.kind === 'nowhere') return {};
  const id = pureId(where.place);
  if (where.kind === 'account') return { tenant: 'account', id, accountId: id };
  if (where.kind === 'organization') return { tenant: 'organization', id, organizationId: id };
  const owner = placeOf(world, where.place).projectOf ?? '';
  const of = owner === ACCOUNT ? 'account' : 'organization';
  return {
    // Also in the scope of one user: conditions read the project there.
    tenant: `${of}Project`,
    id: `${pureId(owner)}:${id}`,
    [`${of}Id`]: pureId(owner),
    projectId: id,
  };
}
