import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScopeRef } from '../../../kernel/scope.ts';
import { storyTransports } from '../../../../test/support/cases/breadth.ts';
import { startApp, type TestApp } from '../../../../test/support/app/app.ts';
import { unique, type Person } from '../../../../test/support/app/client.ts';

/** Whatever names and texts the rows of a project have, the project can be exported, and its export changes nothing. */
let app: TestApp;
let owner: Person;

beforeAll(async () => {
  app = await startApp();
  owner = await app.person();
});
afterAll(() => app.close());

interface Project {
  readonly id: string;
  readonly scope: ScopeRef;
}
const newProject = async (): Promise<Project> => {
  const { id, scope } = await app.must(
    'createProject',
    { scope: owner.account, name: `P ${unique()}` },
    owner,
  );
  return { id, scope };
};

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const as = () => ({ token: owner.token, via });
  const create = async (operation: 'createRole' | 'createGroup', input: object): Promise<string> =>
    (await app.must(operation, input as never, as())).id;
  const changesOf = async (project: Project, document: object) =>
    (await app.must('planPolicy', { ...project, policy: document as never }, as())).changes.filter(
      ({ action }) => action !== 'adopt',
    );

  it('leaves out rows that share a name and unmanaged rows that refer to them, and names them', async () => {
    const project = await newProject();
    const { scope } = project;
    const policy = { version: 1, groups: { Managed: { permissions: ['Tag:Query'] } }, roles: { Clerk: {} } };
    await app.must('applyPolicy', { ...project, policy, ifVersion: null }, as());
    const first = await create('createGroup', { scope, name: 'Twin' });
    await create('createGroup', { scope, name: 'Twin' });
    await create('createGroup', { scope, name: 'Managed' });
    await create('createRole', { scope, name: 'Refers', groupIds: [first] });
    await create('createRole', { scope, name: 'Plain' });
    const { items } = await app.must('roles', { scope, search: 'Clerk' }, as());
    const clerk = items.find(({ managed }) => managed === 'policy')?.id ?? '';
    await app.must('updateRole', { scope, id: clerk, groupIds: [first] }, as());

    const { document, warnings } = await app.must('policy', project, as());
    expect(Object.keys(document['groups'] as object)).toEqual(['Managed']);
    expect(Object.keys(document['roles'] as object).sort()).toEqual(['Clerk', 'Plain']);
    expect(warnings.map(({ code, kind, key }) => `${code} ${kind} ${key}`).sort()).toEqual([
      'dependentLeftOut roles Refers',
      'referenceLeftOut roles Clerk',
      'rowLeftOut groups Managed',
      'rowLeftOut groups Twin',
      'rowLeftOut groups Twin',
    ]);
    // Of the managed row the document undoes what was done by hand, as every document does.
    expect(await changesOf(project, document)).toMatchObject([
      {
        kind: 'roles',
        key: 'Clerk',
        action: 'update',
        fields: { groups: { from: [expect.any(String)], to: [] } },
      },
    ]);
  });

  it('of the managed rows alone can be applied, without what was added to them by hand', async () => {
    const project = await newProject();
    const { scope } = project;
    await app.must(
      'applyPolicy',
      { ...project, policy: { version: 1, roles: { Clerk: {} } }, ifVersion: null },
      as(),
    );
    const extra = await create('createGroup', { scope, name: 'Extra' });
    const { items } = await app.must('roles', { scope, search: 'Clerk' }, as());
    await app.must('updateRole', { scope, id: items[0]?.id ?? '', groupIds: [extra] }, as());
    const { document, warnings } = await app.must('policy', { ...project, include: 'managed' }, as());
    expect(warnings).toEqual([{ code: 'referenceLeftOut', kind: 'roles', key: 'Clerk' }]);
    expect(await changesOf(project, document)).toMatchObject([
      {
        kind: 'roles',
        key: 'Clerk',
        action: 'update',
        fields: { groups: { from: [expect.any(String)], to: [] } },
      },
    ]);
    // A comparison shows it.
    const { changes } = await app.must('policyDiff', { ...project, from: '1', to: 'current' }, as());
    expect(changes).toMatchObject([{ kind: 'roles', key: 'Clerk', fields: { groups: { to: ['Extra'] } } }]);
  });

  it('leaves out a row of former versions whose name no document can have', async () => {
    const project = await newProject();
    const { scope } = project;
    const id = await create('createRole', { scope, name: 'Old' });
    await app.owner.execute(sql`update roles set name = '__proto__' where id = ${id}::uuid`);
    const { document, warnings } = await app.must('policy', project, as());
    expect(document['roles']).toEqual({});
    expect(warnings).toEqual([{ code: 'rowLeftOut', kind: 'roles', key: '__proto__' }]);
  });

  it.each([
    ['createRole', {}],
    ['createGroup', {}],
    ['createTag', {}],
    ['createProjectApp', { redirectUris: ['https://app.example.test/callback'] }],
    ['createWebhookSubscription', { url: 'https://93.184.215.14/in', eventTypes: ['role.*'] }],
  ] as const)('%s takes names of members of objects, but not `__proto__`', async (operation, more) => {
    const project = await newProject();
    const { scope } = project;
    const input = { scope, ...more } as never;
    const refused = await app.call(operation, { ...(input as object), name: '__proto__' } as never, as());
    expect(refused).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: 'name', code: 'not_allowed' }],
    });
    for (const name of ['constructor', 'toString', 'hasOwnProperty'])
      await app.must(operation, { ...(input as object), name } as never, as());
    const { document, warnings } = await app.must('policy', project, as());
    expect(warnings).toEqual([]);
    expect(await changesOf(project, document)).toEqual([]);
    const applied = await app.must(
      'applyPolicy',
      { ...project, policy: document as never, ifVersion: null },
      as(),
    );
    expect(applied.applied?.counts).toEqual({ created: 0, updated: 3, deleted: 0 });
  });

  it('writes `${` of a text as `$${`, and reads it back', async () => {
    const project = await newProject();
    const { scope } = project;
    const description = 'costs ${PRICE}, $${PRICE} and $$${PRICE}';
    await create('createRole', { scope, name: '${NAME}', description });
    const { document } = await app.must('policy', project, as());
    expect(document['roles']).toMatchObject({
      '${NAME}': { description: 'costs $${PRICE}, $$${PRICE} and $$$${PRICE}' },
    });
    expect(await changesOf(project, document)).toEqual([]);
    await app.must('applyPolicy', { ...project, policy: document as never, ifVersion: null }, as());
    const stored = await app.must('policyVersion', { ...project, number: 1 }, as());
    expect(stored.document?.['roles']).toEqual(document['roles']);
    const { items } = await app.must('roles', { scope, isSystem: false }, as());
    expect(items[0]?.description).toBe(description);
  });
});
