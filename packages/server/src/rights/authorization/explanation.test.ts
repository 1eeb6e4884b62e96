import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isFraming, startApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import type { Person } from '../../../test/support/app/client.ts';
import { roleIdOf } from '../../schema/rights/built-in-ids.ts';
import type { ScopeRef } from '../../kernel/scope.ts';

/** What an explanation says, to whom, and what it keeps to itself. */
let app: TestApp;
let owner: Person;
let scope: ScopeRef;
let rita: string;
const ids: Record<string, string> = {};
const as = () => ({ token: owner.token });

const drafts = { Equals: { 'resource.status': 'draft' } };
const cheap = { NumericLessThan: { 'resource.amount': { $ref: 'user.metadata.limit' } } };

beforeAll(async () => {
  app = await startApp();
  owner = await app.person();
  ({ scope } = await app.must('createProject', { scope: owner.account, name: 'P' }, as()));
  const invoice = { scope, name: 'Invoice', slug: 'invoice', actions: ['read', 'change', 'pay', 'void'] };
  const resource = await app.must('createResource', invoice, as());
  const permission = async (action: string, condition: Record<string, unknown> | null) => {
    const input = { scope, resourceId: resource.id, action, condition };
    return (await app.must('createPermission', input, as())).id;
  };
  ids['read'] = await permission('read', null);
  ids['change'] = await permission('change', drafts);
  ids['pay'] = await permission('pay', { And: [drafts, { Not: cheap }] });
  ids['void'] = await permission('void', null);
  const group = async (name: string, permissionIds: string[]) =>
    (await app.must('createGroup', { scope, name, permissionIds }, as())).id;
  ids['desk'] = await group('Desk', [ids['read'], ids['change'], ids['pay']]);
  ids['safe'] = await group('Safe', [ids['void'], ids['read']]);
  const role = async (name: string, groupIds: string[]) =>
    (await app.must('createRole', { scope, name, groupIds }, as())).id;
  ids['clerk'] = await role('Clerk', [ids['desk']]);
  ids['cashier'] = await role('Cashier', [ids['safe']]);
  const user = { scope, name: 'Rita', roleIds: [ids['clerk']], metadata: { limit: 50 } };
  rita = (await app.must('createUser', user, as())).id;
});
afterAll(() => app.close());

