import { auth } from 'express-oauth2-jwt-bearer';
import { InMemoryWebStorage, OidcClient, WebStorageStateStore } from 'oidc-client-ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestApp } from '../../../test/support/app/app.ts';
import type { Person } from '../../../test/support/app/client.ts';
import { startAtOwnAddress } from '../../../test/support/app/own-address.ts';
import { appInProject, signInBrowser, type AppInProject } from '../../../test/support/sign-in/project-app.ts';

/**
 * More third-party clients and verifiers over HTTP: two libraries unmodified, and for two others, which have many
 * dependencies, the requests that they send and the answers that they need.
 */
let app: TestApp;
let base: string;
let user: Person;
let boards: AppInProject;
let secret: AppInProject;

beforeAll(async () => {
  ({ app, base } = await startAtOwnAddress());
  user = await app.person();
  const scopes = ['board:read', 'Role:Query'];
  boards = await appInProject(app, { scopes }, user);
  secret = await appInProject(app, { scopes, confidential: true }, user);
});
afterAll(() => app.close());

const issuerOf = ({ issuer }: AppInProject) => issuer.replace('http://localhost:4000', base);

/** The part of the user: the browser follows the redirect of the client, opens the mail, and consents. */
async function consentTo(client: AppInProject, address: string): Promise<string> {
  const browser = signInBrowser(app, client);
  const begun = await browser.get(address);
  expect(begun.headers.location, begun.body).toBe(`${base}/api/auth/project/sign-in`);
  const end = await browser.finish(user.email);
  return String(end.headers.location);
}

/** A code and its verifier. */
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
  // Extra parameters that other servers need.
  const extraQueryParams = { access_type: 'offline', audience: 'https://api.example' };
  const { url } = await client.createSigninRequest({ extraQueryParams });
  const tokens = await client.processSigninResponse(await consentTo(boards, url));
  expect(tokens.access_token).toMatch(/^ey/);
  expect(tokens.refresh_token).toMatch(/^dwr_/);
  await client.revokeToken(tokens.refresh_token ?? '', 'refresh_token');
  expect((await app.raw('projectUserInfo', {}, { token: tokens.access_token })).status).toBe(401);
});

it('oidc-client-ts knows the issuer alone: it signs in, again in silence, and out', async () => {
  const goodbye = 'https://boards.example/goodbye';
  const { redirectUri } = boards;
  const own = await appInProject(app, { firstParty: true, postLogoutRedirectUris: [goodbye] }, user);
  const client = new OidcClient({
    authority: issuerOf(own),
    client_id: own.clientId,
    redirect_uri: redirectUri,
    post_logout_redirect_uri: goodbye,
    scope: 'openid profile email',
    loadUserInfo: true,
    stateStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
  });
  const browser = signInBrowser(app, own);
  await browser.get((await client.createSigninRequest({})).url);
  const first = await client.processSigninResponse(
    String((await browser.finish(user.email)).headers.location),
  );
  expect(first.profile).toMatchObject({ sub: user.userId, email: user.email });
  const silent = await browser.get((await client.createSigninRequest({ prompt: 'none' })).url);
  const second = await client.processSigninResponse(String(silent.headers.location));
  expect(second.profile.sub).toBe(user.userId);
  const { url } = await client.createSignoutRequest({ id_token_hint: second.id_token ?? '', state: 'bye' });
  const left = await browser.get(url);
  expect(String(left.headers.location)).toMatch(/^https:\/\/boards\.example\/goodbye\?state=/);
  await client.processSignoutResponse(String(left.headers.location));
  const refused = await browser.get((await client.createSigninRequest({ prompt: 'none' })).url);
  await expect(client.processSigninResponse(String(refused.headers.location))).rejects.toThrow(
    'the user is not signed in',
  );
});

describe('express-oauth2-jwt-bearer', () => {
  type Middleware = (request: object, response: object, next: (error?: unknown) => void) => void;

  /** The claims of the token, if the middleware accepts it. It is configured only with the issuer. */
  async function claimsOf(issuerBaseURL: string, token: string): Promise<unknown> {
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
    expect(await claimsOf(base, user.token)).toMatchObject({ sub: user.userId, type: 'session' });
    await expect(claimsOf(issuerOf(boards), user.token)).rejects.toThrow();
  });

  it('finds the keys of a project by its issuer', async () => {
    const key = await app.must('createApiKey', { scope: boards.scope }, { token: user.token });
    const { clientId, scope } = key;
    const exchanged = { clientId, clientSecret: key.clientSecret as string, scope };
    const { accessToken } = await app.must('exchangeApiKey', exchanged);
    expect(await claimsOf(issuerOf(boards), accessToken)).toMatchObject({ type: 'ApiKey' });
    await expect(claimsOf(base, accessToken)).rejects.toThrow();
  });
});

/** Sends like `fetch`, and parses like the libraries. */
async function post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
  const answer = await fetch(base + path, { method: 'POST', headers, body: new URLSearchParams(fields) });
  expect(answer.headers.get('content-type')).toMatch(/^application\/json\b/);
  return { status: answer.status, body: (await answer.json()) as Record<string, string> };
}
const basic = ({ clientId, clientSecret }: AppInProject) => ({
  authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`,
});

it('accepts a client that repeats its query at the token endpoint, like client-oauth2', async () => {
  const { code, verifier } = await codeFor(secret);
  const query = '?code_challenge=x&code_challenge_method=S256&access_type=offline';
  const { status, body } = await post(
    `/api/auth/project/token${query}`,
    { grant_type: 'authorization_code', code, redirect_uri: secret.redirectUri, code_verifier: verifier },
    { ...basic(secret), accept: 'application/json, application/x-www-form-urlencoded' },
  );
  expect([status, body['token_type']]).toEqual([200, 'Bearer']);
});

it('answers JSON to a client that revokes both tokens in turn, like simple-oauth2', async () => {
  const { code, verifier } = await codeFor(secret);
  const fields = { grant_type: 'authorization_code', code, redirect_uri: secret.redirectUri };
  const accept = { ...basic(secret), accept: 'application/json' };
  const { body } = await post('/api/auth/project/token', { ...fields, code_verifier: verifier }, accept);
  for (const hint of ['access_token', 'refresh_token']) {
    const sent = { token: body[hint] ?? '', token_type_hint: hint };
    expect(await post('/api/auth/project/revoke', sent, accept)).toEqual({ status: 200, body: {} });
  }
});
