import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { roleIdOf } from '../../schema/rights/built-in-ids.ts';
import { SYSTEM_NODE } from '../../schema/nodes.ts';
import type { JsonObject } from '../../kernel/input/values.ts';
import type { ScopeRef } from '../../kernel/scope.ts';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { unique, type Person } from '../../../test/support/app/client.ts';
import { firmOf, type Firm } from '../../../test/support/tenants/firm.ts';
import { openAppSession } from '../../../test/support/app/app-session.ts';
import { snapshotReader, type Reader } from '../../../test/support/tenants/snapshots.ts';

/** What a policy snapshot contains, for whom, and how it is answered (packages §8.1, §8.2). */
let app: TestApp;
let firm: Firm;
let owner: Person;
let scope: ScopeRef;
let as: { token: string };
let reader: Reader;

beforeAll(async () => {
  app = await startApp();
  firm = await firmOf(app);
  ({ owner, project: scope } = firm);
  as = { token: owner.token };
  reader = snapshotReader(app, scope, owner.token);
});
afterAll(() => app.close());

const anyText = expect.any(String) as string;
const matching = (form: RegExp): string => expect.stringMatching(form) as string;

/** A role with one permission `orders<n>:read` under a condition. */
async function roleOn(condition: object | null, fields: { metadata?: JsonObject } = {}) {
  const slug = `orders${unique()}`;
  const resource = await app.must('createResource', { scope, name: 'Orders', slug, actions: ['read'] }, as);
  const permission = await app.must(
    'createPermission',
    { scope, resourceId: resource.id, action: 'read', condition: condition as never },
    as,
  );
  const group = await app.must(
    'createGroup',
    { scope, name: `G ${unique()}`, permissionIds: [permission.id], metadata: { region: 'eu', secret: 'g' } },
    as,
  );
  const role = await app.must(
    'createRole',
    { scope, name: `R ${unique()}`, groupIds: [group.id], ...fields },
    as,
  );
  return { slug, resource, permission, group, role };
}

const userIn = (roleIds: string[], metadata: JsonObject = {}) =>
  app.must('createUser', { scope, name: `User ${unique()}`, roleIds, metadata }, as);