interface Explained {
  readonly authorized: boolean;
  readonly reason: string;
  readonly explanation?: Record<string, unknown> | null;
}

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const ask = async (action: string, resource?: object, more: object = {}, token = owner.token) => {
    const permission = { resource: 'invoice', action };
    const input = { scope, subject: { userId: rita }, permission, context: { resource }, explain: true };
    const answer = await app.raw('isAuthorized', { ...input, ...more }, { via, token });
    return { ...answer, data: answer.data as Explained };
  };
  const path = (permission: string) => ({
    permissionId: ids[permission],
    roleId: ids['clerk'],
    groupId: ids['desk'],
  });

  it('names the subject, the scope, the roles and each path, and no remedy where none is needed', async () => {
    const { data } = await ask('read');
    expect(data).toMatchObject({ authorized: true, reason: 'ALLOWED' });
    expect(data.explanation).toEqual({
      subject: { type: 'user', id: rita },
      scope,
      roles: [{ id: ids['clerk'], name: 'Clerk' }],
      candidates: [{ ...path('read'), result: 'unconditional' }],
      nearest: [],
    });
    const met = (await ask('change', { status: 'draft' })).data.explanation;
    expect(met).toMatchObject({ candidates: [{ ...path('change'), result: 'met' }], nearest: [] });
  });

  it.each([
    ['ordr', 'read', { part: 'resource' }],
    ['invioce', 'read', { part: 'resource', nearest: 'invoice' }],
    ['role', 'Query', { part: 'resource', nearest: 'Role' }],
    ['invoice', 'raed', { part: 'action', nearest: 'read' }],
    ['Role', 'Qurey', { part: 'action', nearest: 'Query' }],
    ['Invoice', 'VOID', undefined],
  ])('says of %s:%s what of it does not exist, and what is nearest', async (resource, action, unknown) => {
    const { data } = await ask(action, undefined, { permission: { resource, action } });
    expect(data.reason).toBe('NO_PERMISSION');
    expect(data.explanation?.['unknown']).toEqual(unknown);
  });

  it('names the comparison that failed, and what would meet it', async () => {
    const { data } = await ask('change', { status: 'final' });
    expect(data.reason).toBe('CONDITION_NOT_MET');
    const failedAt = { operator: 'Equals', path: 'resource.status', expected: 'draft' };
    expect(data.explanation).toMatchObject({
      candidates: [
        { ...path('change'), result: 'notMet', failedAt: { ...failedAt, actual: 'final', outcome: 'false' } },
      ],
      nearest: [
        { kind: 'setAttribute', path: 'resource.status', expected: 'draft', permissionId: ids['change'] },
      ],
    });
    const missing = (await ask('change')).data.explanation as { candidates: { failedAt: object }[] };
    expect(missing.candidates[0]?.failedAt).toEqual({ ...failedAt, outcome: 'unknown' });
  });

  it('names a negated comparison, and the attribute of the user that would change it', async () => {
    const { data } = await ask('pay', { status: 'draft', amount: 10 });
    expect(data.explanation).toMatchObject({
      candidates: [
        {
          failedAt: {
            operator: 'Not NumericLessThan',
            path: 'resource.amount',
            actual: 10,
            expected: 50,
            outcome: 'false',
          },
        },
      ],
      nearest: [{ kind: 'setAttribute', path: 'resource.amount', expected: 50 }],
    });
  });

  it('names the role that gives least, and the group that lacks a permission', async () => {
    const { data } = await ask('void');
    expect(data).toMatchObject({ reason: 'NO_PERMISSION' });
    expect(data.explanation).toMatchObject({
      candidates: [],
      nearest: [
        { kind: 'assignRole', roleId: ids['cashier'] },
        { kind: 'addPermissionToGroup', groupId: ids['desk'], permissionId: ids['void'] },
      ],
    });
  });

  it('has no remedy for a permission that does not exist', async () => {
    const { data } = await ask('fly');
    expect(data.explanation).toMatchObject({ candidates: [], nearest: [] });
  });

  it('needs Authorization:Explain, and about another user Authorization:Check too', async () => {
    const permissions = await app.must(
      'permissions',
      { scope, search: 'Authorization:', isSystem: true },
      as(),
    );
    const idOf = (name: string) => permissions.items.find((item) => item.name === name)?.id ?? '';
    const keyWith = async (...names: string[]) => {
      const input = { scope, name: names.join(), permissionIds: names.map(idOf) };
      const group = await app.must('createGroup', input, as());
      const role = await app.must('createRole', { scope, name: 'R', groupIds: [group.id] }, as());
      return keyToken(scope, role.id);
    };
    const [check, explain] = [await keyWith('Authorization:Check'), await keyWith('Authorization:Explain')];
    const refused = { code: 'FORBIDDEN', reason: 'NO_PERMISSION' };
    expect(await ask('read', {}, {}, check)).toMatchObject(refused);
    expect(await ask('read', {}, {}, explain)).toMatchObject(refused);
    expect(await ask('read', {}, { subject: undefined }, check)).toMatchObject(refused);
    const own = await ask('read', {}, { subject: undefined }, explain);
    expect(own.data).toMatchObject({ reason: 'NO_PERMISSION', explanation: { subject: { type: 'apiKey' } } });
    const plain = await ask('read', {}, { explain: false }, check);
    expect(plain.data.explanation ?? null).toBeNull();
  });

  it('does not distinguish unknown users, disabled ones and users of other tenants', async () => {
    const stranger = await app.person();
    const gone = await app.must('createUser', { scope, name: 'Gone', roleIds: [ids['clerk'] ?? ''] }, as());
    await app.must('updateUser', { scope, id: gone.id, status: 'disabled' }, as());
    for (const userId of [stranger.userId, gone.id, '5f0c7b0e-8a0b-4f43-9d55-2f1f6a1f0a11']) {
      const { data } = await ask('read', {}, { subject: { userId } });
      expect(data.reason).toBe('SUBJECT_INACTIVE');
      expect(data.explanation).toEqual({
        subject: { type: 'user', id: userId },
        scope,
        roles: [],
        candidates: [],
        nearest: [],
      });
    }
  });

  it('does not explain a scope that is not there', async () => {
    const foreign = { tenant: 'organization', id: '5f0c7b0e-8a0b-4f43-9d55-2f1f6a1f0a11' };
    const { data } = await ask('read', {}, { scope: foreign });
    expect(data).toMatchObject({ authorized: false, reason: 'INVALID_SCOPE' });
    expect(data.explanation ?? null).toBeNull();
  });

  it('reads two statements more than it would without, and one for names where nothing is held', async () => {
    const cost = async (action: string, more: object) =>
      (await app.spent(() => ask(action, {}, more))).filter((item) => !isFraming(item)).length;
    await cost('void', { explain: false });
    const plain = await cost('void', { explain: false });
    expect(await cost('read', {})).toBe(plain + 2);
    expect(await cost('void', {})).toBe(plain + 3);
  });
});

async function keyToken(of: ScopeRef, roleId: string): Promise<string> {
  const key = await app.must('createApiKey', { scope: of, roleId }, as());
  const { clientId, clientSecret } = key;
  const exchange = { clientId, clientSecret: clientSecret as string, scope: key.scope };
  return (await app.must('exchangeApiKey', exchange)).accessToken;
}

describe('built-in rows', () => {
  it('are no remedy where they cannot be changed', async () => {
    const viewer = await app.must(
      'createUser',
      { scope, name: 'Vera', roleIds: [roleIdOf('Project Viewer')] },
      as(),
    );
    const answer = await app.must(
      'isAuthorized',
      {
        scope,
        subject: { userId: viewer.id },
        permission: { resource: 'Role', action: 'Create' },
        explain: true,
      },
      as(),
    );
    expect(answer.explanation?.nearest).toEqual([{ kind: 'assignRole', roleId: roleIdOf('Project Admin') }]);
  });
});
