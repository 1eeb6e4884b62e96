import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { joinOrganization } from '../../../test/decisions/memberships.ts';
import { joined } from '../../../test/contract/world.ts';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { openChanges, type Changes } from '../../db/cache/changes.ts';
import type { ResolvedScope, ScopeRef } from '../../kernel/scope.ts';
import { declaredPermissions, operations } from '../../operations.ts';
import { builtIns } from '../built-in.ts';
import { groupIdOf, ORGANIZATION_OWNER, permissionIdOf, roleIdOf } from '../../schema/rights/built-in-ids.ts';
import type { HeldPermission } from '@doorward/decision/evaluate';
import { loadSubject, rolesOf } from '../grants/grants.ts';
import type { SubjectStatus } from '../../kernel/call/caller-rights.ts';
import { createResolver } from '../resolve.ts';
import { loadExplainContext, type Explainee } from './explain-context.ts';
import { noOperators } from '../../../test/support/tenants/operators.ts';

/** The changes that an owner could make, in a tenant that stays unchanged during the tests. */
let app: TestApp;
let changes: Changes;
const id: Record<string, string> = {};
const scopes: Record<string, ResolvedScope> = {};
const drafts = { Equals: { 'resource.status': 'draft' } };

beforeAll(async () => {
  app = await startApp();
  changes = await openChanges(app.database, () => undefined);
  const resolver = createResolver(
    app.database.pool,
    changes,
    builtIns(declaredPermissions(operations)),
    noOperators,
  );
  const [ada, otto, paula] = await Promise.all([
    app.person({ type: 'organization' }),
    app.person(),
    app.person(),
  ]);
  const as = { token: ada.token };
  const organization = async (name: string) =>
    joined('organization', (await app.must('createOrganization', { scope: ada.account, name }, as)).id);
  const org = await organization('O');
  const alone = await organization('A');
  const owner = { app, via: 'rest' as const, token: ada.token, scope: org, roleIds: [ORGANIZATION_OWNER] };
  await joinOrganization(owner, otto);
  const shop = (await app.must('createProject', { scope: org, name: 'P' }, as)).scope;
  const own = (await app.must('createProject', { scope: paula.account, name: 'Q' }, { token: paula.token }))
    .scope;
  const refs: Record<string, ScopeRef> = { org, alone, shop, own, account: ada.account };
  for (const [name, ref] of Object.entries(refs))
    scopes[name] = (await resolver.scopeOf(ref)) as ResolvedScope;
  Object.assign(id, { ada: ada.userId, otto: otto.userId, paula: paula.userId });

  const about = { scope: shop, name: 'File', slug: 'file', actions: ['read', 'write'] };
  const resourceId = (await app.must('createResource', about, as)).id;
  const permission = async (name: string, action: string, condition: object | null) => {
    const input = { scope: shop, resourceId, action, condition };
    id[name] = (await app.must('createPermission', input as never, as)).id;
  };
  await permission('read', 'read', null);
  await permission('draft', 'write', drafts);
  await permission('write', 'write', null);
  const [read, draft, write] = ['read', 'draft', 'write'].map((name) => id[name] ?? '') as [
    string,
    string,
    string,
  ];
  const group = async (name: string, scope: ScopeRef, ...permissionIds: string[]) =>
    (id[name] = (await app.must('createGroup', { scope, name, permissionIds }, as)).id);
  const role = async (name: string, scope: ScopeRef, ...groupIds: string[]) =>
    (id[name] = (await app.must('createRole', { scope, name, groupIds }, as)).id);
  await group('large', shop, read, permissionIdOf('Tag:Query'));
  await group('small', shop, read);
  await group('drafts', shop, draft);
  await group('all', shop, read, write, draft);
  await group('above', org, permissionIdOf('Tag:Query'));
  await role('reader', shop, id['large'] ?? '', id['small'] ?? '');
  await role('drafter', shop, id['drafts'] ?? '');
  await role('writer', shop, id['all'] ?? '');
  await role('boss', org, id['above'] ?? '', groupIdOf('Role', 'view'));
  await role('empty', shop);
  const user = async (scope: ScopeRef, more: object) =>
    ((await app.raw('createUser', { scope, ...more }, as)).data as { id: string }).id;
  const viewer = roleIdOf('Organization Viewer');
  id['mia'] = await user(org, { name: 'Mia', roleIds: [viewer] });
  id['nia'] = await user(org, { name: 'Nia', roleIds: [id['boss']] });
  id['pete'] = await user(shop, { name: 'Pete', roleIds: [id['reader']] });
});
afterAll(async () => {
  await changes.close();
  await app.close();
});

