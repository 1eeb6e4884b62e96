import { sql } from 'drizzle-orm';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { digest, joined, keyToken, member } from '../../../test/contract/world.ts';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import { unique, type CallOptions, type Person } from '../../../test/support/app/client.ts';
import type { ScopeRef } from '../../kernel/scope.ts';
import { operations } from '../../operations.ts';
import { ORGANIZATION_OWNER, permissionIdOf, roleIdOf } from '../../schema/rights/built-in-ids.ts';
import { MAX_AFFECTED, type Affected, type Impact } from './impact.ts';

/** Dry runs over the API; test/properties/dry-run.test.ts checks that their answers are correct. */
let app: TestApp;
let ada: Person;
let organization: ScopeRef;
let project: ScopeRef;

beforeAll(async () => {
  app = await startOwnApp();
  ada = await app.person({ type: 'organization' });
  const as = { token: ada.token };
  const { id } = await app.must('createOrganization', { scope: ada.account, name: 'Firm' }, as);
  organization = joined('organization', id);
  ({ scope: project } = await app.must('createProject', { scope: organization, name: 'Shop' }, as));
});
afterAll(() => app.close());

/** Creates a role of one group with these built-in permissions. */
async function roleOf(scope: ScopeRef, ...names: string[]) {
  const as = { token: ada.token };
  const permissionIds = names.map(permissionIdOf);
  const group = await app.must('createGroup', { scope, name: `G ${unique()}`, permissionIds }, as);
  const role = await app.must('createRole', { scope, name: `R ${unique()}`, groupIds: [group.id] }, as);
  return { roleId: role.id, groupId: group.id };
}

const pairs = (list: Affected['gains']): string[] =>
  list.map(({ resource, action, conditional }) => `${resource}:${action}${conditional ? '?' : ''}`);
const shortly = ({ affected }: Impact) =>
  affected.map(({ subject, scope, gains, loses, changes }) => ({
    who: subject.id,
    where: scope.tenant,
    gains: pairs(gains),
    loses: pairs(loses),
    changes: pairs(changes),
  }));

