import type { ScopeRef } from '../../src/kernel/scope.ts';
import type { TestApp } from '../support/app/app.ts';
import type { Person, Via } from '../support/app/client.ts';
import type { World } from './case-file.ts';
import { rows } from './role-graph.ts';
import { findRow, withIds } from './world-names.ts';

export type Kind = 'resources' | 'permissions' | 'groups' | 'roles';

/** A world while it is being built. */
export interface Site {
  readonly app: TestApp;
  readonly via: Via;
  readonly world: World;
  /** Ids of rows, by kind, place and name. */
  readonly ids: Map<string, string>;
  /** Scopes of places, by name. */
  readonly scopes: Map<string, ScopeRef>;
  /** People with a session, by name. */
  readonly people: Map<string, Person>;
  /** Ids of all users, by name. */
  readonly users: Map<string, string>;
  /** Tokens of keys, by name. */
  readonly keys: Map<string, string>;
}

export const personOf = ({ people }: Site, name: string): Person =>
  people.get(name) ?? missing('person with a session', name);

export const scopeOf = ({ scopes }: Site, place: string): ScopeRef =>
  scopes.get(place) ?? missing('place', place);

export const rowOf = ({ ids }: Site, kind: Kind, place: string, name: string): string =>
  ids.get(`${kind} ${place} ${name}`) ?? missing(kind, name);

/** A row of the world, one that never existed, or a built-in one. An unknown name is a mistake in the case. */
export function rowNamed(
  site: Site,
  kind: 'permissions' | 'groups' | 'roles',
  name: string,
  nearest: readonly string[],
): string {
  if (name === 'no such row') return '00000000-0000-4000-8000-000000000000';
  const match = findRow(site.world, kind, name, nearest);
  if (match) return rowOf(site, kind, match.place, match.name);
  return rows[kind].find((item) => item.name === name)?.id ?? missing(kind, name);
}

/** A resource of the place, a built-in one, or one of another place: a slug that is foreign where it is used. */
export function resourceNamed({ world, ids }: Site, slug: string, place: string): string {
  const places = [place, ...Object.keys(world.places)];
  const own = places.map((place) => ids.get(`resources ${place} ${slug}`)).find((id) => id !== undefined);
  return own ?? rows.resources.find((resource) => resource.slug === slug)?.id ?? missing('resource', slug);
}

/** The value of `@name`: the id of a person or place, or the address of a person. */
export function valueOf(site: Site, name: string): string {
  if (name.endsWith('.email')) return personOf(site, name.slice(0, -6)).email;
  return site.users.get(name) ?? scopeOf(site, name).id.split(':').at(-1) ?? '';
}

export const fill = <T>(site: Site, json: T): T => withIds(json, (name) => valueOf(site, name));

/** The scope of one user in a project. */
export const ownScope = ({ id }: ScopeRef, userId: string): ScopeRef => ({
  tenant: 'projectUser',
  id: `${id.split(':')[1]}:${userId}`,
});

/** @throws Error always: a mistake in the case */
export function missing(kind: string, name: string): never {
  throw new Error(`the world has no ${kind} "${name}"`);
}