const nameOf = (item: string): string =>
  Object.entries(id).find(([, existing]) => existing === item)?.[0] ?? item;
const pathOf = ({ permission, role, group }: HeldPermission): string =>
  [role.id, group.id, permission.id].map(nameOf).join(' ');

interface More {
  readonly kind?: Explainee['kind'];
  readonly status?: Partial<SubjectStatus>;
  readonly roleIds?: readonly string[];
}
async function around(
  where: string,
  who: string,
  pair: string,
  { kind = 'user', status, roleIds }: More = {},
) {
  const scope = scopes[where] as ResolvedScope;
  const own = await loadSubject(app.database.pool, scope, id[who] ?? who);
  const [resource = '', action = ''] = pair.split(':');
  const { roles, context } = await loadExplainContext(
    app.database.pool,
    scope,
    { kind, userId: id[who] ?? who, status: { ...own, ...status }, roleIds: roleIds ?? rolesOf(own) },
    { management: /^[A-Z]/.test(resource), resource, action },
  );
  const { held, links, settable } = context;
  return {
    roles: roles.map(({ id: item }) => nameOf(item)),
    held: held.map(pathOf),
    offered: context.roles.map(({ roleId, paths }) => [nameOf(roleId), ...paths.map(pathOf)]),
    links: links.map(({ groupId, permissionId, paths }) => [
      `${nameOf(groupId)} ${nameOf(permissionId)}`,
      ...paths.map(pathOf),
    ]),
    settable: [settable.user, [...settable.grantSources].map(nameOf).sort()],
  };
}
const offeredTo = async (...requested: Parameters<typeof around>) =>
  (await around(...requested)).offered.map(([role]) => role);
const builtInRole = (name: Parameters<typeof roleIdOf>[0]) => roleIdOf(name);

