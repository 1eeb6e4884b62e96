import { createHash } from 'node:crypto';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify, type JSONWebKeySet } from 'jose';
import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDoorward } from '../../../../node/src/node.ts';
import type { TestApp } from '../../../test/support/app/app.ts';
import type { Person } from '../../../test/support/app/client.ts';
import { startAtOwnAddress } from '../../../test/support/app/own-address.ts';
import {
  appInProject,
  projectViewer,
  redirectParameters,
  signInBrowser,
  type AppInProject,
  type SignInBrowser,
} from '../../../test/support/sign-in/project-app.ts';

/**
 * OpenID Connect at the issuer of a project, as an app uses it: `openid-client` knows the issuer alone. The rules of
 * OpenID Connect Core and their tests are in docs/spec/openid-conformance.md.
 */
let app: TestApp;
let base: string;
let user: Person;
/** Two apps of one project's owner, in two projects; `open` is not restricted. */
let mine: AppInProject;
let other: AppInProject;
let open: AppInProject;
/** The browser of the last `signIn`. */
let lastBrowser: SignInBrowser;

const signUp = { allowSignUp: true, signUpRoleId: projectViewer };

beforeAll(async () => {
  ({ app, base } = await startAtOwnAddress());
  user = await app.person();
  mine = await appInProject(app, { scopes: ['board:read', 'Role:Query'], ...signUp }, user);
  other = await appInProject(app, { scopes: ['board:read'] }, user);
  open = await appInProject(app, {}, user);
});
afterAll(() => app.close());

const issuerOf = ({ issuer }: AppInProject) => issuer.replace('http://localhost:4000', base);

/** A client that has discovered the issuer, and accepts http. */
const clientOf = (to: AppInProject): Promise<openid.Configuration> =>
  openid.discovery(new URL(issuerOf(to)), to.clientId, undefined, openid.None(), {
    execute: [openid.allowInsecureRequests],
  });

/** The user signs in by mail and consents; returns the address at which the app continues, and the tokens. */
async function signIn(to: AppInProject, scope: string, more: Record<string, string> = {}) {
  const config = await clientOf(to);
  const [verifier, state, nonce] = [
    openid.randomPKCECodeVerifier(),
    openid.randomState(),
    openid.randomNonce(),
  ];
  const address = openid.buildAuthorizationUrl(config, {
    redirect_uri: to.redirectUri,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    scope,
    state,
    nonce,
    prompt: 'consent',
    ...more,
  });
  const browser = signInBrowser(app, to);
  lastBrowser = browser;
  expect((await browser.get(address.href)).statusCode).toBe(303);
  await browser.open(await browser.mail(user.email));
  const page = await browser.page();
  const end = new URL(String((await browser.answer('approve')).headers.location));
  const checks = {
    pkceCodeVerifier: verifier,
    expectedState: state,
    ...(scope.includes('openid') && { expectedNonce: nonce, idTokenExpected: true }),
  };
  return { config, end, checks, nonce, page, verifier };
}

async function tokensFor(to: AppInProject, scope: string) {
  const { config, end, checks, nonce } = await signIn(to, scope);
  const tokens = await openid.authorizationCodeGrant(config, end, checks);
  return { config, tokens, nonce, idToken: tokens.id_token ?? '' };
}

/** Verifies an id_token with the published keys alone. */
async function claimsOf(of: AppInProject, token: string) {
  const { body } = await app.server.inject({
    url: `${new URL(issuerOf(of)).pathname}/.well-known/jwks.json`,
  });
  const keys = createLocalJWKSet(JSON.parse(body) as JSONWebKeySet);
  const expected = { issuer: issuerOf(of), audience: of.clientId, algorithms: ['RS256'] };
  return (await jwtVerify(token, keys, expected)).payload;
}