it('exists for the operations that change roles, groups, permissions, members and users only', () => {
  const taking = operations.filter((op) => op.dryRun).map(({ name }) => name);
  const nouns = ['Role', 'Group', 'Permission', 'User'];
  const expected = nouns.flatMap((noun) => ['create', 'update', 'delete'].map((verb) => verb + noun));
  expect(taking.sort()).toEqual([...expected, 'updateOrganizationMember', 'removeOrganizationMember'].sort());
});

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const as = ({ token }: { token: string } = ada): CallOptions => ({ token, via, select: '{ id }' });
  const dry = async (name: string, input: object, options = as()) => {
    const answer = await app.raw(name, { ...input, dryRun: true }, options);
    const whole = JSON.parse(answer.body) as {
      data: unknown;
      extensions?: { dryRun: Record<string, Impact> };
    };
    const impact = via === 'rest' ? (whole.data as Impact) : whole.extensions?.dryRun[name];
    return { ...answer, impact: impact as Impact };
  };

  it('answers what users and keys would gain and lose, in the organization and in its projects', async () => {
    const { roleId, groupId } = await roleOf(organization, 'Tag:Query', 'Tag:Create', 'Organization:Query');
    const bob = await member(app, organization.id, 'Organization Viewer');
    const change = { scope: organization, userId: bob.userId, roleId };
    await app.must('updateOrganizationMember', change, as());
    const personal = joined('projectUser', project.id.split(':')[1] ?? '', bob.userId);
    const own = await app.must('createApiKey', { scope: personal }, as());
    const withRole = await app.must('createApiKey', { scope: project, roleId }, as());
    const untouched = await digest(app);

    const permissionIds = ['Tag:Query', 'Tag:Delete', 'OrganizationMember:Query'].map(permissionIdOf);
    const update = await dry('updateGroup', { scope: organization, id: groupId, permissionIds });
    expect(update.status, update.body).toBe(200);
    expect(update.impact).toMatchObject({ dryRun: true, truncated: false });
    const inProject = {
      where: 'organizationProject',
      gains: ['Tag:Delete'],
      loses: ['Tag:Create'],
      changes: [],
    };
    const gains = ['OrganizationMember:Query', 'Tag:Delete'];
    const loses = ['Organization:Query', 'Tag:Create'];
    expect(shortly(update.impact)).toEqual([
      { who: bob.userId, where: 'organization', gains, loses, changes: [] },
      ...[own.id, withRole.id].sort().map((who) => ({ who, ...inProject })),
      { who: bob.userId, ...inProject },
    ]);

    const removal = await dry('removeOrganizationMember', { scope: organization, userId: bob.userId });
    const all = ['Tag:Create', 'Tag:Query'];
    expect(shortly(removal.impact)).toEqual([
      {
        who: bob.userId,
        where: 'organization',
        gains: [],
        loses: ['Organization:Query', ...all],
        changes: [],
      },
      { who: own.id, where: 'organizationProject', gains: [], loses: all, changes: [] },
      { who: bob.userId, where: 'organizationProject', gains: [], loses: all, changes: [] },
    ]);
    expect(await digest(app)).toEqual(untouched);
    const role = { scope: organization, id: roleId, groupIds: [groupId] };
    expect((await dry('updateRole', role)).impact.affected).toEqual([]);
  });

  it('reports a permission that would be held on other terms', async () => {
    const scope = project;
    const resource = await app.must(
      'createResource',
      { scope, name: 'Doc', slug: `doc-${unique()}`, actions: ['read'] },
      as(),
    );
    const condition = { Equals: { 'resource.ownerId': '{{user.id}}' } };
    const input = { scope, resourceId: resource.id, action: 'read', condition };
    const { id } = await app.must('createPermission', input, as());
    const group = await app.must('createGroup', { scope, name: 'G', permissionIds: [id] }, as());
    const role = await app.must('createRole', { scope, name: 'R', groupIds: [group.id] }, as());
    const user = await app.must('createUser', { scope, name: 'Robot', roleIds: [role.id] }, as());
    const [slug] = (await app.must('resources', { scope, ids: [resource.id] }, { token: ada.token })).items;
    const pair = `${slug?.slug}:read`;
    const reported = { who: user.id, where: 'organizationProject', gains: [], loses: [], changes: [] };
    const to = async (other: unknown) =>
      shortly((await dry('updatePermission', { scope, id, condition: other })).impact);
    expect(await to(condition)).toEqual([]);
    expect(await to({ Equals: { 'resource.open': true } })).toEqual([{ ...reported, changes: [`${pair}?`] }]);
    expect(await to(null)).toEqual([{ ...reported, gains: [pair], loses: [`${pair}?`] }]);
    expect(shortly((await dry('deletePermission', { scope, id })).impact)).toEqual([
      { ...reported, loses: [`${pair}?`] },
    ]);
    expect(shortly((await dry('updateUser', { scope, id: user.id, roleIds: [] })).impact)).toEqual([
      { ...reported, loses: [`${pair}?`] },
    ]);
  });

  it('includes a key whose conditions read the metadata of its creator', async () => {
    const scope = project;
    const bob = await member(app, organization.id, 'Organization Admin');
    const slug = `desk-${unique()}`;
    const desk = { scope, name: 'Desk', slug, actions: ['use'] };
    const resource = await app.must('createResource', desk, as());
    const condition = { Equals: { 'user.metadata.desk': { $ref: 'resource.id' } } };
    const input = { scope, resourceId: resource.id, action: 'use', condition };
    const { id } = await app.must('createPermission', input, as());
    const group = await app.must('createGroup', { scope, name: 'G', permissionIds: [id] }, as());
    const role = await app.must('createRole', { scope, name: 'R', groupIds: [group.id] }, as());
    const key = await app.must('createApiKey', { scope, roleId: role.id }, as(bob));
    const said = { scope: organization, id: bob.userId, metadata: { desk: 4 } };
    expect(shortly((await dry('updateUser', said)).impact)).toEqual([
      { who: key.id, where: 'organizationProject', gains: [], loses: [], changes: [`${slug}:use?`] },
    ]);
  });

  it('is refused like the change, and records nothing', async () => {
    const { roleId, groupId } = await roleOf(organization, 'Tag:Query');
    const bob = await member(app, organization.id, 'Organization Viewer');
    const dev = await member(app, organization.id, 'Organization Developer');
    await app.must('updateOrganizationMember', { scope: organization, userId: bob.userId, roleId }, as());
    const admin = await app.must(
      'roles',
      { scope: organization, ids: [roleIdOf('Organization Admin')] },
      { token: ada.token },
    );
    const untouched = await digest(app);
    const scope = organization;
    const cases: [string, object, string, Person?][] = [
      ['deleteRole', { id: roleId }, 'IN_USE'],
      ['deleteRole', { id: admin.items[0]?.id }, 'SYSTEM_ENTITY'],
      ['updateRole', { id: randomUUID(), name: 'x' }, 'NOT_FOUND'],
      ['updateRole', { id: roleId, name: '' }, 'VALIDATION_ERROR'],
      [
        'createGroup',
        { name: 'x', permissionIds: [permissionIdOf('Organization:Delete')] },
        'PRIVILEGE_ESCALATION',
        dev,
      ],
      ['updateGroup', { id: groupId, name: 'x' }, 'FORBIDDEN', bob],
      ['removeOrganizationMember', { userId: ada.userId }, 'LAST_OWNER'],
      ['updateOrganizationMember', { userId: ada.userId, roleId }, 'FORBIDDEN'],
      ['updateOrganizationMember', { userId: bob.userId, roleId: ORGANIZATION_OWNER }, 'FORBIDDEN', dev],
      ['createPermission', { resourceId: randomUUID(), action: 'x' }, 'NOT_FOUND'],
    ];
    for (const [name, input, code, person] of cases) {
      const answer = await dry(name, { scope, ...input }, as(person));
      expect(answer.code, `${name}: ${answer.body}`).toBe(code);
    }
    expect(await digest(app)).toEqual(untouched);
  });

  it('consumes nothing: no idempotency key, no limit, no mail, and caches stay valid', async () => {
    const headers = { 'idempotency-key': `dry-${unique()}` };
    const name = `R ${unique()}`;
    const keyed = { ...as(), headers };
    const untouched = await digest(app);
    const first = await dry('createRole', { scope: project, name }, keyed);
    expect([first.status, first.impact]).toEqual([200, { dryRun: true, affected: [], truncated: false }]);
    expect(await digest(app)).toEqual(untouched);
    const made = await app.raw('createRole', { scope: project, name, dryRun: false }, keyed);
    expect([made.ok, made.headers['idempotency-replayed']]).toEqual([true, undefined]);
    const { id } = made.data as { id: string };
    expect((await app.call('role', { scope: project, id }, as())).ok).toBe(true);

    const bob = await member(app, organization.id, 'Organization Viewer');
    const token = await keyToken(app, ada.token, project, roleIdOf('Project Viewer'));
    const mine = () => app.must('myPermissions', { scope: organization }, { token: bob.token });
    const before = await mine();
    const mails = app.mails.length;
    const leave = { scope: organization, userId: bob.userId };
    expect((await dry('removeOrganizationMember', leave)).impact.affected.length).toBeGreaterThan(0);
    expect(await app.spent(async () => expect(await mine()).toEqual(before))).toEqual([]);
    expect((await app.call('myPermissions', {} as never, { token })).ok).toBe(true);
    await app.app.flushMails();
    expect(app.mails.length).toBe(mails);
  });

  it('is refused for other operations and with other values', async () => {
    const tag = await app.raw('createTag', { scope: project, name: unique(), dryRun: true }, as());
    expect(tag.ok).toBe(false);
    const role = await app.raw('createRole', { scope: project, name: 'x', dryRun: 'yes' }, as());
    expect(role.ok).toBe(false);
  });
});