describe('in a project', () => {
  it('has the held paths, the assignable roles and the possible links, least privilege first', async () => {
    expect(await around('shop', 'pete', 'file:write')).toEqual({
      roles: ['reader'],
      held: [],
      offered: [
        ['drafter', 'drafter drafts draft'],
        ['writer', 'writer all draft', 'writer all write'],
      ],
      links: [
        ['small draft', 'reader small draft'],
        ['small write', 'reader small write'],
        ['large draft', 'reader large draft'],
        ['large write', 'reader large write'],
      ],
      settable: [true, ['large', 'reader', 'small']],
    });
  });

  it('reads a role once, however many groups it has', async () => {
    const scope = scopes['shop'] as ResolvedScope;
    const status = await loadSubject(app.database.pool, scope, id['pete'] ?? '');
    const subject = { kind: 'user', userId: id['pete'] ?? '', status, roleIds: rolesOf(status) } as const;
    const target = { management: false, resource: 'file', action: 'write' };
    const { context } = await loadExplainContext(app.database.pool, scope, subject, target);
    const roles = context.links.flatMap(({ paths }) => paths.map((path) => path.role));
    expect([roles.length, new Set(roles.map(({ metadata }) => metadata)).size]).toEqual([4, 1]);
  });

  it('offers no existing link', async () => {
    const { held, links, offered } = await around('shop', 'pete', 'file:read');
    expect([...held].sort()).toEqual(['reader large read', 'reader small read']);
    expect(links).toEqual([]);
    expect(offered).toEqual([['writer', 'writer all read']]);
  });

  it('lists groups of the owner after those of the project, without permissions of the project', async () => {
    const roleIds = [id['boss'] ?? '', id['reader'] ?? ''];
    const ofProject = await around('shop', 'nia', 'file:write', { roleIds });
    expect([...ofProject.roles].sort()).toEqual(['boss', 'reader']);
    const places = ['small draft', 'small write', 'large draft', 'large write'];
    expect(ofProject.links.map(([link]) => link)).toEqual(places);
    const create = permissionIdOf('Role:Create');
    const { links } = await around('shop', 'nia', 'Role:create', { roleIds });
    expect(links.map(([link]) => link)).toEqual(
      ['small', 'large', 'above'].map((item) => `${item} ${create}`),
    );
  });

  it('offers built-in permissions for any group, but none on an organization', async () => {
    const { links, offered } = await around('shop', 'pete', 'Role:create');
    const create = permissionIdOf('Role:Create');
    expect(links.map(([link]) => link)).toEqual([`small ${create}`, `large ${create}`]);
    expect(offered.map(([role]) => role)).toEqual([builtInRole('Project Admin')]);
    const none = await around('shop', 'pete', 'OrganizationMember:query');
    expect([none.held, none.offered, none.links]).toEqual([[], [], []]);
    expect(none.settable).toEqual([true, ['large', 'reader', 'small']]);
  });

  it('offers roles for a user outside the project, but not for a key or a user with 20 roles', async () => {
    expect(await offeredTo('shop', 'mia', 'file:write')).toEqual(['drafter', 'writer']);
    const key = await around('shop', 'pete', 'file:write', { kind: 'apiKey' });
    expect(key.offered).toEqual([]);
    expect(key.links).toHaveLength(4);
    const twenty = (count: number) => ({ status: { projectRoleIds: Array<string>(count).fill('x') } });
    expect(await offeredTo('shop', 'pete', 'file:write', twenty(19))).toEqual(['drafter', 'writer']);
    expect(await offeredTo('shop', 'pete', 'file:write', twenty(20))).toEqual([]);
    // A member of the organization alone is added to the project with the role.
    expect(await offeredTo('shop', 'mia', 'file:write', twenty(20))).toEqual(['drafter', 'writer']);
  });

  it('offers no owner roles, and no metadata without another owner', async () => {
    expect(await offeredTo('own', 'paula', 'Role:create')).toEqual([builtInRole('Project Admin')]);
    expect((await around('own', 'paula', 'file:write')).settable).toEqual([false, []]);
    expect((await around('shop', 'paula', 'file:write')).settable).toEqual([false, []]);
    expect((await around('shop', 'mia', 'file:write')).settable[0]).toBe(true);
  });
});

describe('in an organization', () => {
  it('offers other built-in roles, the smallest first, but not for an owner', async () => {
    const given = ['Organization Developer', 'Organization Admin', 'Organization Owner'] as const;
    const offered = await offeredTo('org', 'mia', 'Role:create');
    expect(offered).toEqual(given.map(builtInRole));
    expect(await offeredTo('org', 'otto', 'Role:create')).toEqual([]);
    const context = await around('org', 'mia', 'Role:query');
    expect(context.held).toHaveLength(1);
    expect(context.offered.map(([role]) => role)).not.toContain(builtInRole('Organization Viewer'));
    expect(context.offered.map(([role]) => role)).toContain('boss');
    // For a person who is not a member there is no offer; they would need an invitation.
    expect(await offeredTo('org', 'pete', 'Role:create')).toEqual([]);
  });

  it('offers metadata of a member if there is another owner', async () => {
    expect((await around('org', 'mia', 'Role:query')).settable).toEqual([true, []]);
    expect((await around('org', 'otto', 'Role:query')).settable).toEqual([true, []]);
    expect((await around('alone', 'ada', 'Role:query')).settable).toEqual([false, []]);
    expect((await around('org', 'nia', 'Role:query')).settable).toEqual([true, ['above', 'boss']]);
    expect((await around('org', 'paula', 'Role:query')).settable[0]).toBe(false);
  });
});

it('offers nothing in an account', async () => {
  const { held, offered, settable, links } = await around('account', 'ada', 'Project:create');
  expect(held).toHaveLength(1);
  expect([offered, links, settable]).toEqual([[], [], [false, []]]);
});