const userInfo = (method: 'GET' | 'POST', token?: string, headers: Record<string, string> = {}) =>
  app.server.inject({
    method,
    url: '/api/auth/project/user-info',
    headers: { ...headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
  });

describe('an id_token', () => {
  it('says who signed in, when, how, to which app, and belongs to the access token', async () => {
    const { tokens, nonce, idToken } = await tokensFor(mine, 'openid');
    const claims = await claimsOf(mine, idToken);
    const { iat = 0 } = claims;
    const half = createHash('sha256').update(tokens.access_token).digest().subarray(0, 16);
    expect(claims).toEqual({
      iss: issuerOf(mine),
      sub: user.userId,
      aud: mine.clientId,
      sid: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      auth_time: expect.any(Number) as number,
      acr: 'aal1',
      amr: ['mail'],
      nonce,
      at_hash: half.toString('base64url'),
      iat,
      exp: iat + 900,
    });
    expect(claims['auth_time']).toBeLessThanOrEqual(iat);
    expect(decodeProtectedHeader(idToken)).toEqual({
      alg: 'RS256',
      typ: 'JWT',
      kid: expect.any(String) as string,
    });
  });

  it('is absent without the scope openid', async () => {
    const { tokens } = await tokensFor(mine, 'board:read');
    expect(tokens.id_token).toBeUndefined();
    expect(tokens.refresh_token).toMatch(/^dwr_/);
  });

  it('of a refresh has the same user, session and time of sign-in, and no nonce', async () => {
    const { config, tokens, idToken } = await tokensFor(mine, 'openid offline_access');
    const first = await claimsOf(mine, idToken);
    // Two access tokens of one session and second are equal.
    app.clock.advance(1000);
    const renewed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '');
    const second = await claimsOf(mine, renewed.id_token ?? '');
    for (const claim of ['iss', 'sub', 'aud', 'sid', 'auth_time', 'acr', 'amr']) {
      expect(second[claim]).toEqual(first[claim]);
    }
    expect(second).not.toHaveProperty('nonce');
    expect(second['at_hash']).not.toBe(first['at_hash']);
  });

  it.each([
    ['openid profile email offline_access', ['name', 'updated_at', 'email', 'email_verified']],
    ['openid email offline_access', ['email', 'email_verified']],
    ['openid offline_access', []],
  ])(
    'of an app with idTokenClaims has those of user info that `%s` grants, and no others',
    async (scope, names) => {
      const to = await appInProject(app, { ...signUp, idTokenClaims: true });
      const own = ['name', 'picture', 'locale', 'updated_at', 'email', 'email_verified'];
      const { config, tokens, idToken } = await tokensFor(to, scope);
      const claims = await claimsOf(to, idToken);
      expect(own.filter((name) => name in claims)).toEqual(names);
      const info = (await userInfo('GET', tokens.access_token)).json<Record<string, unknown>>();
      for (const name of names) expect(claims[name], name).toEqual(info[name]);
      expect(decodeJwt(tokens.access_token)).not.toHaveProperty('email');
      const renewed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '');
      expect(own.filter((name) => name in (renewed.claims() ?? {}))).toEqual(names);
    },
  );

  it('with the nonce of another request is refused by the client', async () => {
    const { config, end, checks } = await signIn(mine, 'openid');
    const replayed = { ...checks, expectedNonce: openid.randomNonce() };
    await expect(openid.authorizationCodeGrant(config, end, replayed)).rejects.toMatchObject({
      cause: { cause: { claim: 'nonce' } },
    });
  });

  it('is not a credential of this API, and an access token is not an id_token', async () => {
    const { tokens, idToken } = await tokensFor(mine, 'openid profile email');
    for (const name of ['me', 'projectUserInfo', 'myPermissions'] as const) {
      const answer = await app.raw(name, name === 'myPermissions' ? { scope: mine.scope } : {}, {
        token: idToken,
      });
      expect([name, answer.status]).toEqual([name, 401]);
    }
    const doorward = createDoorward({ url: base, scope: mine.scope as never });
    for (const audience of [base, mine.clientId]) {
      await expect(doorward.verifyToken(idToken, { types: ['projectApp'], audience })).rejects.toThrow();
    }
    const principal = await doorward.verifyToken(tokens.access_token, { types: ['projectApp'] });
    expect(principal.userId).toBe(user.userId);
    doorward.close();
    await expect(claimsOf(mine, tokens.access_token)).rejects.toThrow(/aud/);
  });
});

