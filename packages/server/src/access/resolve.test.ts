import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { joined } from '../../test/contract/world.ts';
import { startApp, type TestApp } from '../../test/support/app/app.ts';
import type { Person } from '../../test/support/app/client.ts';
import { openChanges, type Changes } from '../db/cache/changes.ts';
import type { Principal } from '../kernel/context.ts';
import type { CallerRights } from '../kernel/call/caller-rights.ts';
import type { ScopeAndRights } from '../kernel/stages.ts';
import type { ResolvedScope, ScopeInput, ScopeRef, TenantSpelling } from '../kernel/scope.ts';
import { declaredPermissions, operations } from '../operations.ts';
import {
  ACCOUNT_OWNER,
  ORGANIZATION_OWNER,
  permissionIdOf,
  roleIdOf,
} from '../schema/rights/built-in-ids.ts';
import { builtIns } from './built-in.ts';
import { effectivePermissions } from './grants/effective.ts';
import { createResolver, type Resolver } from './resolve.ts';
import { noOperators } from '../../test/support/tenants/operators.ts';

/** Tables of callers, scopes and rights, with direct calls of the resolver to save requests. */
let app: TestApp;
let changes: Changes;
let resolver: Resolver;
let ada: Person;
let bob: Person;
const id: Record<string, string> = {};
const scopes: Record<string, ScopeRef> = {};
const MISSING = '5f0c7b0e-8a0b-4f43-9d55-2f1f6a1f0a11';
const rows = builtIns(declaredPermissions(operations));
const idOf = ({ data }: { readonly data: unknown }): string => (data as { id: string }).id;
const isInvoice = { Equals: { 'resource.kind': 'invoice' } };

beforeAll(async () => {
  app = await startApp();
  changes = await openChanges(app.database, () => undefined);
  [ada, bob] = await Promise.all([app.person({ type: 'organization' }), app.person()]);
  const as = { token: ada.token };
  Object.assign(id, { ada: ada.userId, bob: bob.userId, account: ada.account.id });
  const { id: orgId } = await app.must('createOrganization', { scope: ada.account, name: 'O' }, as);
  const org = (scopes['org'] = joined('organization', (id['org'] = orgId)));
  const made = async (scope: ScopeRef, token = ada.token) =>
    (await app.must('createProject', { scope, name: 'P' }, { token })).id;
  [id['shop'], id['own'], id['bobs']] = [
    await made(org),
    await made(ada.account),
    await made(bob.account, bob.token),
  ];
  const shop = (scopes['shop'] = joined('organizationProject', orgId, id['shop'] ?? ''));
  scopes['account'] = ada.account;
  scopes['own'] = joined('accountProject', ada.account.id, id['own'] ?? '');
  const file = { scope: shop, name: 'File', slug: 'file', actions: ['read'] };
  const resourceId = (await app.must('createResource', file, as)).id;
  const about = { scope: shop, resourceId, action: 'read', condition: isInvoice };
  const permission = await app.must('createPermission', about, as);
  const permissionIds = [
    permission.id,
    permissionIdOf('Tag:Query'),
    permissionIdOf('OrganizationMember:Query'),
  ];
  const group = await app.must(
    'createGroup',
    { scope: shop, name: 'G', permissionIds, metadata: { g: 1 } },
    as,
  );
  const role = { scope: shop, name: 'Reader', groupIds: [group.id], metadata: { r: 1 } };
  Object.assign(id, {
    permission: permission.id,
    group: group.id,
    reader: (await app.must('createRole', role, as)).id,
  });
  const user = async (scope: ScopeRef, roleId: string, more: object) =>
    idOf(await app.raw('createUser', { scope, roleIds: [roleId], ...more }, as));
  const viewer = roleIdOf('Organization Viewer');
  id['mia'] = await user(org, viewer, { name: 'Mia', metadata: { level: 1, team: 'a' } });
  await user(shop, id['reader'] ?? '', { userId: id['mia'], metadata: { level: 2 } });
  id['nia'] = await user(org, viewer, { name: 'Nia' });
  id['pete'] = await user(shop, id['reader'] ?? '', { name: 'Pete' });
  id['gone'] = await user(org, viewer, { name: 'Gone' });
  await app.must('updateUser', { scope: org, id: id['gone'], status: 'disabled' }, as);
  const key = async (scope: ScopeRef, more: object = {}) =>
    idOf(await app.raw('createApiKey', { scope, ...more }, as));
  id['key'] = await key(shop, { roleId: id['reader'] });
  id['userKey'] = await key(joined('projectUser', id['shop'] ?? '', id['mia']));
  const strict = await app.must('createOrganization', { scope: ada.account, name: 'S' }, as);
  scopes['strict'] = joined('organization', strict.id);
  const strictShop = { scope: scopes['strict'], name: 'P' };
  scopes['strictShop'] = (await app.must('createProject', strictShop, as)).scope;
  const wanted = { scope: scopes['strict'], id: strict.id, requireMfaForSensitiveActions: true };
  await app.must('updateOrganization', wanted, as);
});
// A new resolver for each test, so that no cache entry is left.
beforeEach(() => {
  resolver = createResolver(app.database.pool, changes, rows, noOperators);
});
afterAll(async () => {
  await changes.close();
  await app.close();
});

