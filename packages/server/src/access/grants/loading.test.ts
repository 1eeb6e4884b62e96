import { sql } from 'drizzle-orm';
import { decodeJwt } from 'jose';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { joined } from '../../../test/contract/world.ts';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import type { Person } from '../../../test/support/app/client.ts';
import { openChanges, type Changes } from '../../db/cache/changes.ts';
import type { DoorwardError } from '../../errors.ts';
import type { CallerRights } from '../../kernel/call/caller-rights.ts';
import type { ResolvedScope, ScopeRef } from '../../kernel/scope.ts';
import { declaredPermissions, operations } from '../../operations.ts';
import { builtIns } from '../built-in.ts';
import { permissionIdOf, roleIdOf } from '../../schema/rights/built-in-ids.ts';
import { createCredentials, type Credentials } from '../credentials/credentials.ts';
import { indexPermissions, type Grants } from '@doorward/decision/evaluate';
import { assertCanChange, assertCanGrant, permissionsOf } from '../delegation/delegation.ts';
import { unknownSubject } from './grants.ts';
import { createPermissionIndexCache } from './permission-index-cache.ts';
import { createApiKeyCache, USE_NOTED_MS, type ApiKeyCache } from '../credentials/api-key-cache.ts';
import { createResolver } from '../resolve.ts';
import { noOperators } from '../../../test/support/tenants/operators.ts';

/** The state of keys, sessions and roles with their permissions, and how long it is cached. */
let app: TestApp;
let changes: Changes;
let owner: Person;
let shop: ScopeRef;
let account: ResolvedScope;
let inShop: ResolvedScope;
let keys: ApiKeyCache;
let credentials: Credentials;
let late: Person;
let role: { id: string; groupId: string; permissionId: string };
const rows = builtIns(declaredPermissions(operations));
const as = () => ({ token: owner.token });
const MISSING = '5f0c7b0e-8a0b-4f43-9d55-2f1f6a1f0a11';
const expiresAt = '2036-01-02T03:04:05.000Z';
interface Key {
  readonly id: string;
  readonly clientId: string;
}
const keysMade: Record<string, Key> = {};
const key = (name: string): Key => keysMade[name] as Key;
const drafts = { Equals: { 'resource.status': 'draft' } };

beforeAll(async () => {
  app = await startApp();
  changes = await openChanges(app.database, () => undefined);
  owner = await app.person({ name: 'Owner' });
  ({ scope: shop } = await app.must('createProject', { scope: owner.account, name: 'P' }, as()));
  const file = { scope: shop, name: 'File', slug: 'file', actions: ['read'] };
  const { id: resourceId } = await app.must('createResource', file, as());
  const about = { scope: shop, resourceId, action: 'read', condition: drafts };
  const { id: permissionId } = await app.must('createPermission', about, as());
  const permissionIds = [permissionId, permissionIdOf('Organization:Query')];
  const group = await app.must('createGroup', { scope: shop, name: 'G', permissionIds }, as());
  const { id } = await app.must('createRole', { scope: shop, name: 'R', groupIds: [group.id] }, as());
  role = { id, groupId: group.id, permissionId };
  const resolver = createResolver(app.database.pool, changes, rows, noOperators);
  [account, inShop] = (await Promise.all([owner.account, shop].map((item) => resolver.scopeOf(item)))) as [
    ResolvedScope,
    ResolvedScope,
  ];
  const newKey = async (name: string, more: object = {}) => {
    const { data } = await app.raw('createApiKey', { scope: shop, name: 'Robot', ...more }, as());
    keysMade[name] = data as Key;
  };
  await newKey('full', { roleId: role.id, allowedCidrs: ['10.0.0.0/8'] });
  await newKey('rotated');
  await newKey('ending', { expiresAt, allowedCidrs: ['10.0.0.0/8'] });
  await newKey('mine', { scope: own() });
  late = await app.person({ verified: false });
});
// New caches for each test.
beforeEach(() => {
  keys = createApiKeyCache(app.database.pool, changes);
  credentials = createCredentials(app.database.pool, changes, noOperators);
});
afterAll(async () => {
  await changes.close();
  await app.close();
});

const own = () => joined('projectUser', inShop.nodeId, owner.userId);