describe('the scopes of OpenID', () => {
  it('need no entry in the app, are in the answer, and are no permissions', async () => {
    const { tokens } = await tokensFor(mine, 'openid profile email Role:Query');
    expect(tokens.scope).toBe('openid profile email Role:Query');
    const { data } = await app.raw('myPermissions', { scope: mine.scope }, { token: tokens.access_token });
    expect(JSON.stringify(data)).not.toMatch(/openid|profile|offline/);
    const [, payload = ''] = tokens.access_token.split('.');
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toMatchObject({
      scopes: ['Role:Query'],
    });
  });

  it('alone give no permission of a restricted app', async () => {
    const { tokens } = await tokensFor(mine, 'openid');
    expect(tokens.scope).toBe('openid');
    const [, payload = ''] = tokens.access_token.split('.');
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toMatchObject({ scopes: [] });
    const refused = await app.raw('roles', { scope: mine.scope }, { token: tokens.access_token });
    expect([refused.status, refused.code]).toEqual([403, 'FORBIDDEN']);
  });

  it('leave an app without restriction as it is', async () => {
    const { tokens } = await tokensFor(open, 'openid email');
    expect(tokens.scope).toBeUndefined();
  });

  it('give a refresh token only with offline_access, and without it a session of one access token', async () => {
    const without = await tokensFor(mine, 'openid');
    expect(without.tokens.refresh_token).toBeUndefined();
    const { sid } = await claimsOf(mine, without.idToken);
    const { items } = await app.must('myUserSessions', {}, { token: user.token });
    const session = items.find(({ id }) => id === sid);
    const life = new Date(session?.expiresAt ?? 0).getTime() - app.clock.now().getTime();
    expect(life).toBeGreaterThan(800_000);
    expect(life).toBeLessThanOrEqual(900_000);
    const offline = await tokensFor(mine, 'openid offline_access');
    expect(offline.tokens.refresh_token).toMatch(/^dwr_/);
  });

  it('are named on the page of consent', async () => {
    const { page } = await signIn(mine, 'openid email offline_access board:read');
    expect(page.body).toContain('your e-mail address');
    expect(page.body).toContain('30 days at most');
    expect(page.body).not.toContain('your name, picture and language');
  });
});

describe('user info', () => {
  it.each([
    ['openid', ['sub']],
    ['openid email', ['email', 'email_verified', 'sub']],
    ['openid profile', ['name', 'sub', 'updated_at']],
    ['openid profile email', ['email', 'email_verified', 'name', 'sub', 'updated_at']],
    ['board:read', ['email', 'email_verified', 'name', 'sub', 'updated_at']],
  ])('with %s has %j, by GET and by POST', async (scope, names) => {
    const { config, tokens } = await tokensFor(mine, scope);
    const claims = await openid.fetchUserInfo(config, tokens.access_token, user.userId);
    expect(Object.keys(claims).sort()).toEqual(names);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    for (const posted of [
      await userInfo('POST', tokens.access_token),
      await userInfo('POST', tokens.access_token, form),
    ]) {
      expect([posted.statusCode, posted.json()]).toEqual([200, claims]);
      expect(posted.headers['content-type']).toMatch(/^application\/json/);
    }
  });

  it('answers errors as RFC 6750 says, and ends with the session', async () => {
    const { tokens, idToken } = await tokensFor(mine, 'openid');
    for (const method of ['GET', 'POST'] as const) {
      const missing = await userInfo(method);
      expect([missing.statusCode, missing.headers['www-authenticate']]).toEqual([401, 'Bearer']);
      const wrong = await userInfo(method, idToken);
      expect(wrong.statusCode).toBe(401);
      expect(wrong.headers['www-authenticate']).toContain('error="invalid_token"');
    }
    const { sid } = await claimsOf(mine, idToken);
    await app.must('revokeMyUserSession', { id: String(sid) }, { token: user.token });
    expect((await userInfo('POST', tokens.access_token)).statusCode).toBe(401);
  });
});