const session = (who: string, more: Partial<Principal> = {}): Principal => ({
  ...{ type: 'session', userId: id[who] ?? who, credentialId: randomUUID(), name: null, emailVerified: true },
  ...{ verificationDeadline: null, acr: 'aal1', mfaPending: false, authenticatedAt: null },
  ...{ pinned: null, consented: null, origins: [] },
  ...more,
});
const keyOf = (name: string, who: string): Principal =>
  session(who, { type: 'ApiKey', credentialId: id[name] ?? MISSING, pinned: scopes['shop'] ?? null });
/** `own:mia` is Mia's scope in the shop. */
const at = (name: string): ScopeInput =>
  name.startsWith('own:')
    ? joined('projectUser', id['shop'] ?? '', id[name.slice(4)] ?? name.slice(4))
    : (scopes[name] as ScopeRef);
const match = async (who: Principal, where: ScopeInput): Promise<ScopeAndRights> => {
  const answer = await resolver.resolve(who, where);
  if (!answer) throw new Error('no such scope');
  return answer;
};
const namesOf = ({ grants }: Pick<CallerRights, 'grants'>): string[] =>
  effectivePermissions(grants).map(
    ({ resource, action, conditional }) => `${resource}:${action}${conditional ? '?' : ''}`,
  );
const ofReader = ['Tag:Query', 'file:read?'];