/** Checks that an entry is cached until one of its topics changes, and stays when another topic does. */
async function isKeptUntil(topics: string[], load: () => unknown, isKept: () => boolean): Promise<void> {
  for (const topic of topics) {
    await load();
    changes.apply([`node:${MISSING}`, `user:${MISSING}`, `credential:${MISSING}`, `session:${MISSING}`]);
    expect(isKept(), topic).toBe(true);
    changes.apply([topic]);
    expect(isKept(), topic).toBe(false);
  }
}

describe('the state of a key for an exchange', () => {
  it('has all members', async () => {
    const { id, clientId } = key('full');
    expect(await keys.read(clientId)).toEqual({
      ...{ id, clientId, nodeId: inShop.nodeId, issuerId: inShop.nodeId, nodeScope: shop },
      ...{ roleId: role.id, userId: owner.userId },
      ...{ scope: { tenant: 'AccountProject', id: shop.id }, userName: 'Owner', userAlive: true },
      ...{
        isGranted: true,
        owners: [owner.account.id],
        expiresAt: null,
        accessTokenProfile: 'doorward',
        expired: false,
        revoked: false,
        allowedCidrs: ['10.0.0.0/8'],
        rotatedAt: null,
      },
      ...{ secrets: [{ id: expect.any(String) as string, hash: expect.any(Buffer) as Buffer, ends: false }] },
      ...{ kid: expect.any(String) as string, useNotedUntil: 0 },
      ...{ overdueFrom: null, accountOwnerId: owner.userId },
    });
    expect((await keys.read(clientId))?.secrets[0]?.hash).toHaveLength(32);
    expect(await keys.read(MISSING)).toBeNull();
    expect(keys.peek(MISSING)).toBeUndefined();
  });

  it('has which of its secrets expires', async () => {
    const { id, clientId } = key('rotated');
    await app.must('rotateApiKey', { scope: shop, id, graceSeconds: 300 }, as());
    const ends = (await keys.read(clientId))?.secrets.map((secret) => secret.ends);
    expect(ends?.sort()).toEqual([false, true]);
  });

  it('has its expiry, and until when its last use is recorded', async () => {
    const { id, clientId } = key('ending');
    await app.database.pool.execute(sql`update api_keys set last_used_at = now() where id = ${id}::uuid`);
    const before = performance.now();
    const cachedApiKey = await keys.read(clientId);
    expect(cachedApiKey?.expiresAt).toEqual(new Date(expiresAt));
    const left = Number(cachedApiKey?.useNotedUntil) - before;
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(USE_NOTED_MS + performance.now() - before);
    expect(USE_NOTED_MS).toBe(60_000);
  });

  it('is cached until one of its topics changes', async () => {
    const { id, clientId } = key('full');
    const topics = [`node:${inShop.nodeId}`, `user:${owner.userId}`, `credential:${id}`];
    const read = () => keys.read(clientId);
    await isKeptUntil(topics, read, () => keys.peek(clientId) !== undefined);
  });
});

describe('the state behind a token', () => {
  it('of a key', async () => {
    const { id } = key('ending');
    expect(await credentials.key(id)).toEqual({
      ...{ userId: owner.userId, name: 'Robot', issuerId: inShop.nodeId, alive: true, scope: shop },
      ...{ allowedCidrs: ['10.0.0.0/8'], expiresAt: new Date(expiresAt), overdueFrom: null },
    });
    const mine = key('mine');
    expect(await credentials.key(mine.id)).toMatchObject({ scope: own(), expiresAt: null, alive: true });
    expect(await credentials.key(MISSING)).toBeNull();
    const isKept = () => !(credentials.key(id) instanceof Promise);
    const topics = [
      `credential:${id}`,
      `node:${inShop.nodeId}`,
      `node:${account.nodeId}`,
      `user:${owner.userId}`,
    ];
    await isKeptUntil(topics, () => credentials.key(id), isKept);
  });

  it('of a session', async () => {
    const id = String(decodeJwt(owner.token).jti);
    const state = await credentials.session(id);
    expect(state).toEqual({
      ...{
        kind: 'browser',
        userId: owner.userId,
        name: 'Owner',
        emailVerified: true,
        acr: 'aal1',
        app: null,
        boundTo: null,
        impersonator: null,
        impersonatorSessionId: null,
      },
      ...{ verificationDeadline: null, overdueFrom: null, mfaPending: false, alive: true },
      ...{ authenticatedAt: expect.any(Date) as Date, expiresAt: expect.any(Date) as Date },
    });
    expect(Number(state?.expiresAt)).toBeGreaterThan(Number(state?.authenticatedAt));
    expect(await credentials.session(MISSING)).toBeNull();
    const isKept = () => !(credentials.session(id) instanceof Promise);
    await isKeptUntil([`session:${id}`, `user:${owner.userId}`], () => credentials.session(id), isKept);
  });

  it('of a session that is not verified yet', async () => {
    const id = String(decodeJwt(late.token).jti);
    const state = await credentials.session(id);
    expect(state?.emailVerified).toBe(false);
    expect(state?.verificationDeadline).toBeInstanceOf(Date);
  });
});

