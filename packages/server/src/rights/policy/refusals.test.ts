import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScopeRef } from '../../kernel/scope.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { unique, type Person } from '../../../test/support/app/client.ts';
import { firmOf } from '../../../test/support/tenants/firm.ts';

/** A refused document says what is wrong, where, and what to do. */
let app: TestApp;
let owner: Person;

beforeAll(async () => {
  app = await startApp();
  owner = await app.person();
});
afterAll(() => app.close());

const fixed = (fix: string): string => expect.stringContaining(`"fix":"${fix}"`) as string;

const newProject = async (): Promise<{ readonly id: string; readonly scope: ScopeRef }> => {
  const { id, scope } = await app.must(
    'createProject',
    { scope: owner.account, name: `P ${unique()}` },
    owner,
  );
  return { id, scope };
};

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const as = (token = owner.token) => ({ token, via });

  it.each([
    [
      'tests',
      1000,
      (index: number) => ({ name: `t${index}`, permission: 'a:b', expect: { authorized: false } }),
    ],
    ['webhooks', 50, () => ({ url: 'https://93.184.215.14/in', eventTypes: ['role.*'] })],
  ] as const)('names the limit of %s', async (kind, max, row) => {
    const project = await newProject();
    const rows = Array.from({ length: max + 1 }, (_, index) => row(index));
    const part = kind === 'tests' ? rows : Object.fromEntries(rows.map((item, index) => [`w${index}`, item]));
    const policy = { version: 1, [kind]: part };
    const refused = await app.call('planPolicy', { ...project, policy: policy }, as());
    expect(refused).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: `policy.${kind}`, code: 'too_big' }],
      body: fixed(`Send at most ${max}.`),
    });
  });

  it('says how many hold a role that the document deletes', async () => {
    const project = await newProject();
    const { scope } = project;
    const roles = { Clerk: { groups: ['Tag: Query'] }, Idle: {} };
    const first = await app.must(
      'applyPolicy',
      { ...project, policy: { version: 1, roles }, ifVersion: null },
      as(),
    );
    const { items } = await app.must('roles', { scope, isSystem: false }, as());
    const roleIds = items.flatMap(({ id, name }) => (name === 'Clerk' ? [id] : []));
    for (const name of ['Ada', 'Bob']) await app.must('createUser', { scope, name, roleIds }, as());
    const input = {
      ...project,
      policy: { version: 1 } as never,
      allowDelete: true,
      ifVersion: first.version,
    };
    expect(await app.call('applyPolicy', input, as())).toMatchObject({
      code: 'IN_USE',
      details: [{ path: 'policy.roles.Clerk', code: 'in_use' }],
      body: fixed('Remove the role first from: 2 users.'),
    });
  });

  it('lists every permission that the caller lacks, each once', async () => {
    const firm = await firmOf(app);
    const project = { id: firm.projectId, scope: firm.project };
    const applier = await firm.user(
      {},
      'Policy:Query',
      'Policy:Plan',
      'Policy:Apply',
      'Group:Create',
      'Role:Create',
    );
    const policy = {
      version: 1,
      groups: {
        A: { permissions: ['Tag:Create', 'Tag:Delete'] },
        B: { permissions: ['Tag:Delete', 'Role:Create'] },
      },
      roles: { R: { groups: ['A', 'B'] } },
    } as never;
    const { blocked } = await app.must('planPolicy', { ...project, policy }, as(applier.token));
    expect(blocked.map(({ kind, key, cause }) => `${kind} ${key} ${cause}`)).toEqual([
      'groups A Tag:Create',
      'groups A Tag:Delete',
      'groups B Tag:Delete',
      'roles R Tag:Create',
      'roles R Tag:Delete',
    ]);
    const refused = await app.call('applyPolicy', { ...project, policy, ifVersion: null }, as(applier.token));
    expect(refused).toMatchObject({
      code: 'PRIVILEGE_ESCALATION',
      details: [
        { path: 'Tag:Create', code: 'permission' },
        { path: 'Tag:Delete', code: 'permission' },
      ],
    });
  });

  it('reads `$${` as `${`, and refuses what no command line has filled in', async () => {
    const project = await newProject();
    const roles = (description: string) => ({
      ...project,
      policy: { version: 1, roles: { R: { description } } } as never,
    });
    const planned = await app.must('planPolicy', roles('$${A} $${B}'), as());
    expect(planned.changes).toMatchObject([{ fields: { description: { to: '${A} ${B}' } } }]);
    expect(await app.call('planPolicy', roles('$${A} ${B}'), as())).toMatchObject({
      details: [{ path: 'policy.roles.R.description', code: 'format' }],
      body: fixed('Write $${ for ${, or let doorward policy fill in the variable.'),
    });
  });
});

it('refuses `__proto__` as a key by name', async () => {
  const { id, scope } = await newProject();
  const headers = { authorization: `Bearer ${owner.token}`, 'content-type': 'application/json' };
  const rest = await app.server.inject({
    method: 'POST',
    url: `/api/projects/${id}/policy/plan?tenant=${scope.tenant}&scopeId=${scope.id}`,
    headers,
    payload: '{"policy": {"version": 1, "roles": {"__proto__": {}}}}',
  });
  expect(rest.json()).toMatchObject({
    code: 'VALIDATION_ERROR',
    details: [{ code: 'malformed_json' }],
    fix: 'No member of the body may be called __proto__.',
  });
  const query = `mutation ($input: ID!) { planPolicy(input: { id: $input, scope: { tenant: ${scope.tenant}, id: "${scope.id}" }, policy: { version: 1, __proto__: {} } }) { version } }`;
  const graphql = await app.server.inject({
    method: 'POST',
    url: '/graphql',
    headers,
    payload: { query, variables: { input: id } },
  });
  expect(graphql.body).toContain('No member may be called __proto__.');
});

it('lets caches keep the schema of documents', async () => {
  const url = '/schemas/policy-1.json';
  const first = await app.server.inject({ url });
  expect(first.headers['etag']).toMatch(/^"[\w-]+"$/);
  const again = await app.server.inject({
    url,
    headers: { 'if-none-match': first.headers['etag'] as string },
  });
  expect([again.statusCode, again.body]).toEqual([304, '']);
});