describe('a scope', () => {
  const named = (names: readonly string[]) => names.map((name) => id[name] ?? name).join(':');

  it.each<[TenantSpelling, string[], Partial<Record<keyof ResolvedScope, unknown>>]>([
    [
      'account',
      ['account'],
      { nodeId: 'account', accountId: 'account', level: 'account', accountType: 'organization' },
    ],
    [
      'organization',
      ['org'],
      {
        nodeId: 'org',
        parentId: 'account',
        organizationId: 'org',
        level: 'organization',
        accountType: 'organization',
      },
    ],
    [
      'accountProject',
      ['account', 'own'],
      {
        nodeId: 'own',
        parentId: 'account',
        accountId: 'account',
        projectId: 'own',
        accountType: 'organization',
      },
    ],
    [
      'OrganizationProject',
      ['org', 'shop'],
      { nodeId: 'shop', parentId: 'org', organizationId: 'org', projectId: 'shop' },
    ],
    [
      'ProjectUser',
      ['shop', 'mia'],
      { nodeId: 'shop', parentId: 'org', organizationId: 'org', projectId: 'shop', userId: 'mia' },
    ],
    [
      'projectUser',
      ['shop', MISSING],
      {
        nodeId: 'shop',
        parentId: 'org',
        organizationId: 'org',
        projectId: 'shop',
        userId: MISSING,
        userInProject: false,
      },
    ],
    [
      'projectUser',
      ['shop', 'bob'],
      {
        nodeId: 'shop',
        parentId: 'org',
        organizationId: 'org',
        projectId: 'shop',
        userId: 'bob',
        userInProject: false,
      },
    ],
  ])('%s of %j', async (tenant, names, expected) => {
    const nothing = { parentId: null, accountId: null, organizationId: null, projectId: null, userId: null };
    const usual = {
      rootId: 'account',
      userInProject: true,
      level: 'project',
      accountType: null,
      requireMfa: false,
      supportAccess: true,
      isSuspended: false,
      enforcedDomains: [],
      grant: null,
      organizationMetadata: 'organizationId' in expected ? {} : null,
    };
    const whole = { ...nothing, ...usual, ...expected };
    expect(await resolver.scopeOf({ tenant, id: named(names) })).toEqual({
      tenant: tenant.charAt(0).toLowerCase() + tenant.slice(1),
      id: named(names),
      ...Object.fromEntries(
        Object.entries(whole).map(([key, value]) => [
          key,
          key.endsWith('Id') ? (id[value as string] ?? value) : value,
        ]),
      ),
    });
  });

  it.each<[TenantSpelling, string[]]>([
    ...([
      ['account', ['org']],
      ['account', ['shop']],
      ['account', [MISSING]],
    ] as [TenantSpelling, string[]][]),
    ...([
      ['organization', ['account']],
      ['organization', ['shop']],
    ] as [TenantSpelling, string[]][]),
    ...([
      ['accountProject', ['org', 'shop']],
      ['accountProject', ['account', 'shop']],
    ] as [TenantSpelling, string[]][]),
    ...([
      ['accountProject', ['own', 'account']],
      ['accountProject', ['account', 'org']],
    ] as [TenantSpelling, string[]][]),
    ...([
      ['organizationProject', ['account', 'own']],
      ['organizationProject', ['org', 'own']],
    ] as [TenantSpelling, string[]][]),
    ...([
      ['organizationProject', ['account', 'org']],
      ['projectUser', ['org', 'mia']],
    ] as [TenantSpelling, string[]][]),
    ...([
      ['projectUser', ['account', 'ada']],
      ['projectUser', ['mia', 'shop']],
    ] as [TenantSpelling, string[]][]),
  ])('%s of %j is none', async (tenant, names) => {
    expect(await resolver.scopeOf({ tenant, id: named(names) })).toBeNull();
    expect(await resolver.resolve(session('ada'), { tenant, id: named(names) })).toBeNull();
  });

  it('has whether its organization requires a second factor', async () => {
    for (const name of ['strict', 'strictShop'])
      expect((await resolver.scopeOf(at(name)))?.requireMfa, name).toBe(true);
  });
});

