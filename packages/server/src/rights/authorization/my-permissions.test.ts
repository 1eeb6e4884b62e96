import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { joined, keyToken, member } from '../../../test/contract/world.ts';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import { unique, type Person } from '../../../test/support/app/client.ts';
import { builtIns } from '../../access/built-in.ts';
import { permissionIdOf } from '../../schema/rights/built-in-ids.ts';
import type { ScopeRef } from '../../kernel/scope.ts';
import { declaredPermissions, operations } from '../../operations.ts';

/** What a token may do, as a list that says the same as every decision, and its version. */
let app: TestApp;
let ada: Person;
let organization: ScopeRef;
let project: ScopeRef;

beforeAll(async () => {
  app = await startApp();
  ada = await app.person({ type: 'organization' });
  const as = { token: ada.token };
  const { id } = await app.must('createOrganization', { scope: ada.account, name: 'Firm' }, as);
  organization = joined('organization', id);
  ({ scope: project } = await app.must('createProject', { scope: organization, name: 'Shop' }, as));
});
afterAll(() => app.close());

/** A role in the project with one permission on `doc` an action: without a condition, or with this one. */
async function roleWith(conditions: Readonly<Record<string, Record<string, unknown> | null>>) {
  const as = { token: ada.token };
  const slug = `doc-${unique()}`;
  const actions = Object.keys(conditions);
  const resource = await app.must('createResource', { scope: project, name: 'Doc', slug, actions }, as);
  const permissionIds: string[] = [];
  for (const [action, condition] of Object.entries(conditions)) {
    const input = { scope: project, resourceId: resource.id, action, condition };
    permissionIds.push((await app.must('createPermission', input, as)).id);
  }
  const group = await app.must('createGroup', { scope: project, name: 'G', permissionIds }, as);
  const role = await app.must('createRole', { scope: project, name: 'R', groupIds: [group.id] }, as);
  return { slug, resourceId: resource.id, permissionIds, groupId: group.id, roleId: role.id };
}

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const mine = (token: string, scope?: ScopeRef) =>
    app.call('myPermissions', (scope ? { scope } : {}) as never, { token, via });
  const read = async (token: string, scope?: ScopeRef) => {
    const { ok, body, data } = await mine(token, scope);
    expect(ok, body).toBe(true);
    return { ...data, names: data.permissions.map(named) };
  };
  const named = ({
    resource,
    action,
    conditional,
  }: {
    resource: string;
    action: string;
    conditional: boolean;
  }) => `${resource}:${action}${conditional ? '?' : ''}`;

  it('is complete: in every kind of scope it has just what isAuthorized allows', async () => {
    const { slug } = await roleWith({ read: null });
    const personal = joined('projectUser', project.id.split(':')[1] ?? '', ada.userId);
    const all = [...declaredPermissions(operations), `${slug}:read`, 'Role:Nothing'];
    for (const scope of [ada.account, organization, project, personal]) {
      const { names, scope: reported } = await read(ada.token, scope);
      expect(reported).toEqual(scope);
      expect(names).toEqual([...names].sort());
      expect(names.length).toBeGreaterThan(10);
      for (const name of all) {
        const [resource = '', action = ''] = name.split(':');
        const question = { scope, permission: { resource, action } };
        const { authorized } = await app.must('isAuthorized', question, { token: ada.token, via });
        expect(names.includes(name), `${name} in ${scope.tenant}`).toBe(authorized);
      }
    }
  });

  it('is that of the token: of a key its role, in its own project, which it need not name', async () => {
    const { slug, roleId } = await roleWith({ read: null, write: null });
    const token = await keyToken(app, ada.token, project, roleId);
    expect(await read(token)).toMatchObject({ names: [`${slug}:read`, `${slug}:write`], scope: project });
    expect(await read(token, project)).toEqual(await read(token));
    const personal = joined('projectUser', project.id.split(':')[1] ?? '', ada.userId);
    const own = await read(await keyToken(app, ada.token, personal));
    expect(own.scope).toEqual(personal);
    expect(own.permissions).toEqual((await read(ada.token, project)).permissions);
    expect(await mine(token, organization)).toMatchObject({ code: 'FORBIDDEN', reason: 'INVALID_SCOPE' });
  });

  it('refuses a scope that is missing, foreign, or nowhere', async () => {
    expect((await mine(ada.token)).code).toBe('SCOPE_REQUIRED');
    const stranger = await app.person();
    for (const scope of [stranger.account, joined('organization', randomUUID())]) {
      expect(await mine(ada.token, scope)).toMatchObject({
        status: via === 'rest' ? 403 : 200,
        code: 'FORBIDDEN',
        reason: 'INVALID_SCOPE',
      });
    }
  });

  it('is open to users who have not verified their address yet', async () => {
    const eve = await app.person({ verified: false });
    expect((await read(eve.token, eve.account)).names).toContain('Project:Create');
  });

  it('has another version when the rights are others, and only then', async () => {
    const as = { token: ada.token, via };
    const condition = { Equals: { 'resource.ownerId': '{{user.id}}' } };
    const { slug, groupId, roleId, permissionIds } = await roleWith({ read: condition, write: null });
    const bob = await member(app, organization.id, 'Organization Viewer');
    await app.must('createUser', { scope: project, userId: bob.userId, roleIds: [roleId] }, as);
    const first = await read(bob.token, project);
    expect(first.names.filter((name) => name.startsWith(slug))).toEqual([`${slug}:read?`, `${slug}:write`]);

    // None of these changes affects the permissions of the user.
    await app.must('updateRole', { scope: project, id: roleId, name: 'Renamed', description: 'x' }, as);
    await app.must('updateUser', { scope: project, id: bob.userId, metadata: { desk: 4 } }, as);
    await app.must('createRole', { scope: project, name: 'Other', groupIds: [groupId] }, as);
    const again = { Equals: { 'resource.ownerId': { $ref: 'user.id' } } };
    const [reading = ''] = permissionIds;
    await app.must('updatePermission', { scope: project, id: reading, condition: again }, as);
    expect(await read(bob.token, project)).toEqual(first);

    const versions = [first.version];
    const changed = async () => versions.push((await read(bob.token, project)).version);
    const other = { Equals: { 'user.metadata.desk': { $ref: 'resource.desk' } } };
    await app.must('updatePermission', { scope: project, id: reading, condition: other }, as);
    await changed();
    await app.must('updateUser', { scope: project, id: bob.userId, metadata: { desk: 5 } }, as);
    await changed();
    await app.must('updatePermission', { scope: project, id: reading, condition: null }, as);
    await changed();
    const ids = [...permissionIds, permissionIdOf('Tag:Delete')];
    await app.must('updateGroup', { scope: project, id: groupId, permissionIds: ids }, as);
    await changed();
    await app.must('updateUser', { scope: project, id: bob.userId, roleIds: [] }, as);
    await changed();
    expect(new Set(versions).size).toBe(versions.length);
    const leaving = { scope: organization, userId: bob.userId };
    await app.must('removeOrganizationMember', leaving, as);
    expect((await mine(bob.token, project)).reason).toBe('INVALID_SCOPE');
  });

  it('counts in class check alone', async () => {
    const { headers } = await mine(ada.token, project);
    expect(headers.ratelimit).toMatch(via === 'rest' ? /^"check"/ : /"(check|general)"/);
  });
});

