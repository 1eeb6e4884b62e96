import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { permissionIdOf } from '../../schema/rights/built-in-ids.ts';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import type { Person } from '../../../test/support/app/client.ts';
import {
  appInProject,
  projectViewer,
  redirectParameters,
  signInBrowser,
  type AppInProject,
} from '../../../test/support/sign-in/project-app.ts';
import { projectUserRoles, projectUsers } from '../../schema/rights/membership.ts';
import { auditLog } from '../../schema/events/audit-log-entry.ts';
import { events } from '../../schema/events/event.ts';
import type { ScopeRef } from '../../kernel/scope.ts';
import { projectApps } from '../../schema/apps/project-app.ts';

/** Dynamic registration (RFC 7591, 7592; openid §13), and how it could be abused. */
let app: TestApp;
let host: AppInProject;
const DAY_MS = 86_400_000;
const register = '/api/auth/project/register';
const redirect = 'https://client.example/callback';

beforeAll(async () => {
  app = await startOwnApp({ OIDC_DYNAMIC_REGISTRATION: 'true', SECURITY_RATE_LIMIT_ENABLED: 'false' });
});
afterAll(() => app.close());
beforeEach(async () => {
  host = await newHost();
});

async function newHost(): Promise<AppInProject> {
  const made = await appInProject(app);
  await settings(made, { dynamicRegistration: 'token', registrableScopes: ['Board:READ'] });
  return made;
}

const settings = ({ scope, owner }: AppInProject, changes: object) =>
  app.must('updateProject', { scope, id: projectOf(scope), ...changes }, { token: owner.token });
const projectOf = ({ id }: ScopeRef): string => id.split(':')[1] as string;

/** Returns the token of a project key. Without `roleId` the key has the role of its owner, who may create apps. */
async function keyToken({ scope, owner }: AppInProject, roleId?: string): Promise<string> {
  const as = { token: owner.token };
  const key = await app.must('createApiKey', { scope, ...(roleId && { roleId }) }, as);
  const sent = { clientId: key.clientId, clientSecret: key.clientSecret as string, scope: key.scope };
  return (await app.must('exchangeApiKey', sent)).accessToken;
}

type Answer = { status: number; body: Record<string, never> & Record<string, string>; challenge: unknown };

async function send(
  method: 'POST' | 'GET' | 'DELETE',
  url: string,
  token: string | null,
  payload?: unknown,
): Promise<Answer> {
  const headers = token === null ? {} : { authorization: `Bearer ${token}` };
  const sent = payload === undefined ? {} : { payload: payload as object };
  const answer = await app.server.inject({ method, url, headers, ...sent });
  return {
    status: answer.statusCode,
    body: answer.body === '' ? {} : answer.json(),
    challenge: answer.headers['www-authenticate'],
  };
}

const post = (token: string | null, metadata: object = {}) =>
  send('POST', register, token, { redirect_uris: [redirect], client_name: 'Notes', ...metadata });

