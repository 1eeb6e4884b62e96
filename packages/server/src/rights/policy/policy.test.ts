import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScopeRef } from '../../kernel/scope.ts';
import { keyToken } from '../../../test/contract/world.ts';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { firmOf } from '../../../test/support/tenants/firm.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import { unique, type Person } from '../../../test/support/app/client.ts';

/** A project's rights model is a document: it is read, planned, applied, drifts, and is rolled back. */
let app: TestApp;
let owner: Person;

beforeAll(async () => {
  app = await startApp();
  owner = await app.person();
});
afterAll(() => app.close());

const shop = {
  version: 1,
  resources: { invoice: { name: 'Invoice', actions: ['read', 'approve'] } },
  permissions: {
    'invoice:read': {},
    'approve own': {
      resource: 'invoice',
      action: 'approve',
      condition: { Equals: { 'resource.ownerId': '{{user.id}}' } },
    },
  },
  groups: { Billing: { permissions: ['invoice:read', 'approve own', 'Tag:Query'] } },
  roles: { Clerk: { groups: ['Billing'], description: 'Reads and approves', tags: ['finance'] } },
  tags: { finance: { color: '#0a7a55' } },
  tests: [
    {
      name: 'a clerk reads',
      subject: { roles: ['Clerk'] },
      permission: 'invoice:read',
      expect: { authorized: true },
    },
    {
      name: 'a clerk approves no invoice of others',
      subject: { roles: ['Clerk'], attributes: { id: 'ada' } },
      permission: { resource: 'invoice', action: 'approve' },
      context: { resource: { ownerId: 'bob' } },
      expect: { authorized: false, reason: 'CONDITION_NOT_MET' },
    },
  ],
};

