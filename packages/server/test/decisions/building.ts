import { sql } from 'drizzle-orm';
import type { JsonObject } from '../../src/kernel/input/values.ts';
import { createManaged, disable, joinOrganization, joinProject, leave, type Joining } from './memberships.ts';
import {
  fill,
  ownScope,
  personOf,
  resourceNamed,
  rowNamed,
  rowOf,
  scopeOf,
  valueOf,
  type Kind,
  type Site,
} from './site.ts';
import {
  ACCOUNT,
  founderOf,
  groupIn,
  memberIn,
  membershipIn,
  permissionIn,
  placeOf,
  resourceIn,
  roleIn,
  userIn,
  withOwner,
} from './world-names.ts';

/** The stages by which a world is built, each for one place, through the API, by the founder of the place. */

const by = (site: Site, place: string) => ({
  token: personOf(site, founderOf(site.world, place)).token,
  via: site.via,
});

const namesOf = (rows: object | undefined): string[] => Object.keys(rows ?? {});

export async function openPlace(site: Site, name: string): Promise<void> {
  const { app, world, scopes, via } = site;
  const { projectOf } = placeOf(world, name);
  if (projectOf === undefined) {
    const { account, token } = personOf(site, founderOf(world, name));
    const { id } = await app.must('createOrganization', { scope: account, name }, { token, via });
    scopes.set(name, { tenant: 'organization', id });
  } else {
    const input = { scope: scopeOf(site, projectOf), name };
    scopes.set(name, (await app.must('createProject', input, by(site, name))).scope);
  }
}

export async function createRows(site: Site, name: string): Promise<void> {
  const { app, world, ids } = site;
  const place = placeOf(world, name);
  const scope = scopeOf(site, name);
  const as = by(site, name);
  const keep = (kind: Kind, row: string, { id }: { id: string }) =>
    void ids.set(`${kind} ${name} ${row}`, id);
  for (const slug of namesOf(place.resources)) {
    const actions = resourceIn(place, slug)?.actions ?? [];
    keep('resources', slug, await app.must('createResource', { scope, name: slug, slug, actions }, as));
  }
  for (const item of namesOf(place.permissions)) {
    const { on = '', when = null } = permissionIn(place, item) ?? {};
    const [slug = '', action = ''] = on.split(':');
    const resourceId = resourceNamed(site, slug, name);
    const input = { scope, name: item, resourceId, action, condition: fill(site, when) };
    keep('permissions', item, await app.must('createPermission', input, as));
  }
  for (const item of namesOf(place.groups)) {
    const { permissions = [], metadata = {} } = groupIn(place, item) ?? {};
    const permissionIds = permissions.map((row) => rowNamed(site, 'permissions', row, [name]));
    keep('groups', item, await app.must('createGroup', { scope, name: item, metadata, permissionIds }, as));
  }
  for (const item of namesOf(place.roles)) {
    const { groups = [], metadata = {} } = roleIn(place, item) ?? {};
    const groupIds = groups.map((row) => rowNamed(site, 'groups', row, [name]));
    keep('roles', item, await app.must('createRole', { scope, name: item, metadata, groupIds }, as));
  }
}

const joining = (site: Site, place: string, roles: readonly string[], metadata?: JsonObject): Joining => ({
  app: site.app,
  ...by(site, place),
  scope: scopeOf(site, place),
  roleIds: roles.map((role) => rowNamed(site, 'roles', role, [place])),
  metadata,
});

/** A person who does nothing in the case is a managed user; only a managed user can be disabled. */
async function isManaged({ users }: Site, at: Joining, name: string): Promise<boolean> {
  if (users.has(name)) return false;
  users.set(name, await createManaged(at, name));
  return true;
}

export async function takeIn(site: Site, name: string): Promise<void> {
  const { world } = site;
  const place = placeOf(world, name);
  for (const item of namesOf(place.members)) {
    const { role = '', metadata } = memberIn(place, item) ?? {};
    const at = joining(site, name, [role], metadata);
    if (!(await isManaged(site, at, item))) await joinOrganization(at, personOf(site, item));
  }
  for (const item of namesOf(place.users)) {
    const { roles = [], metadata } = userIn(place, item) ?? {};
    const at = joining(site, name, roles, metadata);
    if (await isManaged(site, at, item)) continue;
    const owner = place.projectOf ?? '';
    const related =
      owner === ACCOUNT ? world.founder === item : membershipIn(world, owner, item) !== undefined;
    await joinProject(at, valueOf(site, item), related);
  }
}

export async function makeKeys(site: Site, place: string): Promise<void> {
  const { app, via, world, keys } = site;
  for (const [name, key] of Object.entries(placeOf(world, place).keys ?? {})) {
    const own = 'user' in key;
    const scope = own ? ownScope(scopeOf(site, place), valueOf(site, key.user)) : scopeOf(site, place);
    const role = own ? {} : { roleId: rowNamed(site, 'roles', key.role, withOwner(world, place)) };
    const { token } = personOf(site, key.by ?? founderOf(world, place));
    const made = await app.must('createApiKey', { scope, name, ...role }, { token, via });
    const credentials = { clientId: made.clientId, clientSecret: made.clientSecret ?? '', scope: made.scope };
    keys.set(name, (await app.must('exchangeApiKey', credentials, { via })).accessToken);
  }
}

/** Deletes, disables and removes what the case declares so, after everything that needs it was created. */
export async function takeAway(site: Site, name: string): Promise<void> {
  const { app, world } = site;
  const place = placeOf(world, name);
  const scope = scopeOf(site, name);
  const as = by(site, name);
  const row = (kind: Kind, item: string) => ({ scope, id: rowOf(site, kind, name, item) });
  for (const slug of namesOf(place.resources)) {
    const { inactive, deleted } = resourceIn(place, slug) ?? {};
    const at = row('resources', slug);
    if (inactive) await app.must('updateResource', { ...at, isActive: false }, as);
    if (deleted) await app.must('deleteResource', at, as);
  }
  for (const item of namesOf(place.permissions))
    if (permissionIn(place, item)?.deleted) await app.must('deletePermission', row('permissions', item), as);
  for (const item of namesOf(place.groups))
    if (groupIn(place, item)?.deleted) await app.must('deleteGroup', row('groups', item), as);
  for (const item of namesOf(place.roles)) {
    if (!roleIn(place, item)?.deleted) continue;
    // The API cannot delete an assigned role. If it is deleted in the database, it must grant nothing.
    const { id } = row('roles', item);
    await app.database.pool.execute(sql`update roles set deleted_at = now() where id = ${id}::uuid`);
  }
  for (const item of [...namesOf(place.members), ...namesOf(place.users)]) {
    const at = joining(site, name, []);
    if (memberIn(place, item)?.left ?? userIn(place, item)?.left) await leave(at, valueOf(site, item));
    if (world.disabled?.includes(item)) await disable(at, valueOf(site, item));
  }
}