describe('a request', () => {
  it('may come by POST, and is then as one by GET', async () => {
    const browser = signInBrowser(app, mine);
    const begun = await browser.post('/api/auth/project/authorize', {
      ...browser.request,
      scope: 'openid',
      prompt: 'consent',
    });
    expect([begun.statusCode, begun.headers.location]).toEqual([303, `${base}/api/auth/project/sign-in`]);
    await browser.open(await browser.mail(user.email));
    const end = redirectParameters(await browser.answer('approve'));
    expect(end).toMatchObject({ state: browser.request['state'], iss: issuerOf(mine) });
  });

  it('has a code that no other app can use', async () => {
    const { end, checks } = await signIn(mine, 'openid');
    const foreign = await clientOf(other);
    const stolen = new URL(end);
    stolen.searchParams.set('iss', issuerOf(other));
    await expect(openid.authorizationCodeGrant(foreign, stolen, checks)).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    const own = await clientOf(mine);
    expect((await openid.authorizationCodeGrant(own, end, checks)).id_token).toBeDefined();
  });
});

describe('the parameters of an authentication request', () => {
  const asked = { scope: 'openid' };

  it('prompt=none never shows a page: the app learns that the user has to sign in', async () => {
    const browser = signInBrowser(app, mine);
    const silent = await browser.get(
      `/api/auth/project/authorize?${new URLSearchParams({ ...browser.request, ...asked, prompt: 'none' }).toString()}`,
      { accept: 'text/html' },
    );
    expect(silent.statusCode).toBe(303);
    expect(String(silent.headers.location)).toMatch(/^https:\/\/boards\.example\/callback\?/);
    expect(redirectParameters(silent)).toMatchObject({
      error: 'login_required',
      state: browser.request['state'],
      iss: issuerOf(mine),
    });
  });

  it.each(['login consent', 'consent', 'select_account consent'])(
    'prompt=%s asks the user to sign in and to consent, also the second time',
    async (prompt) => {
      const before = Math.floor(app.clock.now().getTime() / 1000);
      const { config, end, checks, page } = await signIn(mine, 'openid', { prompt, max_age: '0' });
      expect(page.body).toContain('consent/approve');
      const tokens = await openid.authorizationCodeGrant(config, end, checks);
      const { auth_time } = await claimsOf(mine, tokens.id_token ?? '');
      expect(auth_time).toBeGreaterThanOrEqual(before);
    },
  );

  it.each([
    [{ prompt: 'none login' }, 'invalid_request'],
    [{ prompt: 'create' }, 'invalid_request'],
    [{ max_age: '-1' }, 'invalid_request'],
    [{ max_age: 'x' }, 'invalid_request'],
    [{ nonce: 'a\nb' }, 'invalid_request'],
    [{ id_token_hint: 'a.b.c' }, 'invalid_request'],
    [{ request: 'a.b.c' }, 'request_not_supported'],
    [{ request_uri: 'https://boards.example/r' }, 'request_uri_not_supported'],
    [{ registration: '{}' }, 'registration_not_supported'],
    [{ response_type: 'id_token' }, 'unsupported_response_type'],
    [{ scope: 'openid phone' }, 'invalid_scope'],
  ])('%j is answered with %s', async (change, error) => {
    const browser = signInBrowser(app, mine);
    const answer = redirectParameters(await browser.authorize({ ...asked, ...change }));
    expect(answer).toMatchObject({ error, state: browser.request['state'], iss: issuerOf(mine) });
  });

  it('id_token_hint admits its user, also when it has expired, and nobody else', async () => {
    const { idToken } = await tokensFor(mine, 'openid');
    const again = await signIn(mine, 'openid', { id_token_hint: idToken });
    expect(
      (await openid.authorizationCodeGrant(again.config, again.end, again.checks)).id_token,
    ).toBeDefined();

    const somebody = await app.person();
    const browser = signInBrowser(app, mine);
    await browser.authorize({ ...asked, id_token_hint: idToken });
    const refused = redirectParameters(await browser.open(await browser.mail(somebody.email)));
    expect(refused['error']).toBe('login_required');
    expect(refused).not.toHaveProperty('code');
  });

  it('id_token_hint takes no access token, and no id_token of another app or issuer', async () => {
    const { tokens } = await tokensFor(mine, 'openid');
    const foreign = await tokensFor(other, 'openid');
    for (const hint of [tokens.access_token, foreign.idToken, user.token]) {
      const answer = redirectParameters(
        await signInBrowser(app, mine).authorize({ ...asked, id_token_hint: hint }),
      );
      expect(answer['error']).toBe('invalid_request');
    }
  });

  it('login_hint fills the field, as text only', async () => {
    const browser = signInBrowser(app, mine);
    await browser.authorize({ ...asked, login_hint: 'ada"<b>@example.com' });
    const page = await browser.page();
    expect(page.body).toContain('value="ada&quot;&lt;b&gt;@example.com"');
    const another = signInBrowser(app, mine);
    await another.authorize({ ...asked, login_hint: 'no address' });
    expect((await another.page()).body).not.toContain('no address');
  });
});

