import { randomUUID } from 'node:crypto';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import type { TestApp } from '../support/app/app.ts';
import type { Person, Via } from '../support/app/client.ts';
import type { Ids } from './acts.ts';
import { createRows, makeKeys, openPlace, takeAway, takeIn } from './building.ts';
import type { CaseFile, World } from './case-file.ts';
import type { Subject } from './model.ts';
import {
  fill,
  missing,
  ownScope,
  personOf,
  resourceNamed,
  rowNamed,
  scopeOf,
  valueOf,
  type Site,
} from './site.ts';
import { ACCOUNT, actorsOf, placeOf, strangersOf, withOwner, type Where } from './world-names.ts';

/** A world of a case file, built in a running service, and the ids of its names there. */
export interface CaseWorld extends Ids {
  readonly world: World;
  readonly token: (subject: Subject) => string;
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
