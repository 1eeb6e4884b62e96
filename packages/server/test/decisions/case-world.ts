import { randomUUID } from 'node:crypto';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import type { TestApp } from '../support/app.ts';
import type { Person, Via } from '../support/client.ts';
import type { Ids } from './acts.ts';
import { createRows, makeKeys, openPlace, takeAway, takeIn } from './building.ts';
import type { CaseFile, World } from './case-file.ts';
import type { Subject } from './model.ts';
import { rows } from './role-graph.ts';
import {
  ACCOUNT,
  actorsOf,
  findRow,
  placeOf,
  strangersOf,
  withIds,
  withOwner,
  type Where,
} from './world-names.ts';

/** A world of a case file, built in a running service, and the ids of its names there. */
export interface CaseWorld extends Ids {
  readonly world: World;
  readonly token: (subject: Subject) => string;
}

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

/** Registered once for a whole app: the same people appear in every file. */
export type Cast = (name: string) => Promise<Person>;

export function castOf(app: TestApp): Cast {
  const people = new Map<string, Promise<Person>>();
  return (name) => {
    const existing = people.get(name) ?? app.person({ type: 'organization', name });
    people.set(name, existing);
    return existing;
  };
}

export async function buildWorld(app: TestApp, via: Via, cast: Cast, file: CaseFile): Promise<CaseWorld> {
  const { world } = file;
  const acting = [...new Set([...actorsOf(file), ...strangersOf(file)])];
  const people = new Map(
    await Promise.all(
      acting
        .filter((name) => !world.disabled?.includes(name))
        .map(async (name) => [name, await cast(name)] as const),
    ),
  );
  const users = new Map([...people].map(([name, { userId }]) => [name, userId]));
  const site: Site = { app, via, world, ids: new Map(), scopes: new Map(), people, users, keys: new Map() };
  site.scopes.set(ACCOUNT, personOf(site, world.founder).account);
  const isOwned = (name: string) => Number(placeOf(world, name).projectOf !== undefined);
  const places = Object.keys(world.places).sort((a, b) => isOwned(a) - isOwned(b));
  for (const step of [openPlace, createRows, takeIn, makeKeys, takeAway])
    for (const place of places) await step(site, place);
  const nearest = ({ place }: Where) => (place in world.places ? withOwner(world, place) : []);
  return {
    world,
    fill: (json) => fill(site, json),
    person: (name) => valueOf(site, name),
    role: (name, where) => rowNamed(site, 'roles', name, nearest(where)),
    group: (name, where) => rowNamed(site, 'groups', name, [where.place]),
    permission: (name, where) => rowNamed(site, 'permissions', name, [where.place]),
    resource: (slug, where) => resourceNamed(site, slug, where.place),
    token: ({ who, key }) =>
      key === undefined ? personOf(site, who ?? '').token : (site.keys.get(key) ?? missing('key', key)),
    scope: (where) => scopeNamed(site, where),
  };
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

function scopeNamed(site: Site, { kind, place, user, under }: Where): ScopeRef {
  if (kind === 'nowhere') return { tenant: 'organization', id: randomUUID() };
  const scope = scopeOf(site, place);
  if (user !== undefined) return ownScope(scope, valueOf(site, user));
  if (under === undefined) return scope;
  const owner = scopeOf(site, under);
  return {
    tenant: owner.tenant === 'account' ? 'accountProject' : 'organizationProject',
    id: `${owner.id}:${scope.id.split(':')[1]}`,
  };
}

function missing(kind: string, name: string): never {
  throw new Error(`the world has no ${kind} "${name}"`);
}