async function registered(metadata: object = {}): Promise<Answer['body']> {
  const { status, body } = await post(await keyToken(host), metadata);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

/** The owner signs in to an app. */
async function signIn(to: Pick<AppInProject, 'clientId' | 'redirectUri'>) {
  const browser = signInBrowser(app, to);
  await browser.authorize();
  const { code = '' } = redirectParameters(await browser.finish(host.owner.email));
  return app.must('projectToken', {
    grant_type: 'authorization_code',
    code,
    redirect_uri: to.redirectUri,
    client_id: to.clientId,
    code_verifier: browser.verifier,
  });
}

const apps = async ({ scope, owner }: AppInProject = host) =>
  (await app.must('projectApps', { scope, limit: 100 }, { token: owner.token })).items;

describe('a client', () => {
  it('registers, and is an app that its owners see', async () => {
    const body = await registered({
      scope: 'openid email board:read',
      software_id: 'x',
      logo_uri: 'https://x.example/y',
    });
    expect(body).toEqual({
      client_id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      client_id_issued_at: expect.any(Number) as number,
      registration_access_token: expect.stringMatching(/^[\w-]{43}$/) as string,
      registration_client_uri: `http://localhost:4000${register}/${body['client_id']}`,
      client_name: 'Notes',
      redirect_uris: [redirect],
      post_logout_redirect_uris: [],
      scope: 'openid profile email offline_access board:read',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    });
    const row = (await apps()).find(({ clientId }) => clientId === body['client_id']);
    expect(row).toMatchObject({
      name: 'Notes',
      registered: true,
      scopes: ['board:read'],
      logoUrl: null,
      confidential: false,
      firstParty: false,
      allowSignUp: false,
    });
    expect((await apps()).filter((other) => other.registered)).toHaveLength(1);
    const token = body['registration_access_token'] ?? '';
    const [stored] = await app.database.pool
      .select()
      .from(projectApps)
      .where(eq(projectApps.id, row?.id ?? ''));
    expect(JSON.stringify(stored)).not.toContain(token);
    const log = await app.database.pool
      .select()
      .from(auditLog)
      .where(eq(auditLog.tenantId, projectOf(host.scope)));
    expect(JSON.stringify(log)).toContain('registerProjectClient');
    expect(JSON.stringify(log)).not.toContain(token);
    const sent = await app.database.pool.select().from(events).where(eq(events.type, 'project_app.created'));
    const event = sent
      .map(({ body: event }) => event as { data: Record<string, unknown> })
      .find(({ data }) => data['id'] === row?.id);
    expect(event?.data).toMatchObject({ registered: true, projectId: projectOf(host.scope) });
    expect(Object.keys(event?.data ?? {})).not.toContain('registrationHash');
  });

  it('signs in with PKCE, and its user is asked for consent', async () => {
    const body = await registered();
    const { owner } = host;
    const browser = signInBrowser(app, { clientId: body['client_id'] ?? '', redirectUri: redirect });
    await browser.authorize({ scope: 'openid board:read' });
    const next = await browser.open(await browser.mail(owner.email));
    expect(next.headers.location).toMatch(/\/consent$/);
    expect((await browser.page()).body).toContain('client.example');
    const { code = '' } = redirectParameters(await browser.answer('approve'));
    const sent = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirect,
      code_verifier: browser.verifier,
    };
    const tokens = await app.server.inject({
      method: 'POST',
      url: '/api/auth/project/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({ ...sent, client_id: body['client_id'] ?? '' }).toString(),
    });
    expect(tokens.json()).toMatchObject({ token_type: 'Bearer', scope: 'openid board:read' });
  });

  it('reads and deletes its registration with its token, and nobody else', async () => {
    const [own, other] = [await registered(), await registered({ client_name: 'Other' })];
    const [path, token] = [`${register}/${own['client_id']}`, own['registration_access_token'] ?? ''];
    const { registration_access_token: _, ...facts } = own;
    expect(await send('GET', path, token)).toMatchObject({ status: 200, body: facts });
    const refusal = {
      status: 401,
      body: { error: 'invalid_token' },
      challenge: 'Bearer error="invalid_token"',
    };
    const wrong = [
      other['registration_access_token'] ?? '',
      'x',
      await keyToken(host),
      host.owner.token,
      null,
    ];
    for (const presented of wrong) {
      for (const method of ['GET', 'DELETE'] as const)
        expect(await send(method, path, presented)).toMatchObject(refusal);
    }
    expect(await send('GET', `${register}/${host.clientId}`, token)).toMatchObject(refusal);
    expect(await send('GET', `${register}/nobody`, token)).toMatchObject(refusal);
    expect((await send('GET', `${path}?registration_access_token=${token}`, null)).status).not.toBe(200);
    expect((await send('DELETE', path, token)).status).toBe(204);
    expect(await send('GET', path, token)).toMatchObject(refusal);
    expect((await apps()).map(({ name }) => name).sort()).toEqual(['Acme Boards', 'Other']);
    const begun = await signInBrowser(app, {
      clientId: own['client_id'] ?? '',
      redirectUri: redirect,
    }).authorize();
    expect(begun.statusCode).toBe(400);
  });

  it("is answered as the standard says: 201, JSON, not to be stored, and nobody else's origin", async () => {
    const { statusCode, headers } = await app.server.inject({
      method: 'POST',
      url: register,
      headers: { authorization: `Bearer ${await keyToken(host)}`, origin: 'https://evil.example' },
      payload: { redirect_uris: [redirect] },
    });
    expect(statusCode).toBe(201);
    expect(headers).toMatchObject({
      'content-type': expect.stringMatching(/^application\/json/) as string,
      'cache-control': 'no-store',
      pragma: 'no-cache',
    });
    expect(headers['access-control-allow-origin']).toBeUndefined();
  });

  it('gets an identifier and a token of its own each time, also for the same metadata', async () => {
    const made = [await registered(), await registered()];
    for (const member of ['client_id', 'registration_access_token'])
      expect(new Set(made.map((body) => body[member])).size, member).toBe(2);
  });

  it('ignores a software statement, and registers what the request itself says', async () => {
    const claims = { client_name: 'Stated', redirect_uris: ['https://stated.example/'], first_party: true };
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const software_statement = `${part({ alg: 'none' })}.${part(claims)}.`;
    const body = await registered({ software_statement, jwks_uri: 'https://stated.example/keys' });
    expect(body).toMatchObject({ client_name: 'Notes', redirect_uris: [redirect] });
    expect(Object.keys(body)).not.toContain('software_statement');
  });

  it('cannot be changed by its client', async () => {
    const { client_id = '', registration_access_token = '', ...facts } = await registered();
    for (const method of ['PUT', 'PATCH'] as const) {
      const { statusCode } = await app.server.inject({
        method,
        url: `${register}/${client_id}`,
        headers: { authorization: `Bearer ${registration_access_token}` },
        payload: { client_id, redirect_uris: ['https://evil.example/'] },
      });
      expect([404, 405], method).toContain(statusCode);
    }
    const { body } = await send('GET', `${register}/${client_id}`, registration_access_token);
    expect(body).toMatchObject(facts);
  });

  it('loses its sessions and codes with its registration', async () => {
    const { client_id: clientId = '', registration_access_token = '' } = await registered();
    const to = { clientId, redirectUri: redirect };
    const { accessToken, refreshToken } = await signIn(to);
    const later = signInBrowser(app, to);
    await later.authorize();
    const { code = '' } = redirectParameters(await later.finish(host.owner.email));
    expect(code).not.toBe('');
    const info = async () => {
      const headers = { authorization: `Bearer ${accessToken}` };
      return (await app.server.inject({ url: '/api/auth/project/user-info', headers })).statusCode;
    };
    expect(await info()).toBe(200);
    expect((await send('DELETE', `${register}/${clientId}`, registration_access_token)).status).toBe(204);
    expect(await info()).toBe(401);
    const refreshed = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: clientId };
    expect((await app.raw('projectToken', refreshed)).ok).toBe(false);
    const exchange = { grant_type: 'authorization_code', code, redirect_uri: redirect, client_id: clientId };
    const late = await app.raw('projectToken', { ...exchange, code_verifier: later.verifier });
    expect(late.ok).toBe(false);
  });

  it('is deleted after 30 days without use, and a used one stays', async () => {
    const body = await registered();
    const used = await registered({ client_name: 'Used' });
    await app.database.pool
      .update(projectApps)
      .set({ lastUsedAt: new Date(Date.now() + 20 * DAY_MS) })
      .where(eq(projectApps.clientId, used['client_id'] ?? ''));
    expect(await app.app.deleteUnusedApps()).toBe(0);
    app.clock.advance(31 * DAY_MS);
    try {
      expect(await app.app.deleteUnusedApps()).toBeGreaterThan(0);
      const rows = await app.database.pool
        .select()
        .from(projectApps)
        .where(eq(projectApps.tenantId, projectOf(host.scope)));
      const left = rows.filter(({ deletedAt }) => deletedAt === null).map(({ clientId }) => clientId);
      expect(left.sort()).toEqual([host.clientId, used['client_id']].sort());
      expect(
        (await send('GET', `${register}/${body['client_id']}`, body['registration_access_token'] ?? ''))
          .status,
      ).toBe(401);
    } finally {
      app.clock.advance(-31 * DAY_MS);
    }
  });

  it('is used when a user signs in and stays signed in, noted once a day; apps of people note nothing', async () => {
    const { client_id: clientId = '' } = await registered();
    const usedAt = async (id: string) => {
      const [row] = await app.database.pool.select().from(projectApps).where(eq(projectApps.clientId, id));
      return row?.lastUsedAt ?? null;
    };
    /** Expects that the app was last used at this time or later. */
    const isSince = async (time: Date): Promise<void> => {
      const at = (await usedAt(clientId))?.getTime() ?? 0;
      expect(at).toBeGreaterThanOrEqual(time.getTime());
      expect(at).toBeLessThanOrEqual(app.clock.now().getTime());
    };
    expect(await usedAt(clientId)).toBeNull();
    const before = app.clock.now();
    const { refreshToken } = await signIn({ clientId, redirectUri: redirect });
    await isSince(before);
    const first = await usedAt(clientId);
    const refresh = (token: unknown) =>
      app.must('projectToken', {
        grant_type: 'refresh_token',
        refresh_token: token as string,
        client_id: clientId,
      });
    app.clock.advance(DAY_MS / 2);
    const half = await refresh(refreshToken);
    expect(await usedAt(clientId)).toEqual(first);
    app.clock.advance(DAY_MS / 2);
    const later = app.clock.now();
    await refresh(half.refreshToken);
    await isSince(later);
    app.clock.advance(-DAY_MS);
    await signIn(host);
    expect(await usedAt(host.clientId)).toBeNull();
  });

  it('never skips consent', async () => {
    const { client_id } = await registered();
    const row = (await apps()).find(({ clientId }) => clientId === client_id);
    const input = { scope: host.scope, id: row?.id, firstParty: true };
    const refused = await app.raw('updateProjectApp', input, { token: host.owner.token });
    expect([refused.status, refused.code]).toEqual([409, 'INVALID_STATE']);
    expect(await registered({ client_name: 'B', firstParty: true, first_party: true })).toBeTruthy();
    expect((await apps()).every(({ firstParty }) => !firstParty)).toBe(true);
  });
});