describe('a snapshot', () => {
  it('is a signed document of its own type, with the claims of the contract', async () => {
    const before = app.clock.now().getTime();
    const { header, claims } = await reader.snapshot();
    const [organizationId, projectId] = scope.id.split(':');
    expect(header).toEqual({ alg: 'RS256', typ: 'doorward-snapshot+jwt', kid: anyText });
    expect(claims).toMatchObject({
      iss: `http://localhost:4000/org/${organizationId}/prj/${projectId}`,
      aud: 'doorward-snapshot',
      sub: projectId,
      format: 1,
      version: matching(/^[\w-]{1,64}$/),
      revision: matching(/^[\w-]{22}$/),
      scope: { tenant: 'organizationProject', id: scope.id, organizationId, projectId },
      userFilter: 'all',
      ended: { jti: [], issuedBefore: null, kids: [] },
    });
    expect(claims.exp - claims.iat).toBe(86_400);
    expect(claims.asOf).toBeGreaterThanOrEqual(before);
    expect(claims.asOf).toBeLessThanOrEqual(app.clock.now().getTime());
    expect(Math.floor(claims.asOf / 1000)).toBe(claims.iat);
    expect(Number.isSafeInteger(claims.sequence)).toBe(true);
    expect(claims.nouns).toContain('PolicySnapshot');
  });

  it('has its version as ETag, answers 304 to it, and is equal until something changes', async () => {
    const first = await reader.raw('');
    expect(first.headers).toMatchObject({
      'content-type': 'application/jwt',
      'cache-control': 'private, no-cache',
      ratelimit: matching(/"check"/),
    });
    const etag = String(first.headers.etag);
    const { claims } = await reader.snapshot();
    expect(etag).toBe(`"${claims.version}"`);
    const again = await reader.raw('', {}, { 'if-none-match': etag });
    expect([again.status, again.body]).toEqual([304, '']);
    await userIn([roleIdOf('Project Viewer')]);
    const changed = await reader.raw('', {}, { 'if-none-match': etag });
    expect(changed.status).toBe(200);
    expect(changed.headers.etag).not.toBe(etag);
  });

  it('is not made and signed for a client that has it', async () => {
    const project = await app.must('createProject', { scope: firm.organization, name: 'Unsigned' }, as);
    const { etag } = (await snapshotReader(app, project.scope, owner.token).raw('')).headers;
    const other = await startApp({}, app);
    try {
      await other.owner.execute(sql`
        delete from signing_key_secrets where key_id in
          (select id from signing_keys where tenant_id = ${project.id}::uuid)`);
      const unsigned = snapshotReader(other, project.scope, owner.token);
      for (const versions of [String(etag), `W/"other", ${String(etag)}`, '*']) {
        const answer = await unsigned.raw('', {}, { 'if-none-match': versions });
        expect([answer.status, answer.body, answer.headers.etag]).toEqual([304, '', etag]);
        expect(answer.headers['cache-control']).toBe('private, no-cache');
      }
      expect((await unsigned.raw('', {}, { 'if-none-match': '"other"' })).status).toBe(500);
    } finally {
      await other.close();
    }
  });

  it('is not a credential', async () => {
    const { text } = await reader.snapshot();
    const changes = await reader.changes('v0', { timeoutSeconds: 0 });
    for (const token of [text, changes.text]) {
      const answer = await app.call('projects', { scope: firm.organization }, { token });
      expect([answer.status, answer.code]).toEqual([401, 'UNAUTHENTICATED']);
      const introspected = await app.raw('isAuthorized', { scope, permission: 'Role:Query' }, { token });
      expect(introspected.status).toBe(401);
    }
  });

  it('lists what assigned roles lead to, and nothing of roles that nobody has', async () => {
    const used = await roleOn({ Equals: { 'resource.ownerId': '{{user.id}}' } });
    const unused = await roleOn(null);
    const user = await userIn([used.role.id]);
    const { claims } = await reader.snapshot();
    expect(claims.users).toContainEqual({ id: user.id, roleIds: [used.role.id] });
    expect(claims.roles).toContainEqual({
      id: used.role.id,
      name: used.role.name,
      groupIds: [used.group.id],
    });
    expect(claims.groups).toContainEqual({
      id: used.group.id,
      name: used.group.name,
      permissionIds: [used.permission.id],
    });
    expect(claims.permissions).toContainEqual({
      id: used.permission.id,
      name: used.permission.name,
      resourceId: used.resource.id,
      action: 'read',
      condition: { Equals: { 'resource.ownerId': '{{user.id}}' } },
      createdAt: new Date(used.permission.createdAt).getTime() * 1000,
    });
    expect(claims.resources).toContainEqual({ id: used.resource.id, slug: used.slug, isSystem: false });
    const text = JSON.stringify(claims);
    for (const id of [unused.role.id, unused.permission.id, unused.resource.id])
      expect(text).not.toContain(id);
    expect(claims.resources.map(({ slug }) => slug)).not.toContain('OrganizationMember');
  });

  it('has exactly the attributes that conditions read', async () => {
    const { role, group } = await roleOn(
      {
        And: [
          { Equals: { 'user.metadata.team.name': 'a' } },
          { Equals: { 'role.metadata.tier': 1 } },
          { Equals: { 'group.metadata.region': 'eu' } },
        ],
      },
      { metadata: { tier: 1, secret: 'r' } },
    );
    const metadata = { team: { name: 'a', salary: 5 }, secret: 'u' };
    const user = await userIn([role.id], metadata);
    const other = await userIn([roleIdOf('Project Viewer')], metadata);
    const { claims } = await reader.snapshot();
    const attributes = { metadata: { team: { name: 'a' } } };
    expect(claims.users).toContainEqual({ id: user.id, roleIds: [role.id], attributes });
    expect(claims.users.find(({ id }) => id === other.id)?.attributes).toEqual(attributes);
    expect(claims.roles.find(({ id }) => id === role.id)?.metadata).toEqual({ tier: 1 });
    expect(claims.groups.find(({ id }) => id === group.id)?.metadata).toEqual({ region: 'eu' });
    for (const secret of ['secret', 'salary', owner.email, user.name])
      expect(JSON.stringify(claims)).not.toContain(secret);
  });

  it('has an attribute whose name PostgreSQL would read as a missing value', async () => {
    const { role } = await roleOn({ Equals: { 'user.metadata.null': 'a' } });
    const user = await userIn([role.id], { null: 'a', other: 'b' });
    const { claims } = await reader.snapshot();
    expect(claims.users.find(({ id }) => id === user.id)?.attributes).toEqual({ metadata: { null: 'a' } });
  });

  it('lists active users with all of their roles, and no others', async () => {
    const { role } = await roleOn(null);
    const user = await userIn([role.id]);
    const listed = async () => (await reader.snapshot()).claims.users.find(({ id }) => id === user.id);
    expect(await listed()).toEqual({ id: user.id, roleIds: [role.id] });
    const member = await firm.member('Organization Viewer');
    await app.must('createUser', { scope, userId: member.userId, roleIds: [role.id] }, as);
    const { claims } = await reader.snapshot();
    expect(claims.users.find(({ id }) => id === member.userId)?.roleIds).toEqual(
      [role.id, roleIdOf('Organization Viewer')].sort(),
    );
    expect(claims.users.find(({ id }) => id === owner.userId)?.roleIds).toEqual([
      roleIdOf('Organization Owner'),
    ]);
    await app.must('updateUser', { scope, id: user.id, status: 'disabled' }, as);
    expect(await listed()).toBeUndefined();
    await app.must('updateUser', { scope, id: user.id, status: 'active' }, as);
    expect(await listed()).toEqual({ id: user.id, roleIds: [role.id] });
    await app.must('deleteUser', { scope, id: user.id }, as);
    expect(await listed()).toBeUndefined();
  });

  it('lists live keys by their ids, and ended keys among the ended credentials', async () => {
    const { role } = await roleOn(null);
    const expiresAt = new Date(app.clock.now().getTime() + 3_600_000).toISOString();
    const key = await app.must(
      'createApiKey',
      { scope, roleId: role.id, name: 'import', expiresAt, allowedCidrs: ['10.0.0.0/8'] },
      as,
    );
    const { claims } = await reader.snapshot();
    expect(claims.keys).toContainEqual({
      id: key.id,
      userId: owner.userId,
      ofUser: false,
      roleId: role.id,
      expiresAt: new Date(expiresAt).getTime(),
      allowedCidrs: ['10.0.0.0/8'],
    });
    expect(JSON.stringify(claims)).not.toContain(key.clientId);
    await app.must('revokeApiKey', { scope, id: key.id }, as);
    const later = (await reader.snapshot()).claims;
    expect(later.keys.map(({ id }) => id)).not.toContain(key.id);
    expect(later.ended.jti).toContain(key.id);
    app.clock.advance(20 * 60_000);
    expect(
      (await snapshotReader(app, scope, (await signIn(owner)).token).snapshot()).claims.ended.jti,
    ).toEqual([]);
  });

  it('leaves a key out when it has expired', async () => {
    const { token } = await signIn(owner);
    const expiresAt = new Date(app.clock.now().getTime() + 60_000).toISOString();
    const roleId = roleIdOf('Project Viewer');
    const key = await app.must('createApiKey', { scope, roleId, expiresAt }, { token });
    const listed = async () =>
      (await snapshotReader(app, scope, token).snapshot()).claims.keys.some(({ id }) => id === key.id);
    expect(await listed()).toBe(true);
    app.clock.advance(60_000);
    expect(await listed()).toBe(false);
  });

  it('ends keys, and lists no app, when the owner of the account has not verified an address in time', async () => {
    const unverified = await app.person({ verified: false });
    const own = { token: unverified.token };
    const project = await app.must('createProject', { scope: unverified.account, name: 'P' }, own);
    const admin = await app.person();
    await app.owner.execute(sql`
      insert into project_users (tenant_id, user_id) values (${project.id}::uuid, ${admin.userId}::uuid)`);
    await app.owner.execute(sql`
      insert into project_user_roles (tenant_id, user_id, role_id, role_tenant_id)
      values (${project.id}::uuid, ${admin.userId}::uuid, ${roleIdOf('Project Admin')}::uuid, ${SYSTEM_NODE}::uuid)`);
    const at = { scope: project.scope };
    const key = await app.must('createApiKey', { ...at, roleId: roleIdOf('Project Viewer') }, own);
    const redirectUris = ['https://app.example/callback'];
    await app.must('createProjectApp', { ...at, name: 'App', redirectUris }, own);
    const read = async () =>
      (await snapshotReader(app, project.scope, (await signIn(admin)).token).snapshot()).claims;
    const before = await read();
    const deadline = before.keys.find(({ id }) => id === key.id)?.expiresAt ?? 0;
    const now = app.clock.now().getTime();
    expect([deadline > now, deadline <= now + 7 * 86_400_000, before.apps.length]).toEqual([true, true, 1]);
    app.clock.advance(deadline - now);
    const after = await read();
    expect([after.keys, after.apps]).toEqual([[], []]);
    expect(after.users.map(({ id }) => id)).toContain(unverified.userId);
  });

  it('lists apps with their scopes, and their ended sessions', async () => {
    const { token } = await signIn(owner);
    const fresh = snapshotReader(app, scope, token);
    const redirectUris = ['https://shop.example/callback'];
    const made = await app.must('createProjectApp', { scope, name: 'Shop', redirectUris }, { token });
    const { claims } = await fresh.snapshot();
    const updatedAt = expect.any(Number) as number;
    expect(claims.apps).toContainEqual({ clientId: made.clientId, scopes: null, updatedAt });
    await app.must('updateProjectApp', { scope, id: made.id, scopes: ['Role:Query'] }, { token });
    expect((await fresh.snapshot()).claims.apps).toContainEqual({
      clientId: made.clientId,
      scopes: ['Role:Query'],
      updatedAt,
    });
    const session = await openAppSession(app, made.id, owner.userId);
    await app.must('deleteProjectApp', { scope, id: made.id }, { token });
    const later = (await fresh.snapshot()).claims;
    expect(later.apps.map(({ clientId }) => clientId)).not.toContain(made.clientId);
    expect(later.ended.jti).toContain(session);
  });

  it('is signed by the active key, and names revoked ones', async () => {
    const { token } = await signIn(owner);
    const fresh = snapshotReader(app, scope, token);
    const { header } = await fresh.snapshot();
    const active = await app.must('rotateSigningKey', { scope, revokeOld: true }, { token });
    const rotated = await fresh.snapshot();
    expect(rotated.header['kid']).toBe(active.kid);
    expect(rotated.claims.ended.kids).toContain(header['kid']);
  });
});

