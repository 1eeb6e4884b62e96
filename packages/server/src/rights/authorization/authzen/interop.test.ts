import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyToken } from '../../../../test/contract/world.ts';
import { startApp, type TestApp } from '../../../../test/support/app/app.ts';
import { createPolicy, pathOf, post } from '../../../../test/support/tenants/authzen.ts';
import { roleIdOf } from '../../../schema/rights/built-in-ids.ts';
import type { ScopeRef } from '../../../kernel/scope.ts';

/**
 * The interoperability scenarios of the OpenID AuthZEN working group, each set up as a project with its roles, users and
 * conditions; and the certification scenario of Authorization API 1.0, whose subject properties are metadata here.
 */
let app: TestApp;
let owner: string;
let account: ScopeRef;

beforeAll(async () => {
  app = await startApp();
  const person = await app.person();
  [owner, account] = [person.token, person.account];
}, 120_000);
afterAll(() => app.close());

/** An entry point of a project for a gateway, with a key that may ask about users. */
async function project(name: string) {
  const { scope } = await app.must('createProject', { scope: account, name }, { token: owner });
  const token = await keyToken(app, owner, scope, roleIdOf('Project Admin'));
  return {
    scope,
    ask: (endpoint: string, body: unknown) =>
      post(app, token, `${pathOf(scope)}/access/v1/${endpoint}`, body),
    user: (externalId: string, metadata: Record<string, string>, roleIds: readonly string[]) =>
      app.must(
        'createUser',
        { scope, name: externalId, metadata: { externalId, ...metadata }, roleIds: [...roleIds] },
        { token: owner },
      ),
  };
}

describe('the todo application', () => {
  const pid = (middle: string) => `CiRmZD${middle}MTRkMy1jMzlhLTQ3ODEtYjdiZC04Yjk2ZjVhNTEwMGQSBWxvY2Fs`;
  const people = [
    ['rick@the-citadel.com', pid('A2'), ['admin', 'evil_genius']],
    ['morty@the-citadel.com', pid('E2'), ['editor']],
    ['summer@the-smiths.com', pid('I2'), ['editor']],
    ['beth@the-smiths.com', pid('M2'), ['viewer']],
    ['jerry@the-smiths.com', pid('Q2'), ['viewer']],
  ] as const;
  const isOwner = { Equals: { 'resource.ownerID': { $ref: 'user.metadata.email' } } };
  const viewer = { user: { can_read_user: null }, todo: { can_read_todos: null } };
  const editor = {
    ...viewer,
    todo: { ...viewer.todo, can_create_todo: null, can_update_todo: isOwner, can_delete_todo: isOwner },
  };
  let todo: Awaited<ReturnType<typeof project>>;

  beforeAll(async () => {
    todo = await project('Todo');
    const roles = await createPolicy(app, owner, todo.scope, {
      viewer,
      editor,
      admin: { ...editor, todo: { ...editor.todo, can_delete_todo: null } },
      evil_genius: { ...editor, todo: { ...editor.todo, can_update_todo: null } },
    });
    for (const [email, id, names] of people)
      await todo.user(
        id,
        { email },
        names.map((name) => roles[name] ?? ''),
      );
  });

  const mayEdit = (id: string) => !/beth|jerry/.test(id);
  const cases = people.flatMap(([email, id]) => {
    const question = (action: string, resource: object, expected: boolean) =>
      [
        `${email} ${action} ${JSON.stringify(resource)}`,
        { subject: { type: 'user', id }, action: { name: action }, resource, context: {} },
        expected,
      ] as const;
    const owned = (ownerID: string) => ({
      type: 'todo',
      id: '7240d0db-8ff0-41ec-98b2-34a096273b92',
      properties: { ownerID },
    });
    return [
      question('can_read_user', { type: 'user', id: 'beth@the-smiths.com' }, true),
      question('can_read_user', { type: 'user', id }, true),
      question('can_read_todos', { type: 'todo', id: 'todo-1' }, true),
      question('can_create_todo', { type: 'todo', id: 'todo-1' }, mayEdit(email)),
      ...['can_update_todo', 'can_delete_todo'].flatMap((action) => [
        question(action, owned('rick@the-citadel.com'), email.startsWith('rick')),
        question(action, owned('morty@the-citadel.com'), /rick|morty/.test(email)),
        question(action, owned(email), mayEdit(email)),
      ]),
    ];
  });

  it.each(cases)('%s', async (_, request, expected) => {
    const { status, body } = await todo.ask('evaluation', request);
    expect([status, body['decision']]).toEqual([200, expected]);
  });

  it('gets the decisions of one list in one request', async () => {
    const [, morty = ''] = people[1];
    const resource = (ownerID: string, last: string) => ({
      resource: { type: 'todo', id: `7240d0db-8ff0-41ec-98b2-34a096273b9${last}`, properties: { ownerID } },
    });
    const { status, body } = await todo.ask('evaluations', {
      subject: { type: 'user', id: morty },
      action: { name: 'can_update_todo' },
      // The application sends an empty default, which every question replaces.
      resource: {},
      context: {},
      evaluations: [resource('rick@the-citadel.com', 'f'), resource('morty@the-citadel.com', 'e')],
    });
    const decisions = (body['evaluations'] as { decision: boolean }[]).map(({ decision }) => decision);
    expect([status, decisions]).toEqual([200, [false, true]]);
  });
});