describe('the permissions of roles', () => {
  const createCache = () => createPermissionIndexCache(app.database.pool, changes, rows);
  const viewer = roleIdOf('Project Viewer');

  it('are compiled once for all subjects with the same roles, in any order', async () => {
    const permissionIndexCache = createCache();
    const custom = await permissionIndexCache.forRoles(inShop, [role.id, viewer]);
    expect(await permissionIndexCache.forRoles(inShop, [viewer, role.id])).toBe(custom);
    expect(await permissionIndexCache.forRoles(inShop, [viewer])).not.toBe(custom);
    expect([...custom.project.keys(), custom.management.has('Role')]).toEqual(['file', true]);
    expect(custom.management.has('Organization')).toBe(false);
    // In an organization, permissions on its own nouns have effect.
    const wider = await permissionIndexCache.forRoles({ ...inShop, level: 'organization' }, [role.id]);
    expect(wider.management.has('Organization')).toBe(true);
    const nothing = await permissionIndexCache.forRoles(inShop, []);
    expect([nothing.project.size, nothing.management.size, nothing.managementNouns]).toEqual([
      0,
      0,
      rows.nouns,
    ]);
    expect(await permissionIndexCache.forRoles(account, [])).toBe(nothing);
  });

  it('of built-in roles are shared by all tenants, and no change of a tenant invalidates them', async () => {
    const permissionIndexCache = createCache();
    const here = await permissionIndexCache.forRoles(inShop, [viewer]);
    const elsewhere = { ...inShop, nodeId: MISSING, parentId: null };
    expect(await permissionIndexCache.forRoles(elsewhere, [viewer])).toBe(here);
    expect(await permissionIndexCache.forRoles({ ...inShop, level: 'account' }, [viewer])).not.toBe(here);
    changes.apply([`node:${inShop.nodeId}`, `node:${account.nodeId}`]);
    expect(await permissionIndexCache.forRoles(inShop, [viewer])).toBe(here);
    const custom = await permissionIndexCache.forRoles(inShop, [role.id]);
    expect(await permissionIndexCache.forRoles(elsewhere, [role.id])).not.toBe(custom);
    expect(await permissionIndexCache.forRoles(inShop, [viewer, role.id])).not.toBe(here);
  });

  it('of custom roles are cached until the project or its owner changes; of roles of the owner alone, until the owner does', async () => {
    const permissionIndexCache = createCache();
    const isSame = async (ofOwner: boolean | undefined, topic: string) => {
      const before = await permissionIndexCache.forRoles(inShop, [role.id], ofOwner);
      changes.apply([topic]);
      return (await permissionIndexCache.forRoles(inShop, [role.id], ofOwner)) === before;
    };
    const [project, above] = [`node:${inShop.nodeId}`, `node:${account.nodeId}`];
    expect([await isSame(undefined, project), await isSame(undefined, above)]).toEqual([false, false]);
    expect([await isSame(true, project), await isSame(true, above)]).toEqual([true, false]);
    // An account has no parent node.
    const before = await permissionIndexCache.forRoles(account, [role.id], true);
    changes.apply([`node:${account.nodeId}`]);
    expect(await permissionIndexCache.forRoles(account, [role.id], true)).not.toBe(before);
  });

  it('are not cached for a transaction, and have an estimated size', async () => {
    const permissionIndexCache = createCache();
    const kept = await permissionIndexCache.forRoles(inShop, [role.id]);
    const inside = await app.database.transaction((tx) => permissionIndexCache.loadIn(tx, inShop, [role.id]));
    expect([...inside.project.keys()]).toEqual([...kept.project.keys()]);
    expect(inside).not.toBe(kept);
    // One path with its condition, role and group.
    const texts = [drafts, ...['R', 'G'].map((name) => ({ id: role.id, name, metadata: {} }))];
    const said = texts.reduce((sum, item) => sum + JSON.stringify(item).length, 0);
    expect(permissionIndexCache.bytesOf(kept)).toBe(1000 + 600 + 8 * said);
    expect(permissionIndexCache.bytesOf(inside)).toBe(permissionIndexCache.bytesOf(kept));
    expect(permissionIndexCache.bytesOf(indexPermissions([], rows.nouns))).toBe(0);
  });
});