it('answers each field of a GraphQL document with the row as it would be', async () => {
  const { roleId } = await roleOf(project, 'Tag:Query');
  const query = `mutation Both($scope: ScopeInput!, $id: ID!) {
    first: updateRole(input: {scope: $scope, id: $id, name: "A", dryRun: true}) { name }
    second: updateRole(input: {scope: $scope, id: $id, groupIds: [], dryRun: true}) { name }
    updateRole(input: {scope: $scope, id: $id, description: "changed"}) { name description }
  }`;
  const response = await app.server.inject({
    method: 'POST',
    url: '/graphql',
    headers: { authorization: `Bearer ${ada.token}` },
    payload: { query, variables: { scope: project, id: roleId } },
  });
  const { data, extensions } = response.json<{
    data: Record<string, { name: string; description?: string }>;
    extensions: { dryRun: Record<string, Impact> };
  }>();
  expect(data['first']).toEqual({ name: 'A' });
  expect(data['updateRole']).toEqual({ name: data['second']?.name, description: 'changed' });
  expect(Object.keys(extensions.dryRun)).toEqual(['first', 'second']);
});

it('is truncated beyond the limits, and reports that', async () => {
  const { roleId, groupId } = await roleOf(organization, 'Tag:Query');
  await app.database.pool.execute(sql`
    with made as (insert into users (id, name, is_managed, managed_by)
      select gen_random_uuid(), 'Many', true, ${organization.id}::uuid from generate_series(1, ${MAX_AFFECTED + 5}) returning id)
    insert into organization_members (tenant_id, user_id, role_id, role_tenant_id)
    select ${organization.id}::uuid, id, ${roleId}::uuid, ${organization.id}::uuid from made`);
  const input = { scope: organization, id: groupId, permissionIds: [], dryRun: true };
  const spent = await app.spent(async () => {
    const { data } = await app.raw('updateGroup', input, { token: ada.token });
    const { affected, truncated } = data as Impact;
    expect([affected.length, truncated]).toEqual([MAX_AFFECTED, true]);
    expect(new Set(affected.map(({ scope }) => scope.tenant))).toEqual(new Set(['organization']));
  });
  expect(spent.length).toBeLessThan(30);
});