describe('rights', () => {
  const all = (...parts: string[]) => expect.arrayContaining(parts) as string[];

  it.each<[string, string, string, Partial<CallerRights['subject']>, string[]]>([
    [
      'ada',
      'account',
      'active',
      { ownsAccount: true, related: true },
      all('Project:Create', 'Organization:Create'),
    ],
    ['ada', 'own', 'active', { ownsAccount: true, related: true, memberRoleId: null }, all('ApiKey:Create')],
    [
      'ada',
      'org',
      'active',
      { ownsAccount: false, memberRoleId: ORGANIZATION_OWNER },
      all('Organization:Delete'),
    ],
    ['mia', 'org', 'active', { projectRoleIds: [], related: true }, all('Organization:Query')],
    ['mia', 'shop', 'active', { related: true, alive: true }, all('Role:Query', 'file:read?')],
    ['pete', 'shop', 'active', { memberRoleId: null, related: true }, ofReader],
    ['bob', 'shop', 'outside', { related: false, alive: true, memberRoleId: null, projectRoleIds: [] }, []],
    ['gone', 'org', 'inactive', { related: true, alive: false }, []],
    [MISSING, 'org', 'outside', { related: false, alive: false, user: null }, []],
    ['pete', 'own:pete', 'active', { related: true }, ofReader],
    ['nia', 'own:mia', 'active', { related: true }, []],
    ['ada', 'own:mia', 'active', { related: true }, ['ApiKey:Create']],
  ])('of %s in %s: %s', async (who, where, state, membership, names) => {
    const { rights } = await match(session(who), at(where));
    expect([rights.grants.membership, rights.subject, rights.keyRoleId]).toMatchObject([
      state,
      membership,
      null,
    ]);
    expect(namesOf(rights)).toEqual(names);
    expect(rights.projectGrants === undefined).toBe(!where.startsWith('own:') || where === `own:${who}`);
    // Permissions on an organization itself have no effect in a project.
    if (where !== 'org' && where !== 'account') expect(namesOf(rights).join()).not.toContain('Organization');
    // `rightsOfUser` has the same result.
    const callerRights = await resolver.rightsOfUser(
      (await match(session('ada'), at(where))).scope,
      id[who] ?? who,
    );
    const within = await app.database.transaction(async (tx) =>
      resolver.rightsOfUser((await match(session('ada'), at(where))).scope, id[who] ?? who, tx),
    );
    for (const item of [callerRights, within]) {
      expect(namesOf(item)).toEqual(namesOf(rights));
      expect(item.grants.membership).toBe(state === 'active' ? 'active' : 'inactive');
      expect([item.subject, item.keyRoleId]).toEqual([rights.subject, null]);
    }
  });

  it('have the attributes for conditions: of the project before the organization', async () => {
    const { user, scope } = (await match(session('mia'), at('shop'))).rights.grants;
    expect(user).toEqual({
      ...{ id: id['mia'], name: 'Mia', email: null, emailVerified: false, metadata: { level: 2, team: 'a' } },
    });
    const shop = { ...scopes['shop'], organizationId: id['org'], projectId: id['shop'] };
    expect(scope).toEqual(shop);
    const inOrg = (await match(session('mia'), at('org'))).rights.grants;
    expect(inOrg.user).toMatchObject({ metadata: { level: 1, team: 'a' } });
    expect(inOrg.scope).toEqual({ ...scopes['org'], organizationId: id['org'] });
    expect((await match(session('ada'), at('own'))).rights.grants.scope).toMatchObject({
      accountId: id['account'],
    });
  });

  it('have the whole path, each role and group once', async () => {
    const { held } = (await match(session('pete'), at('shop'))).rights.grants;
    const [candidate] = held.project.get('file')?.get('read')?.conditional ?? [];
    expect(candidate).toMatchObject({
      permission: { id: id['permission'], resource: 'file', action: 'read' },
      condition: isInvoice,
      role: { id: id['reader'], name: 'Reader', metadata: { r: 1 } },
      group: { id: id['group'], name: 'G', metadata: { g: 1 } },
    });
    expect((await match(session('ada'), at('own'))).rights.subject).toMatchObject({ ownsAccount: true });
    expect(ACCOUNT_OWNER).not.toBe(ORGANIZATION_OWNER);
  });

  it('of a key are those of its role, or of its user', async () => {
    const project = (await match(keyOf('key', 'ada'), at('shop'))).rights;
    expect([project.keyRoleId, namesOf(project)]).toEqual([id['reader'], ofReader]);
    const own = (await match(keyOf('userKey', 'mia'), at('own:mia'))).rights;
    expect([own.keyRoleId, namesOf(own)]).toEqual([null, all('Role:Query', 'file:read?')]);
    // A key works although its creator is not in the scope; an unknown key has the rights of its user.
    expect((await match(keyOf('key', 'bob'), at('shop'))).rights.grants.membership).toBe('active');
    expect((await match(keyOf('userKey', 'bob'), at('shop'))).rights.grants.membership).toBe('inactive');
    expect((await match(keyOf('none', 'bob'), at('shop'))).rights.grants.membership).toBe('outside');
  });

  it('of an app are the consented scopes, or the project plane', async () => {
    const ofApp = (consented: string[] | null): Principal =>
      session('mia', {
        type: 'projectApp',
        pinned: scopes['shop'] ?? null,
        consented: consented && new Set(consented),
      });
    const names = async (consented: string[] | null) =>
      namesOf((await match(ofApp(consented), at('shop'))).rights);
    expect(await names(null)).toEqual(['file:read?']);
    expect(await names(['Role:Query', 'file:pay'])).toEqual(['Role:Query']);
    expect(await names(['file:read'])).toEqual(['file:read?']);
    expect(await names([])).toEqual([]);
    expect((await match(session('mia'), at('shop'))).rights.grants).not.toHaveProperty('projectPlaneOnly');
  });
});

describe('a token that is pinned to a project', () => {
  const pinned = (to: ScopeRef) => session('ada', { pinned: to });

  it('reaches only this project, without and with a warm cache', async () => {
    for (const to of [at('shop'), at('own:mia')] as ScopeRef[])
      for (const where of ['shop', 'org', 'own', 'own:mia', 'shop', 'own'])
        expect((await resolver.resolve(pinned(to), at(where))) !== null, where).toBe(/shop|mia/.test(where));
    expect(await resolver.resolve(pinned(at('own')), at('own'))).not.toBeNull();
  });
});