describe('the ETag', () => {
  const get = (headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
    app.server.inject({
      method,
      url: '/api/me/permissions',
      query: { tenant: organization.tenant, scopeId: organization.id },
      headers: { authorization: `Bearer ${ada.token}`, ...headers },
    });

  it('is the version, and answers 304 to a client that has it, in every form of the header', async () => {
    const first = await get();
    const { version } = first.json<{ data: { version: string } }>().data;
    const etag = `"${version}"`;
    expect([first.statusCode, first.headers.etag, first.headers['cache-control']]).toEqual([
      200,
      etag,
      'private, no-cache',
    ]);
    for (const existing of [etag, `W/${etag}`, `"a", ${etag}`, `"a","b",W/${etag}`, '*']) {
      const { statusCode, body, headers } = await get({ 'if-none-match': existing });
      expect([statusCode, body, headers.etag], existing).toEqual([304, '', etag]);
      expect(headers['cache-control']).toBe('private, no-cache');
    }
    for (const other of ['', '"a"', version, `"${version}`, '"*"']) {
      expect((await get({ 'if-none-match': other })).statusCode, other).toBe(200);
    }
    expect((await get({ 'if-none-match': etag }, 'HEAD')).statusCode).toBe(304);
    const viewer = await member(app, organization.id, 'Organization Viewer');
    const theirs = await get({ 'if-none-match': etag, authorization: `Bearer ${viewer.token}` });
    expect(theirs.statusCode).toBe(200);
  });

  it('is on no refusal', async () => {
    const { statusCode, headers } = await get({ authorization: 'Bearer no', 'if-none-match': '*' });
    expect([statusCode, headers.etag, headers['cache-control']]).toEqual([401, undefined, 'no-store']);
  });
});

it('of a built-in role is the role', async () => {
  const viewer = await member(app, organization.id, 'Organization Viewer');
  const { permissions } = await app.must('myPermissions', { scope: organization }, { token: viewer.token });
  const rows = builtIns(declaredPermissions(operations));
  const role = rows.roles.find(({ name }) => name === 'Organization Viewer');
  const groups = rows.groups.filter(({ id }) => role?.groupIds.includes(id));
  const names = groups.map(({ name }) => name.replace(': ', ':')).sort();
  expect(permissions.map(({ resource, action }) => `${resource}:${action}`)).toEqual(names);
});
