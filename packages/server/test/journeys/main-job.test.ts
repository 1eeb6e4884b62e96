/**
 * The main job of the service in order: an API key gets a role, is exchanged for a token, a third party verifies the
 * token, authorization is checked, and the key is revoked. Over REST and over GraphQL; each refusal has its reason.
 */
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Code } from '../../src/errors.ts';
import { startApp, type TestApp } from '../support/app/app.ts';
import { storyTransports } from '../support/cases/breadth.ts';
import { unique, type Answer, type Person, type Via } from '../support/app/client.ts';

const base = 'http://localhost:4000';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

/** An owner of an organization with a project, in which a role holds one conditional permission. */
async function bookshop(via: Via) {
  const ada = await app.person({ type: 'organization', name: 'Ada' });
  const as = { token: ada.token, via };
  const organization = await app.must(
    'createOrganization',
    { scope: ada.account, name: `Lantern Books ${unique()}` },
    as,
  );
  const owner = { tenant: 'organization' as const, id: organization.id };
  const project = await app.must('createProject', { scope: owner, name: 'Bookshop' }, as);
  const scope = { tenant: 'organizationProject' as const, id: `${organization.id}:${project.id}` };
  const resource = await app.must(
    'createResource',
    { scope, name: 'Invoice', slug: 'invoice', actions: ['read', 'approve'] },
    as,
  );
  const condition = { Equals: { 'resource.ownerId': '{{user.id}}' } };
  const permission = await app.must(
    'createPermission',
    { scope, name: 'Read own invoices', resourceId: resource.id, action: 'read', condition },
    as,
  );
  const group = await app.must(
    'createGroup',
    { scope, name: 'Own invoices', permissionIds: [permission.id] },
    as,
  );
  const role = await app.must('createRole', { scope, name: 'Customer', groupIds: [group.id] }, as);
  const key = await app.must('createApiKey', { scope, name: 'backend', roleId: role.id }, as);
  const credentials = { clientId: key.clientId, clientSecret: key.clientSecret as string, scope };
  return {
    ada,
    as,
    organization,
    owner,
    project,
    scope,
    resource,
    condition,
    permission,
    role,
    key,
    credentials,
  };
}

type Bookshop = Awaited<ReturnType<typeof bookshop>>;

const jwksPath = ({ organization, project }: Bookshop): string =>
  `/org/${organization.id}/prj/${project.id}/.well-known/jwks.json`;

const ask = (via: Via, token: string | undefined, action: string, ownerId: string) =>
  app.call(
    'isAuthorized',
    { permission: { resource: 'invoice', action }, context: { resource: { ownerId } } } as never,
    { token, via },
  );

/** The whole response without the members that differ in every response. */
const withoutRequestId = ({ status, body }: Answer): string =>
  `${status} ${body.replace(/"requestId":"[^"]*"/g, '"requestId":""')}`;