interface Project {
  readonly id: string;
  readonly scope: ScopeRef;
}
const newProject = async (): Promise<Project> => {
  const as = { token: owner.token };
  const { id, scope } = await app.must('createProject', { scope: owner.account, name: `P ${unique()}` }, as);
  return { id, scope };
};

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const as = (token = owner.token) => ({ token, via });
  const plan = ({ id, scope }: Project, policy: object, more: object = {}) =>
    app.must('planPolicy', { id, scope, policy: policy as never, ...more }, as());
  const applied = async (project: Project, policy: object, more: object = {}) => {
    const { version } = await app.must('policy', project, as());
    const last = await app.must('policyVersions', project, as());
    const ifVersion = last.totalCount === 0 ? null : version;
    return app.call('applyPolicy', { ...project, policy: policy as never, ifVersion, ...more }, as());
  };

  it('is planned, applied, shown as it is, and changes nothing the second time', async () => {
    const project = await newProject();
    const planned = await plan(project, shop);
    expect(planned.changes.map(({ kind, key, action }) => `${action} ${kind} ${key}`)).toEqual([
      'create tags finance',
      'create resources invoice',
      'create permissions approve own',
      'create permissions invoice:read',
      'create groups Billing',
      'create roles Clerk',
    ]);
    expect(planned).toMatchObject({ blocked: [], drift: [], warnings: [], impact: { affected: [] } });
    expect(planned.tests.map(({ passed }) => passed)).toEqual([true, true]);
    expect((await app.must('roles', { scope: project.scope, isSystem: false }, as())).items).toEqual([]);

    const first = await app.must(
      'applyPolicy',
      {
        ...project,
        policy: shop,
        ifVersion: null,
        planHash: planned.planHash,
        message: 'The first one',
        source: { repository: 'acme/policy', commit: '4f2a1c0' },
      },
      as(),
    );
    expect(first.applied).toMatchObject({
      number: 1,
      message: 'The first one',
      source: { repository: 'acme/policy', commit: '4f2a1c0' },
      counts: { created: 6, updated: 0, deleted: 0 },
      rollbackOf: null,
      createdBy: { type: 'user', userId: owner.userId },
      version: first.version,
    });
    const { items: roles } = await app.must('roles', { scope: project.scope, isSystem: false }, as());
    expect(roles).toMatchObject([{ name: 'Clerk', managed: 'policy', description: 'Reads and approves' }]);

    const again = await app.call('applyPolicy', { ...project, policy: shop, ifVersion: first.version }, as());
    expect(again).toMatchObject({ ok: true, data: { applied: null, version: first.version } });
    if (via === 'rest') expect(again.status).toBe(200);

    const exported = await app.must('policy', project, as());
    expect(exported).toMatchObject({ version: first.version, number: 1, document: { roles: shop.roles } });
    expect((await plan(project, exported.document)).changes).toEqual([]);
  });

  it('is recorded as a version when its tests or its mode alone differ', async () => {
    const project = await newProject();
    await applied(project, shop);
    expect(await plan(project, shop)).toMatchObject({ changes: [], documentDiffers: false });
    const [test] = shop.tests;
    const fewer = { ...shop, tests: [test] };
    expect(await plan(project, fewer)).toMatchObject({ changes: [], documentDiffers: true });
    const second = await applied(project, fewer);
    const counts = { created: 0, updated: 0, deleted: 0 };
    expect(second.data).toMatchObject({ applied: { number: 2, counts } });
    expect((await applied(project, fewer)).data).toMatchObject({ applied: null });
    const { document } = await app.must('policyVersion', { ...project, number: 2 }, as());
    expect((document as { tests: unknown[] }).tests).toHaveLength(1);
    expect((await applied(project, { ...fewer, mode: 'lock' })).data).toMatchObject({
      applied: { number: 3 },
    });
  });

  it('records one entry for itself and one for each row, with one request', async () => {
    const project = await newProject();
    await applied(project, shop);
    const { items } = await app.must('auditLogs', { scope: project.scope, limit: 100 }, as());
    const ofPolicy = items.filter(({ operation }) => operation === 'applyPolicy');
    expect(ofPolicy.map(({ event }) => event).sort(nullsLast)).toEqual([
      'group.created',
      'permission.created',
      'permission.created',
      'policy.applied',
      'resource.created',
      'role.created',
      null,
    ]);
    expect(new Set(ofPolicy.map(({ requestId }) => requestId)).size).toBe(1);
    const feed = await app.must('events', { scope: project.scope }, as());
    const types = (feed as { items: { type: string; data: object }[] }).items.map(({ type }) => type);
    expect(types).toEqual(expect.arrayContaining(['policy.applied', 'role.created']));
  });

  it('says who gains and who loses, as a dry run of the change by hand would', async () => {
    const project = await newProject();
    await applied(project, shop);
    const { items } = await app.must('roles', { scope: project.scope, isSystem: false }, as());
    const member = await app.must(
      'createUser',
      { scope: project.scope, name: 'Grace', roleIds: [items[0]?.id ?? ''] },
      as(),
    );
    const { groups } = shop;
    const without = {
      ...shop,
      tests: [],
      groups: { Billing: { ...groups.Billing, permissions: ['approve own'] } },
    };
    const { changes, impact } = await plan(project, without);
    expect(changes).toMatchObject([
      {
        kind: 'groups',
        key: 'Billing',
        action: 'update',
        fields: {
          permissions: { from: ['Tag:Query', 'approve own', 'invoice:read'], to: ['approve own'] },
        },
      },
    ]);
    expect(impact?.affected).toMatchObject([
      {
        subject: { type: 'user', id: (member as { id: string }).id },
        loses: [
          { resource: 'Tag', action: 'Query' },
          { resource: 'invoice', action: 'read' },
        ],
      },
    ]);
    const failing = await applied(project, { ...without, tests: shop.tests });
    expect(failing).toMatchObject({
      code: 'POLICY_TEST_FAILED',
      details: [{ path: 'policy.tests.0', code: 'test' }],
    });
  });

  it('adopts rows of the same name, renames, and deletes only when it may', async () => {
    const project = await newProject();
    const { scope } = project;
    const byHand = await app.must('createTag', { scope, name: 'finance', color: 'red' }, as());
    const { changes } = await plan(project, shop);
    expect(changes[0]).toMatchObject({
      action: 'adopt',
      id: byHand.id,
      fields: { color: { from: 'red', to: '#0a7a55' } },
    });
    await applied(project, shop);
    const { Clerk } = shop.roles;
    const renamed = { ...shop, tests: [], roles: { 'Senior clerk': { ...Clerk, renamedFrom: 'Clerk' } } };
    const before = await app.must('roles', { scope, isSystem: false }, as());
    expect((await plan(project, renamed)).changes).toMatchObject([
      {
        kind: 'roles',
        key: 'Senior clerk',
        action: 'rename',
        fields: { name: { from: 'Clerk', to: 'Senior clerk' } },
      },
    ]);
    expect((await applied(project, renamed)).ok).toBe(true);
    expect((await applied(project, renamed)).data.applied).toBeNull();
    const after = await app.must('roles', { scope, isSystem: false }, as());
    expect(after.items.map(({ id, name }) => [id, name])).toEqual([[before.items[0]?.id, 'Senior clerk']]);

    const empty = { version: 1 };
    const refused = await applied(project, empty);
    expect(refused.code).toBe('DELETION_NOT_ALLOWED');
    expect(refused.details.map(({ path }) => path)).toContain('policy.roles.Senior clerk');
    const deleted = await applied(project, empty, { allowDelete: true });
    expect(deleted.data.applied?.counts).toEqual({ created: 0, updated: 0, deleted: 6 });
    expect((await app.must('resources', { scope, isSystem: false }, as())).items).toEqual([]);
  });

  it('puts another permission in the place of one with another action', async () => {
    const project = await newProject();
    const { scope } = project;
    await applied(project, shop);
    const idOf = async () =>
      (await app.must('permissions', { scope, isSystem: false }, as())).items.find(
        ({ name }) => name === 'approve own',
      )?.id;
    const before = await idOf();
    const { condition } = shop.permissions['approve own'];
    const own = { resource: 'invoice', action: 'read', condition };
    const other = { ...shop, tests: [], permissions: { ...shop.permissions, 'approve own': own } };
    expect((await plan(project, other)).changes.map(({ action, kind }) => `${action} ${kind}`)).toEqual([
      'create permissions',
      'update groups',
      'delete permissions',
    ]);
    expect((await applied(project, other)).code).toBe('DELETION_NOT_ALLOWED');
    expect((await applied(project, other, { allowDelete: true })).ok).toBe(true);
    expect(await idOf()).not.toBe(before);
    expect((await plan(project, other)).changes).toEqual([]);
  });

  it('shows what was changed by hand as drift, undoes it, and rolls back as a new version', async () => {
    const project = await newProject();
    const { scope } = project;
    await applied(project, shop);
    const { items } = await app.must('roles', { scope, isSystem: false }, as());
    const id = items[0]?.id ?? '';
    await app.must('updateRole', { scope, id, description: 'By hand' }, as());
    const { drift, changes } = await plan(project, shop);
    const fields = { description: { from: 'Reads and approves', to: 'By hand' } };
    expect(drift).toEqual([{ kind: 'roles', key: 'Clerk', fields }]);
    expect(changes).toMatchObject([{ kind: 'roles', key: 'Clerk', action: 'update' }]);
    const twoTags = { ...shop, tags: { ...shop.tags, urgent: {} } };
    await applied(project, twoTags);
    expect((await app.must('role', { scope, id }, as())).description).toBe('Reads and approves');

    const { version } = await app.must('policy', project, as());
    const back = { ...project, number: 1, ifVersion: version };
    expect(
      (await app.must('planPolicy', { ...project, number: 1, allowDelete: true }, as())).changes,
    ).toMatchObject([{ kind: 'tags', key: 'urgent', action: 'delete' }]);
    expect((await app.call('rollbackPolicy', back, as())).code).toBe('DELETION_NOT_ALLOWED');
    const rolledBack = await app.must('rollbackPolicy', { ...back, allowDelete: true }, as());
    expect(rolledBack.applied).toMatchObject({ number: 3, rollbackOf: 1 });
    const versions = await app.must('policyVersions', project, as());
    expect(versions.items.map(({ number }) => number)).toEqual([3, 2, 1]);
    const second = await app.must('policyVersion', { ...project, number: 2 }, as());
    expect(second.document).toMatchObject({ tags: { urgent: { color: 'gray' } } });
    expect((await app.must('policyDiff', { ...project, from: '2', to: '3' }, as())).changes).toMatchObject([
      { kind: 'tags', key: 'urgent', action: 'delete' },
    ]);
    const same = await app.must('policyDiff', { ...project, from: '1', to: 'current' }, as());
    expect(same.changes).toEqual([]);
    const unknown = await app.call('rollbackPolicy', { ...back, number: 9 }, as());
    expect(unknown.code).toBe('NOT_FOUND');
  });

  it('is applied to the state that was planned, or not at all', { tags: 'race' }, async () => {
    const project = await newProject();
    const planned = await plan(project, shop);
    const input = { ...project, policy: shop as never };
    const ifVersion = planned.version;
    const other = await app.call('applyPolicy', { ...input, ifVersion: null, planHash: 'another' }, as());
    expect(other).toMatchObject({ code: 'CONFLICT', details: [{ path: 'planHash', code: 'changed' }] });
    await app.must('createTag', { scope: project.scope, name: 'between' }, as());
    const late = await app.call('applyPolicy', { ...input, ifVersion }, as());
    expect(late).toMatchObject({ code: 'CONFLICT', details: [{ path: 'ifVersion', code: 'changed' }] });
    const [first, second] = await Promise.all(
      [0, 1].map(() => app.call('applyPolicy', { ...input, ifVersion: null }, as())),
    );
    expect([first?.code, second?.code].sort()).toEqual(['CONFLICT', null]);
  });

  it.each([
    [
      'an unknown permission',
      { groups: { G: { permissions: ['nowhere'] } } },
      'groups.G.permissions.0',
      'enum',
    ],
    [
      'an unknown action',
      { ...shop, permissions: { 'invoice:pay': {} } },
      'permissions.invoice:pay.action',
      'enum',
    ],
    ['an unknown member', { roles: { R: { grups: [] } } }, 'roles.R.grups', 'unknown_field'],
    ['a key of a built-in row', { roles: { 'Project Admin': {} } }, 'roles.Project Admin', 'not_allowed'],
    ['a secret', { roles: { R: { description: 'whsec_abc' } } }, 'roles.R.description', 'not_allowed'],
    ['an unfilled variable', { tags: { T: { metadata: { a: '${URL}' } } } }, 'tags.T.metadata.a', 'format'],
  ])('refuses %s, with its path', async (_, part, path, code) => {
    const project = await newProject();
    const policy = { version: 1, ...part } as never;
    const refused = await app.call('planPolicy', { ...project, policy }, as());
    expect(refused.status === 400 || via === 'graphql').toBe(true);
    expect(refused.details[0]).toMatchObject({ path: `policy.${path}`, code });
  });

  it('decides a test in any spelling, as it decides the question', async () => {
    const project = await newProject();
    const [reads] = shop.tests;
    const spelled = ['Invoice:read', ' INVOICE :Read', 'Tag:query'].map((permission) => ({
      ...{ ...reads, name: permission, permission },
    }));
    const { tests } = await plan(project, { ...shop, tests: spelled });
    expect(tests.map(({ decision }) => decision.authorized)).toEqual([true, true, true]);
  });

  it('refuses a broken condition, with its path', async () => {
    const project = await newProject();
    const condition = { Equal: { 'resource.id': 1 } };
    const permissions = { 'invoice:read': { condition } };
    const refused = await app.call(
      'planPolicy',
      { ...project, policy: { ...shop, permissions, groups: {}, roles: {}, tests: [] } },
      as(),
    );
    expect(refused).toMatchObject({
      code: 'INVALID_CONDITION',
      details: [{ path: 'policy.permissions.invoice:read.condition.Equal', code: 'operator' }],
    });
  });

  it('gives and takes nothing that the caller does not hold, and tells them in the plan', async () => {
    const firm = await firmOf(app);
    const project = { id: firm.projectId, scope: firm.project };
    await app.must('applyPolicy', { ...project, policy: shop, ifVersion: null }, as(firm.owner.token));
    const planner = await firm.user(
      {},
      'Policy:Query',
      'Policy:Plan',
      'Policy:Apply',
      'Role:Create',
      'Group:Update',
    );
    const more = {
      ...shop,
      groups: { Billing: { permissions: ['Tag:Query', 'Tag:Delete'] } },
      tests: [],
      roles: { ...shop.roles, Second: { groups: ['Billing'] } },
    };
    const { blocked, version, impact } = await app.must(
      'planPolicy',
      { ...project, policy: more },
      as(planner.token),
    );
    expect(blocked.map(({ kind, key, code, cause }) => `${kind} ${key} ${code} ${cause}`)).toEqual([
      // What the group had, and what it would have.
      'groups Billing PRIVILEGE_ESCALATION invoice:approve',
      'groups Billing PRIVILEGE_ESCALATION invoice:read',
      'groups Billing PRIVILEGE_ESCALATION Tag:Delete',
      'roles Second PRIVILEGE_ESCALATION Tag:Delete',
    ]);
    expect(impact?.affected).toEqual([]);
    const input = { ...project, policy: more as never, ifVersion: version };
    expect((await app.call('applyPolicy', input, as(planner.token))).code).toBe('PRIVILEGE_ESCALATION');
    const tag = { ...shop, tags: { ...shop.tags, mine: {} } };
    const refused = await app.call('applyPolicy', { ...input, policy: tag }, as(planner.token));
    expect(refused).toMatchObject({
      code: 'FORBIDDEN',
      details: [{ path: 'policy.tags.mine', code: 'not_allowed' }],
    });
    const outsider = await app.person();
    expect((await app.call('planPolicy', { ...project, policy: shop }, as(outsider.token))).code).toBe(
      'FORBIDDEN',
    );
  });

  it('warns of what is allowed and looks wrong', async () => {
    const project = await newProject();
    const amount = {
      NumericGreaterThan: { 'resource.amount': 100 },
      NumericLessThan: { 'resource.amount': 50 },
    };
    const policy = {
      version: 1,
      resources: { order: { actions: ['read'] } },
      permissions: { 'order:read': { condition: amount } },
      roles: { Idle: {} },
    };
    expect((await plan(project, policy)).warnings).toEqual([
      { code: 'roleGrantsNothing', key: 'Idle' },
      { code: 'conditionNeverMet', key: 'order:read' },
    ]);
    expect((await applied(project, policy)).ok).toBe(true);
  });

  it('lets only a person who has just signed in take away their own right to apply', async () => {
    const project = await newProject();
    const { scope } = project;
    const held = ['Policy: Query, Plan, Apply', 'Role: Query, Create, Update, Delete'];
    const first = { version: 1, roles: { Appliers: { groups: held } } };
    await applied(project, first);
    const role = (await app.must('roles', { scope, isSystem: false }, as())).items[0]?.id ?? '';
    const machine = await keyToken(app, owner.token, scope, role);
    const policy = { version: 1, roles: { Appliers: { groups: held.slice(1) } } } as never;
    const { version, warnings } = await app.must('planPolicy', { ...project, policy }, as(machine));
    expect(warnings).toEqual([{ code: 'selfLockout', key: null }]);
    const refused = await app.call('applyPolicy', { ...project, policy, ifVersion: version }, as(machine));
    expect(refused.code).toBe('STEP_UP_REQUIRED');
    // The owner of the account holds it by another role.
    expect((await applied(project, policy)).ok).toBe(true);
  });

  it('protects a permission also when its resource is deleted by hand', async () => {
    const project = await newProject();
    const { scope } = project;
    const permissions = { ...shop.permissions, 'invoice:read': { protect: true } };
    await applied(project, { ...shop, permissions });
    const resource = (await app.must('resources', { scope, isSystem: false }, as())).items[0]?.id ?? '';
    const refused = await app.call('deleteResource', { scope, id: resource }, as());
    expect(refused).toMatchObject({
      code: 'DELETION_NOT_ALLOWED',
      details: [{ path: 'permissions.invoice:read', code: 'not_allowed' }],
    });
    expect((await app.must('resource', { scope, id: resource }, as())).deletedAt).toBeNull();
  });

  it('protects and locks rows against changes by hand', async () => {
    const project = await newProject();
    const { scope } = project;
    await applied(project, {
      ...shop,
      roles: { Clerk: { ...shop.roles.Clerk, protect: true } },
      mode: 'lock',
    });
    const role = (await app.must('roles', { scope, isSystem: false }, as())).items[0]?.id ?? '';
    const group = (await app.must('groups', { scope, isSystem: false }, as())).items[0]?.id ?? '';
    expect((await app.call('deleteRole', { scope, id: role }, as())).code).toBe('DELETION_NOT_ALLOWED');
    expect((await app.call('updateGroup', { scope, id: group, name: 'Mine' }, as())).code).toBe(
      'INVALID_STATE',
    );
    const empty = { version: 1 };
    expect((await applied(project, empty, { allowDelete: true })).details).toMatchObject([
      { path: 'policy.roles.Clerk' },
    ]);
    expect((await applied(project, shop)).ok).toBe(true);
    expect((await app.call('updateGroup', { scope, id: group, description: 'Mine' }, as())).ok).toBe(true);
  });
});

const nullsLast = (a: string | null, b: string | null): number => ((a ?? '~') < (b ?? '~') ? -1 : 1);
