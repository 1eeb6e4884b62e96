import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { createPolicy, pathOf, post } from '../../../test/support/tenants/authzen.ts';
import { firmOf, type Firm } from '../../../test/support/tenants/firm.ts';
import type { Person } from '../../../test/support/app/client.ts';
import type { ScopeRef } from '../../kernel/scope.ts';

/** Conditions read the scope of the project as `scope`, however the call or the token spells it. */
let app: TestApp;
let firm: Firm;
let user: Person;
let personal: ScopeRef;
let key: string;
let keyId: string;

/** By action: what a condition demands of the scope. */
const demands = (scope: ScopeRef) => ({
  tenant: { Equals: { 'scope.tenant': 'organizationProject' } },
  id: { Equals: { 'scope.id': scope.id } },
  personal: { Equals: { 'scope.tenant': 'projectUser' } },
});
const expected = { tenant: true, id: true, personal: false };
const actions = Object.keys(expected) as (keyof typeof expected)[];

beforeAll(async () => {
  app = await startApp();
  firm = await firmOf(app);
  const { project, owner } = firm;
  const { Reader } = await createPolicy(app, owner.token, project, { Reader: { doc: demands(project) } });
  user = await firm.member('Organization Developer');
  const joining = { scope: project, userId: user.userId, roleIds: [Reader ?? ''] };
  await app.must('createUser', joining, { token: owner.token });
  personal = { tenant: 'projectUser', id: `${firm.projectId}:${user.userId}` };
  const made = await app.must('createApiKey', { scope: personal, name: 'K' }, { token: user.token });
  keyId = made.id;
  const { clientId, clientSecret, scope } = made;
  key = (await app.must('exchangeApiKey', { clientId, clientSecret, scope } as never)).accessToken;
});
afterAll(() => app.close());

async function decided(decide: (action: string) => Promise<boolean>): Promise<Record<string, boolean>> {
  const answers: Record<string, boolean> = {};
  for (const action of actions) answers[action] = await decide(action);
  return answers;
}

describe('scope.tenant and scope.id of a condition are those of the project', () => {
  const spellings = () => ({ 'the user': personal, 'the project': firm.project, 'no scope': undefined });

  it.each(['the user', 'the project', 'no scope'] as const)('for a key that names %s', async (name) => {
    const scope = spellings()[name];
    const decide = async (action: string) => {
      const question = { permission: { resource: 'doc', action }, ...(scope && { scope }) };
      return (await app.must('isAuthorized', question as never, { token: key })).authorized;
    };
    expect(await decided(decide)).toEqual(expected);
  });

  it.each(['the user', 'the project'] as const)('for a session that names %s', async (name) => {
    const scope = spellings()[name] ?? personal;
    const as = { token: user.token };
    const permissionOf = (action: string) => ({ resource: 'doc', action });
    const single = async (action: string) =>
      (await app.must('isAuthorized', { scope, permission: permissionOf(action) }, as)).authorized;
    expect(await decided(single)).toEqual(expected);
    const items = actions.map((action) => ({ permission: permissionOf(action) }));
    const batch = await app.must('isAuthorizedBatch', { scope, items }, as);
    expect(batch.items.map(({ authorized }) => authorized)).toEqual(Object.values(expected));
  });

  it('in an explanation', async () => {
    const decide = async (action: string) => {
      const permission = { resource: 'doc', action };
      const question = { scope: firm.project, permission, subject: { userId: user.userId }, explain: true };
      return (await app.must('isAuthorized', question, { token: firm.owner.token })).authorized;
    };
    expect(await decided(decide)).toEqual(expected);
  });

  it('for a proxy that names the user', async () => {
    const decide = async (action: string) => {
      const headers = { authorization: `Bearer ${key}`, 'x-doorward-permission': `doc:${action}` };
      const scope = { 'x-doorward-scope': `${personal.tenant}:${personal.id}` };
      const response = await app.server.inject({
        method: 'GET',
        url: '/api/auth/check',
        headers: { ...headers, ...scope },
      });
      return response.statusCode === 204;
    };
    expect(await decided(decide)).toEqual(expected);
  });

  it('over AuthZEN', async () => {
    const decide = async (action: string) => {
      const question = {
        subject: { type: 'apiKey', id: keyId },
        action: { name: action },
        resource: { type: 'doc', id: '1' },
      };
      const url = `${pathOf(firm.project)}/access/v1/evaluation`;
      const { body } = await post(app, key, url, question);
      return body['decision'] === true;
    };
    expect(await decided(decide)).toEqual(expected);
  });

  it('in the tests of a policy', async () => {
    const scope = firm.project;
    const conditions = demands(scope);
    const policy = {
      version: 1,
      resources: { paper: { actions } },
      permissions: Object.fromEntries(
        actions.map((action) => [`paper:${action}`, { condition: conditions[action] }]),
      ),
      groups: { Papers: { permissions: actions.map((action) => `paper:${action}`) } },
      roles: { Writer: { groups: ['Papers'] } },
      tests: actions.map((action) => ({
        name: action,
        subject: { roles: ['Writer'] },
        permission: `paper:${action}`,
        expect: { authorized: expected[action] },
      })),
    };
    const input = { id: firm.projectId, scope, policy };
    const { tests } = await app.must('planPolicy', input, { token: firm.owner.token });
    expect(tests.map(({ name, passed }) => [name, passed])).toEqual(actions.map((action) => [action, true]));
  });
});
