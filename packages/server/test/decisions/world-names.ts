import type { JsonObject } from '../../src/kernel/input/values.ts';
import type { CaseFile, Place, World } from './case-file.ts';

/** Resolves the names of a world: which row belongs to which place, and what a name in a case refers to. */

/** The scope that a case names. */
export interface Where {
  readonly kind: 'account' | 'organization' | 'project' | 'nowhere';
  /** Name of the organization or project. */
  readonly place: string;
  /** The person whose scope in the project it is. */
  readonly user?: string;
  /** The owner under which the project is named, when that is the wrong one. */
  readonly under?: string;
}

export const ACCOUNT = 'the account';

/** @throws Error for a place that the world does not have */
export function placeOf(world: World, name: string): Place {
  const place = world.places[name];
  if (!place) throw new Error(`no place "${name}" in this world`);
  return place;
}

/** Parses the `where` of a case. */
export function readWhere(world: World, where: string): Where {
  if (where === 'nowhere') return { kind: 'nowhere', place: where };
  if (where === ACCOUNT) return { kind: 'account', place: where };
  const [user, inside] = where.split(' in ');
  if (user !== undefined && inside !== undefined) return { ...readWhere(world, inside), user };
  const [place = '', under] = where.split(' under ');
  const kind = placeOf(world, place).projectOf === undefined ? 'organization' : 'project';
  return { kind, place, ...(under === undefined ? {} : { under }) };
}

/** A row by name: of the given place, or `X of Y`. Null when no row of the world has the name: it is a built-in one. */
export function findRow(
  world: World,
  kind: 'permissions' | 'groups' | 'roles',
  name: string,
  nearest: readonly string[],
): { readonly place: string; readonly name: string } | null {
  const [own = '', elsewhere] = name.split(' of ');
  if (elsewhere !== undefined && elsewhere in world.places) {
    if (!world.places[elsewhere]?.[kind]?.[own]) throw new Error(`no ${kind} "${own}" in "${elsewhere}"`);
    return { place: elsewhere, name: own };
  }
  const place = nearest.find((item) => world.places[item]?.[kind]?.[name] !== undefined);
  return place === undefined ? null : { place, name };
}

/** The place and, for a project, its owner: the places from which the role of a key may come. */
export const withOwner = (world: World, place: string): string[] => {
  const owner = placeOf(world, place).projectOf;
  return owner === undefined || owner === ACCOUNT ? [place] : [place, owner];
};

export const founderOf = (world: World, place: string): string => {
  if (place === ACCOUNT) return world.founder;
  const { projectOf, founder } = placeOf(world, place);
  return projectOf === undefined ? (founder ?? world.founder) : founderOf(world, projectOf);
};

interface Optional {
  readonly metadata?: JsonObject | undefined;
  readonly deleted?: true | undefined;
  readonly left?: true | undefined;
}

// The short forms of rows, written out.
export const resourceIn = (
  place: Place,
  slug: string,
): (Optional & { readonly actions: string[]; readonly inactive?: true | undefined }) | undefined => {
  const row = place.resources?.[slug];
  return Array.isArray(row) ? { actions: row } : row;
};
export const permissionIn = (
  place: Place,
  name: string,
): (Optional & { readonly on: string; readonly when?: Record<string, unknown> | undefined }) | undefined => {
  const row = place.permissions?.[name];
  return typeof row === 'string' ? { on: row } : row;
};
export const groupIn = (
  place: Place,
  name: string,
): (Optional & { readonly permissions: string[] }) | undefined => {
  const row = place.groups?.[name];
  return Array.isArray(row) ? { permissions: row } : row;
};
export const roleIn = (
  place: Place,
  name: string,
): (Optional & { readonly groups: string[] }) | undefined => {
  const row = place.roles?.[name];
  return Array.isArray(row) ? { groups: row } : row;
};
export const memberIn = (place: Place, name: string): (Optional & { readonly role: string }) | undefined => {
  const row = place.members?.[name];
  return typeof row === 'string' ? { role: row } : row;
};
export const userIn = (place: Place, name: string): (Optional & { readonly roles: string[] }) | undefined => {
  const row = place.users?.[name];
  return Array.isArray(row) ? { roles: row } : row;
};

/** The role in an organization: its founder is an owner. */
export const membershipIn = (world: World, place: string, name: string): ReturnType<typeof memberIn> => {
  const row = memberIn(placeOf(world, place), name);
  return row ?? (founderOf(world, place) === name ? { role: 'Organization Owner' } : undefined);
};

/** Every person who acts in the world or in a case: only these need a session. */
export function actorsOf({ world, decisions = [], escalations = [] }: CaseFile): string[] {
  const founders = Object.values(world.places).map(({ founder }) => founder);
  const makers = Object.values(world.places).flatMap(({ keys }) =>
    Object.values(keys ?? {}).map(({ by }) => by),
  );
  const asking = decisions.map(({ who, caller }) => caller ?? who);
  const trying = escalations.map(({ who }) => who);
  const all = [world.founder, ...founders, ...makers, ...asking, ...trying];
  return [...new Set(all.filter((name): name is string => name !== undefined))];
}

/** People without a role in any place whom a case is about. */
export function strangersOf({ world, decisions = [], escalations = [] }: CaseFile): string[] {
  const places = Object.values(world.places);
  const existing = new Set(places.flatMap(({ members, users }) => Object.keys({ ...members, ...users })));
  const meant = [
    ...decisions.map(({ who }) => who),
    ...escalations.flatMap(({ tries }) => [
      tries.createKeyFor?.user,
      tries.changeMember?.member,
      tries.addUser?.user,
    ]),
  ];
  return [...new Set(meant.filter((name): name is string => name !== undefined && !existing.has(name)))];
}

/** Replaces `@Name` and `@Name.email` in any JSON by the result of `valueOf`. */
export function withIds<T>(json: T, valueOf: (name: string) => string): T {
  if (typeof json === 'string') return (json.startsWith('@') ? valueOf(json.slice(1)) : json) as T;
  if (Array.isArray(json)) return json.map((item: unknown) => withIds(item, valueOf)) as T;
  if (json === null || typeof json !== 'object') return json;
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, withIds(value, valueOf)])) as T;
}