describe('the search application', () => {
  const people = {
    alice: ['manager', 'Sales'],
    bob: ['employee', 'Legal'],
    carol: ['contractor', 'Legal'],
    dan: ['manager', 'Finance'],
    erin: ['employee', 'Finance'],
    felix: ['contractor', 'Accounting'],
  } as const;
  const names = Object.keys(people);
  /** Departments of the records from 101 on; their owners are the six people in turn. */
  const departments =
    'Legal Legal Legal Accounting Legal Accounting Sales Legal Accounting Sales Accounting Legal Sales Accounting Finance Legal Legal Accounting Legal Accounting';
  const records = departments.split(' ').map((department, index) => ({
    type: 'record',
    id: String(101 + index),
    properties: { department, owner: names[index % 6] ?? '' },
  }));
  /** From the payloads of the scenario, in the order of the records: who may edit, beside the owner. */
  const editors: Readonly<Record<string, string>> = { 110: 'alice', 115: 'dan' };

  const isOwner = { Equals: { 'resource.owner': { $ref: 'user.metadata.externalId' } } };
  const isInDepartment = { Equals: { 'resource.department': { $ref: 'user.metadata.department' } } };
  let search: Awaited<ReturnType<typeof project>>;

  beforeAll(async () => {
    search = await project('Search');
    const roles = await createPolicy(app, owner, search.scope, {
      employee: { record: { view: { Or: [isOwner, isInDepartment] }, edit: isOwner, delete: isOwner } },
      manager: { record: { view: null, edit: isInDepartment } },
    });
    const rolesOf = (role: string) => (role === 'manager' ? ['employee', 'manager'] : ['employee']);
    for (const [name, [role, department]] of Object.entries(people))
      await search.user(
        name,
        { role, department },
        rolesOf(role).map((item) => roles[item] ?? ''),
      );
  });

  /** Who may view, edit and delete a record, by the rules of the scenario. */
  function expected({ id, properties: { department, owner: ownerName } }: (typeof records)[number]) {
    const viewers = names.filter((name) => {
      const [role, own] = people[name as keyof typeof people];
      return role === 'manager' || own === department || name === ownerName;
    });
    return {
      view: viewers,
      edit: [...new Set([ownerName, ...(editors[id] ? [editors[id]] : [])])].sort(),
      delete: [ownerName],
    };
  }

  it('has the sample data of the scenario', () => {
    expect(expected(records[0] as never)).toEqual({
      view: ['alice', 'bob', 'carol', 'dan'],
      edit: ['alice'],
      delete: ['alice'],
    });
    expect(expected(records[11] as never).view).toEqual(['alice', 'bob', 'carol', 'dan', 'felix']);
    expect(expected(records[14] as never)).toEqual({
      view: ['alice', 'carol', 'dan', 'erin'],
      edit: ['carol', 'dan'],
      delete: ['carol'],
    });
  });

  it.each(records)('finds who may do what with record $id', async (resource) => {
    for (const [action, users] of Object.entries(expected(resource))) {
      const { status, body } = await search.ask('search/subject', {
        subject: { type: 'user' },
        action: { name: action },
        resource,
      });
      expect(status).toBe(200);
      const results = body['results'] as { type: string; id: string }[];
      expect(results.every(({ type }) => type === 'user')).toBe(true);
      expect(results.map(({ id }) => id).sort(), action).toEqual(users);
    }
  });

  it.each(names)('finds what %s may do with each record', async (name) => {
    for (const resource of records) {
      const { status, body } = await search.ask('search/action', {
        subject: { type: 'user', id: name },
        resource,
      });
      const actions = Object.entries(expected(resource)).flatMap(([action, users]) =>
        users.includes(name) ? [{ name: action }] : [],
      );
      expect([status, body['results']], resource.id).toEqual([
        200,
        actions.sort((a, b) => (a.name < b.name ? -1 : 1)),
      ]);
    }
  });
});

