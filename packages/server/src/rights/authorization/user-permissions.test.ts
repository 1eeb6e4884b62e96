import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyToken } from '../../../test/contract/world.ts';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import type { Person } from '../../../test/support/app/client.ts';
import { firmOf, type Firm } from '../../../test/support/tenants/firm.ts';
import type { ScopeRef } from '../../kernel/scope.ts';

/** What a user may do, for those who may check the permissions of others. */
let app: TestApp;
let firm: Firm;
let as: { readonly token: string };
let viewer: Person;
let user: Person;

beforeAll(async () => {
  app = await startApp();
  firm = await firmOf(app);
  as = { token: firm.owner.token };
  viewer = await firm.member('Organization Viewer');
  user = await firm.user({}, 'Tag:Create', { on: 'Role:Delete', when: { Equals: { 'resource.id': 'x' } } });
});
afterAll(() => app.close());

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const select = '{ scope { tenant id } version permissions { resource action conditional } }';
  const of = (id: string, scope: ScopeRef) =>
    app.call('userPermissions', { scope, id }, { ...as, via, select });

  it('is the list that the user gets about themselves, with the same version', async () => {
    for (const scope of [firm.organization, firm.project]) {
      for (const { userId, token } of [firm.owner, viewer, user]) {
        const mine = await app.must('myPermissions', { scope }, { token, via, select });
        expect((await of(userId, scope)).data).toEqual(mine);
      }
    }
    const { data } = await of(user.userId, firm.project);
    expect(data.permissions).toContainEqual({ resource: 'Role', action: 'Delete', conditional: true });
    expect(data.permissions).toContainEqual({ resource: 'Tag', action: 'Create', conditional: false });
  });

  it('is that of the owner in a project of an account', async () => {
    const { account, userId, token } = firm.owner;
    const { scope } = await app.must('createProject', { scope: account, name: 'Own' }, as);
    const { data } = await of(userId, scope);
    expect(data).toEqual(await app.must('myPermissions', { scope }, { token, via, select }));
    expect(data.permissions.length).toBeGreaterThan(10);
  });

  it('is empty for a user who is disabled', async () => {
    const { roleId } = await firm.role(firm.project, 'Tag:Create');
    const { project: scope } = firm;
    const { id } = await app.must('createUser', { scope, name: 'Dora', roleIds: [roleId] }, as);
    expect((await of(id, scope)).data.permissions).toHaveLength(1);
    await app.must('updateUser', { scope, id, status: 'disabled' }, as);
    expect((await of(id, scope)).data.permissions).toEqual([]);
    await app.must('deleteUser', { scope, id }, as);
    expect((await of(id, scope)).code).toBe('NOT_FOUND');
  });

  it('does not show whether a user exists who is not in the scope', async () => {
    const stranger = await app.person();
    for (const scope of [firm.organization, firm.project]) {
      const bodies = [];
      for (const id of [stranger.userId, randomUUID()]) {
        const headers = { 'x-request-id': 'user-permissions-of-nobody' };
        const answer = await app.raw('userPermissions', { scope, id }, { ...as, via, headers });
        expect(answer.code).toBe('NOT_FOUND');
        bodies.push(answer.body);
      }
      expect(new Set(bodies).size).toBe(1);
    }
  });

  it('needs no more than the permission to check', async () => {
    const { roleId } = await firm.role(firm.project, 'Authorization:Check');
    const token = await keyToken(app, as.token, firm.project, roleId);
    const input = { scope: firm.project, id: user.userId };
    expect((await app.call('userPermissions', input, { token, via })).ok).toBe(true);
    const answer = await app.call('userPermissions', input, { token: viewer.token, via });
    expect(answer).toMatchObject({ code: 'FORBIDDEN', reason: 'NO_PERMISSION' });
  });
});

it('answers 304 to a client that has the version', async () => {
  const { tenant, id } = firm.project;
  const get = (headers: Record<string, string> = {}) =>
    app.server.inject({
      url: `/api/users/${user.userId}/permissions`,
      query: { tenant, scopeId: id },
      headers: { authorization: `Bearer ${as.token}`, ...headers },
    });
  const first = await get();
  const etag = `"${first.json<{ data: { version: string } }>().data.version}"`;
  expect([first.statusCode, first.headers.etag]).toEqual([200, etag]);
  const again = await get({ 'if-none-match': etag });
  expect([again.statusCode, again.body]).toEqual([304, '']);
  const created = await firm.role(firm.project, 'Tag:Delete');
  const change = { scope: firm.project, id: user.userId, roleIds: [created.roleId] };
  await app.must('updateUser', change, as);
  expect((await get({ 'if-none-match': etag })).statusCode).toBe(200);
});