describe('registration refuses', () => {
  const errorOf = async (
    token: string | null,
    metadata: object = {},
  ): Promise<[number, string | undefined]> => {
    const { status, body } = await post(token, metadata);
    return [status, body['error']];
  };

  it('whoever has no key of the project that may create apps', async () => {
    expect(await errorOf(null)).toEqual([401, 'invalid_token']);
    expect(await errorOf('not a token')).toEqual([401, 'invalid_token']);
    expect(await errorOf(host.owner.token)).toEqual([403, 'insufficient_scope']);
    expect(await errorOf(await keyToken(host, projectViewer))).toEqual([403, 'insufficient_scope']);
    const { registration_access_token: token = '' } = await registered();
    expect(await errorOf(token)).toEqual([401, 'invalid_token']);
  });

  it('while the project does not allow it, and puts a client only into the project of the key', async () => {
    const token = await keyToken(host);
    const foreign = await newHost();
    await registered();
    expect((await apps(foreign)).some(({ registered }) => registered)).toBe(false);
    await settings(host, { dynamicRegistration: 'off' });
    expect(await errorOf(token)).toEqual([403, 'access_denied']);
  });

  it('addresses that an app may not have', async () => {
    const token = await keyToken(host);
    const addresses = [
      'javascript:alert(1)',
      'data:text/html,x',
      'http://client.example/callback',
      'https://client.example/*',
      'https://client.example/#x',
      'https://a@client.example/',
      'JAVASCRIPT://x.y/%0aalert(1)',
      '',
      `https://client.example/${'x'.repeat(2048)}`,
    ];
    for (const address of addresses)
      expect(await errorOf(token, { redirect_uris: [address] }), address).toEqual([
        400,
        'invalid_redirect_uri',
      ]);
    for (const list of [[], Array(21).fill(redirect), 'https://client.example', null, [1]])
      expect(await errorOf(token, { redirect_uris: list })).toEqual([400, 'invalid_redirect_uri']);
    expect(await errorOf(token, { post_logout_redirect_uris: ['javascript:x'] })).toEqual([
      400,
      'invalid_redirect_uri',
    ]);
    const without = await send('POST', register, token, { client_name: 'x' });
    expect([without.status, without.body['error']]).toEqual([400, 'invalid_redirect_uri']);
  });

  it('secrets, other grants and scopes that the project does not offer', async () => {
    const token = await keyToken(host);
    const wrong: object[] = [
      { token_endpoint_auth_method: 'client_secret_basic' },
      { token_endpoint_auth_method: 'private_key_jwt' },
      { grant_types: ['client_credentials'] },
      { grant_types: ['implicit'] },
      { response_types: ['token'] },
      { scope: 'board:edit' },
      { scope: 'openid Role:Delete' },
      { client_uri: 'javascript:alert(1)' },
      { client_name: 'x'.repeat(256) },
      { client_name: 'evil\u202Ename' },
      { client_name: {} },
    ];
    for (const metadata of wrong)
      expect(await errorOf(token, metadata), JSON.stringify(metadata)).toEqual([
        400,
        'invalid_client_metadata',
      ]);
    for (const payload of [[], 'x', null, 1]) {
      const { status, body } = await send('POST', register, token, JSON.stringify(payload));
      expect([400, 415].includes(status), JSON.stringify(payload)).toBe(true);
      expect(body['error']).toBe('invalid_client_metadata');
    }
  });

  it('a name that imitates an app of the project', async () => {
    const token = await keyToken(host);
    for (const client_name of ['Acme Boards', 'ACME-boards', ' acme  boards. ', 'Ａｃｍｅ Boards'])
      expect(await errorOf(token, { client_name }), client_name).toEqual([400, 'invalid_client_metadata']);
  });

  it('huge metadata', async () => {
    const token = await keyToken(host);
    const { status } = await post(token, { contacts: Array(60_000).fill('ada@client.example') });
    expect(status).toBe(413);
  });

  it('the 101st client, also of many at once', { tags: 'race' }, async () => {
    const token = await keyToken(host);
    const values = Array.from({ length: 97 }, (_, index) => ({
      tenantId: projectOf(host.scope),
      clientId: crypto.randomUUID(),
      id: crypto.randomUUID(),
      name: `C ${index}`,
      redirectUris: [redirect],
      enabledProviders: ['email' as const],
      allowSignUp: false,
      confidential: false,
      registrationHash: 'x',
    }));
    await app.database.pool.insert(projectApps).values(values);
    const answers = await Promise.all(Array.from({ length: 10 }, () => errorOf(token)));
    expect(answers.filter(([status]) => status === 201)).toHaveLength(3);
    expect(answers.filter(([status, error]) => status === 409 && error === 'access_denied')).toHaveLength(7);
  });

  it.each(storyTransports(import.meta))(
    'scopes of which the person who allows them has not all, over %s',
    async (via) => {
      const { scope, owner } = host;
      const id = projectOf(scope);
      const change = (registrableScopes: string[], token = owner.token) =>
        app.raw('updateProject', { scope, id, registrableScopes }, { token, via });
      const unknown = await change(['board:nothing']);
      expect([unknown.code, unknown.details?.[0]?.path]).toEqual(['VALIDATION_ERROR', 'registrableScopes.0']);

      const keeper = await projectKeeper();
      for (const foreign of ['board:edit', 'BOARD:EDIT', 'Role:Delete']) {
        const refused = await change(['board:read', foreign], keeper.token);
        expect(refused.code, foreign).toBe('PRIVILEGE_ESCALATION');
      }
      // Scopes that are registrable already may stay or be removed; one that is added again counts as new. A caller may
      // add scopes that they hold.
      const stays = await change(['board:read', 'Project:Update'], keeper.token);
      expect(stays.data).toMatchObject({ registrableScopes: ['board:read', 'Project:Update'] });
      expect((await change([], keeper.token)).ok).toBe(true);
      expect((await change(['board:read'], keeper.token)).code).toBe('PRIVILEGE_ESCALATION');
      expect((await app.must('project', { scope, id }, { token: owner.token })).registrableScopes).toEqual(
        [],
      );
    },
  );

  /** Creates a user who may update the project, but holds no permission on its resources. */
  async function projectKeeper(): Promise<Person> {
    const { scope, owner } = host;
    const as = { token: owner.token };
    const permissionIds = ['Project:Query', 'Project:Update'].map(permissionIdOf);
    const group = await app.must('createGroup', { scope, name: 'Settings', permissionIds }, as);
    const role = await app.must('createRole', { scope, name: 'Keeper', groupIds: [group.id] }, as);
    const person = await app.person();
    const { userId } = person;
    const tenantId = projectOf(scope);
    await app.database.pool.insert(projectUsers).values({ tenantId, userId });
    await app.database.pool
      .insert(projectUserRoles)
      .values({ tenantId, userId, roleId: role.id, roleTenantId: tenantId });
    return person;
  }
});

it('is named by the metadata where it is on', async () => {
  const endpoint = async () => {
    const url = `${host.issuer.replace('http://localhost:4000', '')}/.well-known/openid-configuration`;
    return (await app.server.inject(url)).json<Record<string, unknown>>()['registration_endpoint'];
  };
  expect(await endpoint()).toBe(`http://localhost:4000${register}`);
  await settings(host, { dynamicRegistration: 'off' });
  expect(await endpoint()).toBeUndefined();
});

it('is off in an installation that does not turn it on', async () => {
  const other = await startOwnApp();
  try {
    const sent = { method: 'POST', url: register, payload: { redirect_uris: [redirect] } } as const;
    const refused = await other.server.inject(sent);
    expect([refused.statusCode, refused.json<{ error: string }>().error]).toEqual([404, 'access_denied']);
  } finally {
    await other.close();
  }
});