const signIn = async ({ email, password }: Person) => {
  const { accessToken } = await app.must('login', {
    provider: 'email',
    providerId: email,
    providerData: { password },
  });
  return { token: accessToken };
};

describe('the users of a snapshot', () => {
  it('may be narrowed', async () => {
    const { token } = await signIn(owner);
    const fresh = snapshotReader(app, scope, token);
    const [a, b, c] = [
      await app.must('createUser', { scope, name: 'A', roleIds: [roleIdOf('Project Viewer')] }, { token }),
      await app.must('createUser', { scope, name: 'B', roleIds: [roleIdOf('Project Admin')] }, { token }),
      await app.must('createUser', { scope, name: 'C', roleIds: [] }, { token }),
    ];
    const both = [a.id, c.id].sort();
    const some = (await fresh.snapshot({ users: [c.id, a.id, c.id].join(',') })).claims;
    expect(some.users.map(({ id }) => id)).toEqual(both);
    expect(some.userFilter).toEqual(both);
    expect(some.roles.map(({ name }) => name)).toContain('Project Viewer');
    expect(some.users.map(({ id }) => id)).not.toContain(b.id);
    const none = (await fresh.snapshot({ users: 'none' })).claims;
    expect([none.users, none.userFilter]).toEqual([[], 'none']);
    const versions = new Set([some.version, none.version, (await fresh.snapshot()).claims.version]);
    expect(versions.size).toBe(3);
  });

  it.each([['all,none'], ['none,0198c1c0-0000-7000-8000-000000000000'], ['everyone'], ['']])(
    'are refused as %j',
    async (users) => {
      const answer = await snapshotReader(app, scope, (await signIn(owner)).token).raw('', { users });
      expect([answer.status, answer.code]).toEqual([400, 'VALIDATION_ERROR']);
    },
  );
});

describe('who may read it', () => {
  it.each([
    ['Organization Owner', 200],
    ['Organization Admin', 200],
    ['Organization Developer', 200],
    ['Organization Viewer', 403],
  ] as const)('%s: %i', async (role, status) => {
    const member = await firm.member(role);
    const mine = snapshotReader(app, scope, member.token);
    expect((await mine.raw('')).status).toBe(status);
    expect((await mine.raw('/changes', { since: 'v0' })).status).toBe(status);
  });

  it('not another tenant, and nobody without a token', async () => {
    const stranger = await app.person();
    const answer = await snapshotReader(app, scope, stranger.token).raw('');
    expect([answer.status, answer.reason]).toEqual([403, 'INVALID_SCOPE']);
    expect((await snapshotReader(app, scope, 'x').raw('')).status).toBe(401);
  });

  it('over REST only', async () => {
    const query = '{ __schema { queryType { fields { name } } } }';
    const response = await app.server.inject({
      method: 'POST',
      url: '/graphql',
      payload: { query },
    });
    expect(response.body).toContain('isAuthorized');
    expect(response.body).not.toContain('olicySnapshot');
  });
});