describe('the cache', () => {
  /** A cached result is returned synchronously, not as a promise. */
  const isKept = (who: Principal, where: ScopeInput) => !(resolver.resolve(who, where) instanceof Promise);

  it.each<[string, () => Principal, string, string[]]>([
    ['of a session', () => session('mia'), 'own:mia', ['node:shop', 'node:org', 'user:mia']],
    ['in an account', () => session('ada'), 'account', ['node:account', 'user:ada']],
    ['of a key', () => keyOf('key', 'ada'), 'shop', ['credential:key', 'node:shop', 'node:org', 'user:ada']],
    ['about another', () => session('ada'), 'own:mia', ['user:mia', 'user:ada', 'node:shop']],
  ])('%s, until one of its topics changes', async (_, who, where, topics) => {
    const [asker, scope] = [who(), at(where)];
    await resolver.resolve(asker, scope);
    for (const topic of topics) {
      expect(isKept(asker, scope), topic).toBe(true);
      expect(isKept(asker, scope), topic).toBe(true);
      const [kind, name = ''] = topic.split(':');
      changes.apply([`${kind}:${id[name]}`]);
      expect(isKept(asker, scope), topic).toBe(false);
      await resolver.resolve(asker, scope);
    }
    changes.apply([`node:${MISSING}`, `user:${MISSING}`, `credential:${MISSING}`]);
    expect(isKept(asker, scope)).toBe(true);
  });

  it('distinguishes scopes and callers', async () => {
    const asker = session('ada');
    const [shop, own] = [at('shop'), at('own')];
    const result = async (who: Principal, where: ScopeInput) =>
      (await resolver.resolve(who, where))?.scope.id;
    for (let time = 0; time < 3; time++) {
      expect(await result(asker, shop)).toBe(shop.id);
      expect(await result(asker, own)).toBe(own.id);
      expect(await result(keyOf('key', 'ada'), own)).toBeUndefined();
    }
  });

  it('is shared by the sessions of one user only', async () => {
    await resolver.resolve(session('pete'), at('shop'));
    expect(isKept(session('pete'), at('shop'))).toBe(true);
    for (const [who, where] of [
      [session('nia'), at('shop')],
      [session('pete'), at('own:pete')],
      [session('pete', { type: 'projectApp' }), at('shop')],
      [keyOf('key', 'pete'), at('shop')],
    ] as const)
      expect(isKept(who, where)).toBe(false);
  });

  it('distinguishes keys and consented scopes', async () => {
    const app = (consented: string[]) =>
      session('mia', { type: 'projectApp', credentialId: MISSING, consented: new Set(consented) });
    await resolver.resolve(app(['b:c', 'a:b']), at('shop'));
    expect(isKept(app(['a:b', 'b:c']), at('shop'))).toBe(true);
    expect(isKept(app(['a:b']), at('shop'))).toBe(false);
    expect(isKept(app(['a:b', 'b:d']), at('shop'))).toBe(false);
  });

  it('has the rights of another user until they change, and no unknown users', async () => {
    const { scope } = await match(session('ada'), at('shop'));
    const isKeptOf = (who: string) => !(resolver.rightsOfUser(scope, id[who] ?? who) instanceof Promise);
    await resolver.rightsOfUser(scope, id['mia'] ?? '');
    expect(isKeptOf('mia')).toBe(true);
    expect(isKeptOf('pete')).toBe(false);
    const other = (await match(session('ada'), at('own:mia'))).scope;
    expect(resolver.rightsOfUser(other, id['mia'] ?? '') instanceof Promise).toBe(true);
    for (const topic of ['user:mia', 'node:shop', 'node:org']) {
      const [kind, name = ''] = topic.split(':');
      await resolver.rightsOfUser(scope, id['mia'] ?? '');
      changes.apply([`${kind}:${id[name]}`]);
      expect(isKeptOf('mia'), topic).toBe(false);
    }
    expect(await resolver.rightsOfUser(scope, MISSING)).toMatchObject({ grants: { membership: 'inactive' } });
    expect(isKeptOf(MISSING)).toBe(false);
  });
});