describe.each(storyTransports(import.meta))('the main job over %s', (via) => {
  let shop: Bookshop;
  let token: string;

  beforeAll(async () => {
    shop = await bookshop(via);
    token = (await app.must('exchangeApiKey', shop.credentials, { via })).accessToken;
  });

  test('a project returns its own scope, and the role its group', async () => {
    expect(shop.project).toMatchObject({ scope: shop.scope, owner: shop.owner });
    expect(shop.role).toMatchObject({ level: 'project', isSystem: false });
    expect(shop.permission).toMatchObject({
      resource: { id: shop.resource.id, slug: 'invoice' },
      action: 'read',
      condition: shop.condition,
    });
  });

  test('the secret of a key is returned once', async () => {
    const { key, as, scope, ada, role } = shop;
    expect(key.clientSecret).toMatch(/^dwk_[A-Za-z0-9_-]{46}[0-9A-Za-z]{6}$/);
    expect(key.clientId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(key).toMatchObject({
      status: 'active',
      roleId: role.id,
      userId: ada.userId,
      createdBy: ada.userId,
      scope: { tenant: 'OrganizationProject', id: scope.id },
      revokedAt: null,
      expiresAt: null,
    });
    const listed = await app.call('apiKeys', { scope }, as);
    expect(listed.data.items.map(({ id }) => id)).toEqual([key.id]);
    const read = await app.call('apiKey', { scope, id: key.id }, as);
    expect(read.data.clientId).toBe(key.clientId);
    for (const { body } of [listed, read]) {
      expect(body).not.toContain(key.clientSecret);
      expect(body).not.toContain('clientSecret');
    }
    expect(app.logs.join('')).not.toContain(key.clientSecret);
  });

  test('the token names subject, audience and scope, and the published keys verify it', async () => {
    const { data } = await app.call('exchangeApiKey', shop.credentials, { via });
    expect(data.expiresIn).toBe(900);
    expect(Object.keys(data).sort()).toEqual(['accessToken', 'expiresIn']);
    const answer = await app.server.inject({ url: jwksPath(shop) });
    const keys = createLocalJWKSet(answer.json());
    const issuer = `${base}/org/${shop.organization.id}/prj/${shop.project.id}`;
    const { payload, protectedHeader } = await jwtVerify(data.accessToken, keys, { issuer, audience: base });
    expect(protectedHeader).toEqual({ alg: 'RS256', typ: 'JWT', kid: expect.any(String) as string });
    expect(payload).toEqual({
      sub: shop.ada.userId,
      iss: issuer,
      aud: base,
      jti: shop.key.id,
      type: 'ApiKey',
      scope: shop.scope,
      iat: expect.any(Number) as number,
      exp: (payload.iat as number) + 900,
    });
    const system = await app.server.inject({ url: '/.well-known/jwks.json' });
    await expect(jwtVerify(data.accessToken, createLocalJWKSet(system.json()))).rejects.toThrow();
  });

  test('the scope of the claim is spelled as in the request', async () => {
    const scope = { tenant: 'OrganizationProject' as const, id: shop.scope.id };
    const { accessToken } = await app.must('exchangeApiKey', { ...shop.credentials, scope }, { via });
    const [, payload = ''] = accessToken.split('.');
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toMatchObject({ scope });
  });

  test('allowed: the condition is met, and the response names the permission', async () => {
    const { data } = await ask(via, token, 'read', shop.ada.userId);
    expect(data).toEqual({
      authorized: true,
      reason: 'ALLOWED_BY_CONDITION',
      matchedPermission: {
        id: shop.permission.id,
        name: 'Read own invoices',
        resource: 'invoice',
        action: 'read',
      },
      matchedCondition: shop.condition,
      evaluatedContext: { 'resource.ownerId': shop.ada.userId, 'user.id': shop.ada.userId },
      // A context that was not sent is absent, in GraphQL null.
      ...(via === 'graphql' ? { explanation: null } : {}),
    });
  });

  test('refused: the condition is not met, with another owner and with none', async () => {
    const other = await ask(via, token, 'read', 'somebody-else');
    expect(other.data).toMatchObject({
      authorized: false,
      reason: 'CONDITION_NOT_MET',
      matchedPermission: { id: shop.permission.id },
    });
    const permission = { resource: 'invoice', action: 'read' };
    const none = await app.call('isAuthorized', { permission } as never, { token, via });
    expect(none.data).toMatchObject({ authorized: false, reason: 'CONDITION_NOT_MET' });
  });

  test('refused: the key holds no such permission', async () => {
    const { status, data } = await ask(via, token, 'approve', shop.ada.userId);
    expect(status).toBe(200);
    expect(data).toMatchObject({ authorized: false, reason: 'NO_PERMISSION' });
    expect(data.matchedPermission ?? null).toBeNull();
  });

  test('refused: another project, although its id is right', async () => {
    const elsewhere = await app.must('createProject', { scope: shop.owner, name: 'Elsewhere' }, shop.as);
    const input = {
      permission: { resource: 'invoice', action: 'read' },
      scope: { tenant: 'organizationProject' as const, id: `${shop.organization.id}:${elsewhere.id}` },
    };
    const { data } = await app.call('isAuthorized', input, { token, via });
    expect(data).toMatchObject({ authorized: false, reason: 'INVALID_SCOPE' });
  });

  test('the key may do exactly what its role allows', async () => {
    const { status, code, reason } = await app.call('roles', { scope: shop.scope }, { token, via });
    expect({ status: via === 'rest' ? status : 403, code, reason }).toEqual({
      status: 403,
      code: 'FORBIDDEN',
      reason: 'NO_PERMISSION',
    });
  });

  test('a change of the permission applies at once, also to existing tokens', async () => {
    const { as, scope, permission, condition, ada } = shop;
    const change = (to: typeof condition | null) =>
      app.must('updatePermission', { scope, id: permission.id, condition: to }, as);
    await change(null);
    expect((await ask(via, token, 'read', 'somebody-else')).data).toMatchObject({
      authorized: true,
      reason: 'ALLOWED',
    });
    await change(condition);
    expect((await ask(via, token, 'read', 'somebody-else')).data).toMatchObject({ authorized: false });
    expect((await ask(via, token, 'read', ada.userId)).data).toMatchObject({ authorized: true });
  });

  test('revoked: the exchange is refused like that of an unknown key, and the token ends', async () => {
    const { as, scope, role, credentials } = shop;
    const key = await app.must('createApiKey', { scope, roleId: role.id }, as);
    const own = { ...credentials, clientId: key.clientId, clientSecret: key.clientSecret as string };
    const { accessToken } = await app.must('exchangeApiKey', own, { via });
    expect((await ask(via, accessToken, 'read', 'x')).ok).toBe(true);

    const revoked = await app.must('revokeApiKey', { scope, id: key.id, reason: 'lost' }, as);
    expect(revoked).toMatchObject({ status: 'revoked', revokedBy: shop.ada.userId, revokedReason: 'lost' });
    expect(revoked.revokedAt).not.toBeNull();

    const refused = await app.call('exchangeApiKey', own, { via });
    expectCode(refused, via, 401, 'UNAUTHENTICATED');
    const wrong = [
      { ...own, clientId: '00000000-0000-4000-8000-000000000000' },
      { ...credentials, clientSecret: own.clientSecret },
      { ...credentials, clientSecret: 'nonsense' },
      { ...credentials, scope: { tenant: 'organizationProject' as const, id: `${key.id}:${key.id}` } },
    ];
    for (const input of wrong) {
      const answer = await app.call('exchangeApiKey', input, { via });
      expect(withoutRequestId(answer)).toBe(withoutRequestId(refused));
    }

    expectCode(await ask(via, accessToken, 'read', 'x'), via, 401, 'UNAUTHENTICATED');
    expectCode(await app.call('revokeApiKey', { scope, id: key.id }, as), via, 409, 'INVALID_STATE');
    expect((await ask(via, token, 'read', shop.ada.userId)).data).toMatchObject({ authorized: true });
  });

  test('deleted project: no keys are published, no key is exchanged, no token works', async () => {
    const doomed = await bookshop(via);
    const { accessToken } = await app.must('exchangeApiKey', doomed.credentials, { via });
    expect((await app.server.inject({ url: jwksPath(doomed) })).statusCode).toBe(200);
    await app.must('deleteProject', { scope: doomed.owner, id: doomed.project.id }, doomed.as);

    const jwks = await app.server.inject({ url: jwksPath(doomed) });
    expect(jwks.statusCode).toBe(404);
    expect(jwks.json()).toMatchObject({ code: 'NOT_FOUND' });
    expectCode(await app.call('exchangeApiKey', doomed.credentials, { via }), via, 401, 'UNAUTHENTICATED');
    expectCode(await ask(via, accessToken, 'read', 'x'), via, 401, 'UNAUTHENTICATED');
  });
});

/** GraphQL has the code alone; its status only says whether a document was executed. */
function expectCode(answer: Answer, via: Via, status: number, code: Code): void {
  expect(answer.code).toBe(code);
  if (via === 'rest') expect(answer.status).toBe(status);
}

describe('published keys', () => {
  let ada: Person;
  let paths: Record<'system' | 'organization project' | 'account project', string>;
  let unknown: string[];

  beforeAll(async () => {
    const shop = await bookshop('rest');
    ada = shop.ada;
    const own = await app.must('createProject', { scope: ada.account, name: 'Own' }, { token: ada.token });
    paths = {
      system: '/.well-known/jwks.json',
      'organization project': jwksPath(shop),
      'account project': `/acc/${ada.account.id}/prj/${own.id}/.well-known/jwks.json`,
    };
    unknown = [
      `/org/${shop.organization.id}/prj/${own.id}/.well-known/jwks.json`,
      `/acc/${ada.account.id}/prj/${shop.project.id}/.well-known/jwks.json`,
      `/acc/${shop.organization.id}/prj/${shop.project.id}/.well-known/jwks.json`,
      `/org/${shop.project.id}/prj/${shop.project.id}/.well-known/jwks.json`,
    ];
  });

  test.each(['system', 'organization project', 'account project'] as const)(
    'of the %s: public keys only, cacheable, and 304 when unchanged',
    async (name) => {
      const { statusCode, headers, body, json } = await app.server.inject({ url: paths[name] });
      expect(statusCode).toBe(200);
      expect(headers['content-type']).toMatch(/^application\/json/);
      expect(headers['cache-control']).toBe('public, max-age=300');
      expect(headers.etag).toMatch(/^"[\w-]+"$/);
      const { keys } = json<{ keys: Record<string, string>[] }>();
      // The active key and its published successor.
      expect(keys).toHaveLength(2);
      for (const key of keys) {
        expect(Object.keys(key).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
        expect(key).toMatchObject({ kty: 'RSA', use: 'sig', alg: 'RS256' });
      }
      expect(new Set(keys.map(({ kid }) => kid)).size).toBe(2);

      const same = await app.server.inject({
        url: paths[name],
        headers: { 'if-none-match': String(headers.etag) },
      });
      expect(same.statusCode).toBe(304);
      expect(same.body).toBe('');
      expect(same.headers.etag).toBe(headers.etag);
      const other = await app.server.inject({ url: paths[name], headers: { 'if-none-match': '"other"' } });
      expect(other.statusCode).toBe(200);
      expect(other.body).toBe(body);
    },
  );

  test('the system keys verify a session token', async () => {
    const keys = createLocalJWKSet((await app.server.inject({ url: paths.system })).json());
    const { payload } = await jwtVerify(ada.token, keys, { issuer: base, audience: base });
    expect(payload).toMatchObject({ sub: ada.userId, type: 'session' });
    expect(decodeProtectedHeader(ada.token).alg).toBe('RS256');
  });

  test('ids of different projects are not found', async () => {
    for (const url of unknown) {
      const answer = await app.server.inject({ url });
      expect(answer.statusCode).toBe(404);
      expect(answer.json()).toMatchObject({ code: 'NOT_FOUND' });
    }
  });
});
