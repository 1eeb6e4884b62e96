import { auth } from 'express-oauth2-jwt-bearer';
import { createServer, type AddressInfo } from 'node:net';
import { InMemoryWebStorage, OidcClient, WebStorageStateStore } from 'oidc-client-ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app.ts';
import type { Person } from '../../../test/support/client.ts';
import { appInProject, signInBrowser, type AppInProject } from '../../../test/support/project-app.ts';

/**
 * Clients and verifiers of other makers over HTTP: those that run in pages and in servers as they come, and of two that
 * would bring many packages what they send and insist on.
 */
let app: TestApp;
let base: string;
let user: Person;
let boards: AppInProject;
let secret: AppInProject;

beforeAll(async () => {
  // The libraries go where the issuer says, so the service must be there.
  const free = createServer();
  await new Promise<void>((listening) => free.listen(0, '127.0.0.1', listening));
  const { port } = free.address() as AddressInfo;
  await new Promise((closed) => free.close(closed));
  base = `http://127.0.0.1:${port}`;
  app = await startApp({ APP_URL: base, SECURITY_ADDITIONAL_ORIGINS: 'http://localhost:4000' });
  await app.server.listen({ host: '127.0.0.1', port });
  user = await app.person();
  const scopes = ['board:read', 'Role:Query'];
  boards = await appInProject(app, { scopes }, user);
  secret = await appInProject(app, { scopes, confidential: true }, user);
});
afterAll(() => app.close());

const issuerOf = ({ issuer }: AppInProject) => issuer.replace('http://localhost:4000', base);

/** The user's part: the browser goes where the client sends it, opens the mail, and says yes. */
async function consentTo(client: AppInProject, address: string): Promise<string> {
  const browser = signInBrowser(app, client);
  const begun = await browser.get(address);
  expect(begun.headers.location, begun.body).toBe(`${base}/api/auth/project/sign-in`);
  await browser.open(await browser.mail(user.email));
  const end = await browser.answer('approve');
  return String(end.headers.location);
}

/** Code and verifier, as far as every client comes. */
async function codeFor(client: AppInProject) {
  const browser = signInBrowser(app, client);
  const query = new URLSearchParams(browser.request).toString();
  const end = new URL(await consentTo(client, `${base}/api/auth/project/authorize?${query}`));
  return { code: end.searchParams.get('code') ?? '', verifier: browser.verifier };
}

it('oidc-client-ts signs in, renews and revokes', async () => {
  const client = new OidcClient({
    authority: issuerOf(boards),
    metadataUrl: `${issuerOf(boards)}/.well-known/oauth-authorization-server`,
    client_id: boards.clientId,
    redirect_uri: boards.redirectUri,
    scope: 'board:read Role:Query',
    stateStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
  });
  // What its users send along for other servers.
  const extraQueryParams = { access_type: 'offline', audience: 'https://api.example' };
  const { url } = await client.createSigninRequest({ extraQueryParams });
  const tokens = await client.processSigninResponse(await consentTo(boards, url));
  expect(tokens.access_token).toMatch(/^ey/);
  expect(tokens.refresh_token).toMatch(/^dwr_/);
  await client.revokeToken(tokens.refresh_token ?? '', 'refresh_token');
  expect((await app.raw('projectUserInfo', {}, { token: tokens.access_token })).status).toBe(401);
});

describe('express-oauth2-jwt-bearer', () => {
  type Middleware = (request: object, response: object, next: (error?: unknown) => void) => void;

  /** Who it lets in, knowing the issuer alone. */
  async function admitted(issuerBaseURL: string, token: string): Promise<unknown> {
    const check = auth({ issuerBaseURL, audience: base }) as unknown as Middleware;
    const headers: Record<string, string> = { host: 'api.example', authorization: `Bearer ${token}` };
    const get = (name: string) => headers[name.toLowerCase()];
    const line = { method: 'GET', protocol: 'https', originalUrl: '/boards', query: {} };
    const request: { auth?: { payload: object } } & object = {
      ...line,
      ...{ headers, get, is: () => false },
    };
    await new Promise<void>((resolve, reject) =>
      check(request, {}, (error) => {
        if (error === undefined) resolve();
        else reject(error instanceof Error ? error : new Error('refused'));
      }),
    );
    return request.auth?.payload;
  }

  it('finds the keys of session tokens by their issuer', async () => {
    expect(await admitted(base, user.token)).toMatchObject({ sub: user.userId, type: 'session' });
    await expect(admitted(issuerOf(boards), user.token)).rejects.toThrow();
  });

  it('finds the keys of a project by its issuer', async () => {
    const key = await app.must('createApiKey', { scope: boards.scope }, { token: user.token });
    const { clientId, scope } = key;
    const exchanged = { clientId, clientSecret: key.clientSecret as string, scope };
    const { accessToken } = await app.must('exchangeApiKey', exchanged);
    expect(await admitted(issuerOf(boards), accessToken)).toMatchObject({ type: 'ApiKey' });
    await expect(admitted(base, accessToken)).rejects.toThrow();
  });
});

/** As `fetch` sends it, read as the libraries do. */
async function post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
  const answer = await fetch(base + path, { method: 'POST', headers, body: new URLSearchParams(fields) });
  expect(answer.headers.get('content-type')).toMatch(/^application\/json\b/);
  return { status: answer.status, body: (await answer.json()) as Record<string, string> };
}
const basic = ({ clientId, clientSecret }: AppInProject) => ({
  authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`,
});

it('a client that repeats its query at the token endpoint is served, as client-oauth2 does', async () => {
  const { code, verifier } = await codeFor(secret);
  const query = '?code_challenge=x&code_challenge_method=S256&access_type=offline';
  const { status, body } = await post(
    `/api/auth/project/token${query}`,
    { grant_type: 'authorization_code', code, redirect_uri: secret.redirectUri, code_verifier: verifier },
    { ...basic(secret), accept: 'application/json, application/x-www-form-urlencoded' },
  );
  expect([status, body['token_type']]).toEqual([200, 'Bearer']);
});

it('a client that revokes one token after the other reads JSON of both, as simple-oauth2 does', async () => {
  const { code, verifier } = await codeFor(secret);
  const fields = { grant_type: 'authorization_code', code, redirect_uri: secret.redirectUri };
  const accept = { ...basic(secret), accept: 'application/json' };
  const { body } = await post('/api/auth/project/token', { ...fields, code_verifier: verifier }, accept);
  for (const hint of ['access_token', 'refresh_token']) {
    const sent = { token: body[hint] ?? '', token_type_hint: hint };
    expect(await post('/api/auth/project/revoke', sent, accept)).toEqual({ status: 200, body: {} });
  }
});