describe('response_mode=form_post', () => {
  const fieldsOf = (body: string): Record<string, string> =>
    Object.fromEntries(
      [...body.matchAll(/name="([a-z_]+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [
        name,
        value,
      ]),
    );
  const html = { accept: 'text/html' };

  it('posts the code from a page, and no address contains it', async () => {
    const { config, end, page, checks } = await signIn(mine, 'openid', { response_mode: 'form_post' });
    expect(page.statusCode).toBe(200);
    expect(`${end.origin}${end.pathname}`).toBe(`${base}/api/auth/project/respond`);
    expect(end.search).toBe('');
    const last = lastBrowser;
    const form = await last.get(end.pathname, html);
    expect(form.body).toContain(`<form method="post" action="${mine.redirectUri}">`);
    expect(form.headers['content-security-policy']).toContain("script-src 'self'");
    expect((await last.get(`${end.pathname}.js`)).body).toBe('document.forms[0].submit();');
    const fields = fieldsOf(form.body);
    expect(fields).toMatchObject({ iss: issuerOf(mine), state: checks.expectedState });
    const address = new URL(mine.redirectUri);
    address.search = new URLSearchParams(fields).toString();
    expect((await openid.authorizationCodeGrant(config, address, checks)).id_token).toBeDefined();
    // Another browser does not see it.
    expect((await signInBrowser(app, mine).get(end.pathname, html)).statusCode).toBe(400);
  });

  it('posts errors too: a denied sign-in, and one that is not possible without a page', async () => {
    const mode = { scope: 'openid', response_mode: 'form_post' };
    const browser = signInBrowser(app, mine);
    await browser.toConsent(user.email, mode);
    const denied = await browser.answer('deny');
    expect(String(denied.headers.location)).toMatch(/\/respond$/);
    const shown = fieldsOf((await browser.get('/api/auth/project/respond', html)).body);
    expect(shown).toEqual({ error: 'access_denied', state: shown['state'], iss: issuerOf(mine) });
    const silent = await browser.authorize({ ...mode, prompt: 'none' });
    expect(String(silent.headers.location)).toMatch(/\/respond$/);
    const form = fieldsOf((await browser.get('/api/auth/project/respond', html)).body);
    expect(form['error']).toBe('login_required');
  });
});

it.each([
  ['fr-CH de', 'fr'],
  ['ja es', 'es'],
  ['ja', 'de'],
  ['', 'de'],
  ['../../etc <script>', 'de'],
])('ui_locales %j: the pages are in %s', async (ui_locales, language) => {
  const to = await appInProject(app);
  const browser = signInBrowser(app, to);
  expect((await browser.authorize({ ui_locales })).statusCode).toBe(303);
  const headers = { accept: 'text/html', 'accept-language': 'de' };
  const page = await browser.get('/api/auth/project/sign-in', headers);
  expect(page.headers['content-language']).toBe(language);
  expect(page.body).toContain(`<html lang="${language}">`);
});