describe('delegated permissions', () => {
  const file = { resource: 'file', action: 'read', managementPlane: false, condition: drafts };
  const organization = { resource: 'Organization', action: 'Query', managementPlane: true, condition: null };
  const leadingTo = (scope: Pick<ResolvedScope, 'level' | 'nodeId'>, bundle: object) =>
    app.database.transaction((tx) => permissionsOf(tx, scope, bundle));

  it('are all permissions of the roles, groups and permissions of the tenant', async () => {
    for (const bundle of [
      { roleIds: [role.id] },
      { groupIds: [role.groupId] },
      { permissionIds: [role.permissionId] },
    ])
      expect(await leadingTo(inShop, bundle)).toEqual([file]);
    const wider = await leadingTo({ ...inShop, level: 'organization' }, { roleIds: [role.id] });
    expect(wider).toHaveLength(2);
    expect(wider).toEqual(expect.arrayContaining([file, organization]));
    expect(await leadingTo(inShop, { permissionIds: [permissionIdOf('Role:Query')] })).toMatchObject([
      { resource: 'Role', managementPlane: true },
    ]);
    expect(await leadingTo(inShop, { permissionIds: [permissionIdOf('Organization:Query')] })).toEqual([]);
  });

  it('are empty for unknown and foreign rows, without a statement for an empty list', async () => {
    expect(
      await leadingTo(inShop, { roleIds: [MISSING], groupIds: [MISSING], permissionIds: [MISSING] }),
    ).toEqual([]);
    const other = { level: 'project', nodeId: randomUUID() } as const;
    expect(await leadingTo(other, { groupIds: [role.groupId] })).toEqual([]);
    expect(await leadingTo(other, { permissionIds: [role.permissionId] })).toEqual([]);
    expect(await app.spent(() => permissionsOf(app.database.pool, inShop, {}))).toEqual([]);
  });

  it('must be held by the granter, in the project if they act for another user', async () => {
    const grants = (held: Grants['held']): Grants => ({ membership: 'active', user: null, scope: {}, held });
    const none = grants(indexPermissions([], rows.nouns));
    const everything = grants(
      await createPermissionIndexCache(app.database.pool, changes, rows).forRoles(inShop, [role.id]),
    );
    const rights = (own: Grants, projectGrants?: Grants): CallerRights => ({
      ...{ grants: own, subject: unknownSubject, keyRoleId: null },
      ...(projectGrants && { projectGrants }),
    });
    const code = async (work: Promise<void>) =>
      work.then(() => 'done').catch((error: unknown) => (error as DoorwardError).code);
    const bundle = { roleIds: [role.id] };
    const give = (callerRights: CallerRights) =>
      code(assertCanGrant(app.database.pool, inShop, callerRights, bundle));
    expect(await give(rights(everything))).toBe('done');
    expect(await give(rights(none))).toBe('PRIVILEGE_ESCALATION');
    expect(await give(rights(none, everything))).toBe('done');
    expect(await give(rights(everything, none))).toBe('PRIVILEGE_ESCALATION');
    const change = (callerRights: CallerRights, isSystem: boolean) =>
      code(assertCanChange(app.database.pool, inShop, callerRights, bundle, { isSystem }));
    expect(await change(rights(everything), false)).toBe('done');
    expect(await change(rights(none), false)).toBe('PRIVILEGE_ESCALATION');
    expect(await change(rights(none), true)).toBe('SYSTEM_ENTITY');
  });
});