describe('the certification scenario', () => {
  let pdp: Awaited<ReturnType<typeof project>>;
  const [alice, bob] = ['alice', 'bob'].map((id) => ({ type: 'user', id }));
  const [record1, record2] = ['record-1', 'record-2'].map((id) => ({ type: 'record', id }));
  const archived = { ...record2, properties: { status: 'archived' } };
  const active = { ...record1, properties: { status: 'active' } };

  beforeAll(async () => {
    pdp = await project('Certification');
    const isActive = {
      Or: [{ Equals: { 'resource.status': 'active' } }, { And: [{ Equals: { 'resource.id': 'record-1' } }] }],
    };
    const isAdminOfArchived = {
      And: [{ Equals: { 'user.metadata.role': 'admin' } }, { Equals: { 'resource.status': 'archived' } }],
    };
    const roles = await createPolicy(app, owner, pdp.scope, {
      writer: {
        record: { read: null, write: isActive, delete: { Equals: { 'resource._action.soft': true } } },
      },
      archivist: { record: { read: null, write: isAdminOfArchived } },
    });
    await pdp.user('alice', {}, [roles['writer'] ?? '']);
    await pdp.user('bob', { role: 'admin' }, [roles['archivist'] ?? '']);
  });

  const [read, write] = [{ name: 'read' }, { name: 'write' }];
  it.each([
    ['1', { subject: alice, action: read, resource: record1 }, true],
    ['2', { subject: alice, action: write, resource: record1 }, true],
    ['3', { subject: bob, action: read, resource: record1 }, true],
    ['4', { subject: bob, action: write, resource: record1 }, false],
    ['5', { subject: alice, action: write, resource: archived }, false],
    ['6', { subject: { ...bob, properties: { role: 'admin' } }, action: write, resource: archived }, true],
    [
      '7',
      { subject: alice, action: { name: 'delete', properties: { soft: true } }, resource: record1 },
      true,
    ],
    [
      '8',
      { subject: alice, action: { name: 'delete', properties: { soft: false } }, resource: record1 },
      false,
    ],
    [
      'with a context',
      {
        subject: alice,
        action: read,
        resource: record1,
        context: { time: '2025-06-27T18:03-07:00', ip: '192.168.1.1' },
      },
      true,
    ],
    [
      'with other properties',
      {
        subject: { ...alice, properties: { role: 'manager' } },
        action: { ...read, properties: { method: 'GET' } },
        resource: { ...active, properties: { status: 'active', owner: 'bob' } },
      },
      true,
    ],
    [
      'with unknown members',
      { subject: alice, action: read, resource: record1, foo: 'bar', futureField: { nested: true } },
      true,
    ],
  ])('decides rule %s', async (_, request, decision) => {
    for (let i = 0; i < 3; i++) {
      const { status, body, headers } = await pdp.ask('evaluation', request);
      expect([status, body['decision']]).toEqual([200, decision]);
      expect(headers['content-type']).toMatch(/^application\/json/);
    }
  });

  it.each<[string, object, (boolean | number)[]]>([
    [
      'resources',
      { subject: alice, action: read, evaluations: [{ resource: record1 }, { resource: record2 }] },
      [true, true],
    ],
    [
      'actions',
      { subject: bob, resource: record1, evaluations: [{ action: read }, { action: write }] },
      [true, false],
    ],
    [
      'properties',
      { subject: alice, action: write, evaluations: [{ resource: active }, { resource: archived }] },
      [true, false],
    ],
    [
      'subjects',
      {
        action: write,
        resource: archived,
        evaluations: [{ subject: alice }, { subject: { ...bob, properties: { role: 'admin' } } }],
      },
      [false, true],
    ],
    [
      'whole questions',
      {
        evaluations: [
          { subject: alice, action: read, resource: record1 },
          { subject: bob, action: write, resource: record1 },
        ],
      },
      [true, false],
    ],
    [
      'contexts',
      {
        subject: alice,
        action: read,
        context: { time: 'x' },
        evaluations: [{ resource: record1 }, { resource: record2, context: { source: 'y' } }],
      },
      [true, true],
    ],
    ['an error', { subject: alice, action: read, evaluations: [{ resource: record1 }, {}] }, [true, 400]],
  ])('decides several questions with own %s', async (_, request, expected) => {
    const { status, body } = await pdp.ask('evaluations', request);
    const answers = body['evaluations'] as { decision: boolean; context: { error?: { status: number } } }[];
    expect(status).toBe(200);
    expect(answers.map(({ decision, context }) => context.error?.status ?? decision)).toEqual(expected);
    expect(body).not.toHaveProperty('decision');
  });

  it('answers one question where several may be asked', async () => {
    const question = { subject: alice, action: read, resource: record1 };
    for (const request of [question, { ...question, evaluations: [] }]) {
      const { status, body } = await pdp.ask('evaluations', request);
      expect([status, body['decision']]).toEqual([200, true]);
      expect(body).not.toHaveProperty('evaluations');
    }
  });

  it('finds subjects and actions', async () => {
    const idsOf = async (request: object) => {
      const { status, body } = await pdp.ask('search/subject', { subject: { type: 'user' }, ...request });
      expect(status).toBe(200);
      return (body['results'] as { id: string }[]).map(({ id }) => id).sort();
    };
    expect(await idsOf({ action: read, resource: record1 })).toEqual(
      expect.arrayContaining(['alice', 'bob']),
    );
    expect(await idsOf({ action: read, resource: record1, context: { a: 1 } })).toContain('alice');
    expect(await idsOf({ action: write, resource: archived })).toEqual(['bob']);
    const actionsOf = async (request: object) => (await pdp.ask('search/action', request)).body['results'];
    expect(await actionsOf({ subject: alice, resource: record1 })).toEqual([
      { name: 'read' },
      { name: 'write' },
    ]);
    expect(await actionsOf({ subject: bob, resource: archived })).toEqual([
      { name: 'read' },
      { name: 'write' },
    ]);
    expect(await actionsOf({ subject: { type: 'user', id: 'nonexistent-user' }, resource: record1 })).toEqual(
      [],
    );
    const ships = await pdp.ask('search/subject', {
      subject: { type: 'spaceship' },
      action: read,
      resource: record1,
    });
    expect([ships.status, ships.body]).toEqual([200, { results: [], page: { next_token: '', count: 0 } }]);
  });

  it('continues a search with its token', async () => {
    const request = { subject: { type: 'user' }, action: read, resource: record1 };
    const ids: string[] = [];
    let token = '';
    do {
      const { status, body } = await pdp.ask('search/subject', { ...request, page: { limit: 1, token } });
      expect(status).toBe(200);
      const { next_token: next, count } = body['page'] as { next_token: string; count: number };
      const results = body['results'] as { id: string }[];
      expect(count).toBe(results.length);
      ids.push(...results.map(({ id }) => id));
      token = next;
    } while (token !== '');
    expect(ids).toEqual(expect.arrayContaining(['alice', 'bob']));
    expect(new Set(ids).size).toBe(ids.length);
  });
});
