import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestApp } from '../../../test/support/app/app.ts';
import { unique, type Person } from '../../../test/support/app/client.ts';
import { keyToken } from '../../../test/contract/world.ts';
import { startAtOwnAddress } from '../../../test/support/app/own-address.ts';
import { appInProject, projectViewer, type AppInProject } from '../../../test/support/sign-in/project-app.ts';
import { challengeOf, consented, newVerifier } from '../../../test/support/sign-in/project-code.ts';

/** Introspection (RFC 7662, openid §5): what a confidential app learns about tokens, and what it does not. */
let app: TestApp;
let base: string;
let user: Person;
/** `mine` and `foreign` are confidential apps of two projects; `neighbour` is another app in the project of `mine`. */
let mine: AppInProject;
let neighbour: AppInProject;
let foreign: AppInProject;

beforeAll(async () => {
  ({ app, base } = await startAtOwnAddress());
  user = await app.person();
  const signUp = { allowSignUp: true, signUpRoleId: projectViewer, confidential: true };
  mine = await appInProject(app, { scopes: ['board:read', 'Role:Query'], ...signUp }, user);
  const made = await app.must(
    'createProjectApp',
    { scope: mine.scope, name: 'Neighbour', redirectUris: [mine.redirectUri] },
    { token: user.token },
  );
  neighbour = { ...mine, id: made.id, clientId: made.clientId, clientSecret: null };
  foreign = await appInProject(app, signUp, user);
});
afterAll(() => app.close());

const issuerOf = ({ issuer }: AppInProject) => issuer.replace('http://localhost:4000', base);

/** Tokens of the user for an app. */
async function tokensFor(to: AppInProject, scopes: string[] | null = null, openidScopes: 'openid'[] = []) {
  const verifier = newVerifier();
  const code = await consented(app, {
    appId: to.id,
    userId: user.userId,
    redirectUri: to.redirectUri,
    challenge: challengeOf(verifier),
    scopes,
    openidScopes,
  });
  return app.must('projectToken', {
    grant_type: 'authorization_code',
    code,
    redirect_uri: to.redirectUri,
    code_verifier: verifier,
    client_id: to.clientId,
    ...(to.clientSecret === null ? {} : { client_secret: to.clientSecret }),
  });
}

/** Sends a form that contains the secret, and returns the response. */
async function ask(token: string, by: AppInProject = mine, more: Record<string, string> = {}) {
  const fields = { token, client_id: by.clientId, client_secret: by.clientSecret ?? '', ...more };
  const { statusCode, body, headers } = await app.server.inject({
    method: 'POST',
    url: '/api/auth/project/introspect',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  });
  return { status: statusCode, answer: JSON.parse(body) as Record<string, unknown>, headers };
}
const inactive = { active: false };

it('openid-client asks by issuer alone', async () => {
  const config = await openid.discovery(
    new URL(issuerOf(mine)),
    mine.clientId,
    undefined,
    openid.ClientSecretBasic(mine.clientSecret ?? ''),
    { execute: [openid.allowInsecureRequests] },
  );
  const { accessToken } = await tokensFor(mine, ['board:read', 'Role:Query']);
  const answer = await openid.tokenIntrospection(config, accessToken);
  const { iat = 0 } = answer;
  expect(answer).toEqual({
    active: true,
    token_type: 'Bearer',
    client_id: mine.clientId,
    scope: 'board:read Role:Query',
    sub: user.userId,
    iss: issuerOf(mine),
    aud: base,
    jti: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
    iat,
    exp: iat + 900,
    auth_time: expect.any(Number) as number,
    acr: 'aal1',
  });
});

describe('an access token', () => {
  it('of another app or of a key of the project is active too', async () => {
    const { accessToken } = await tokensFor(neighbour);
    const { answer } = await ask(accessToken);
    expect(answer).toMatchObject({ active: true, client_id: neighbour.clientId });
    expect(answer).not.toHaveProperty('scope');
    const key = await ask(await keyToken(app, user.token, mine.scope));
    expect(key.answer).toMatchObject({ active: true, token_type: 'Bearer', iss: issuerOf(mine) });
    expect(key.answer).not.toHaveProperty('client_id');
  });

  it('has the scopes that the app still has', async () => {
    const { accessToken } = await tokensFor(mine, ['board:read', 'Role:Query']);
    const change = (scopes: string[]) =>
      app.must('updateProjectApp', { scope: mine.scope, id: mine.id, scopes }, { token: user.token });
    await change(['board:read']);
    expect((await ask(accessToken)).answer['scope']).toBe('board:read');
    await change(['board:read', 'Role:Query']);
  });

  it('is inactive at once when its session has ended', async () => {
    const { accessToken } = await tokensFor(mine);
    const { answer } = await ask(accessToken);
    await app.must('revokeMyUserSession', { id: String(answer['jti']) }, { token: user.token });
    expect((await ask(accessToken)).answer).toEqual(inactive);
  });

  it(
    'of another issuer, of a session, an id_token, and text that is not a token get the same answer',
    { tags: 'independent' },
    async () => {
      const { accessToken } = await tokensFor(foreign);
      expect((await ask(accessToken, foreign)).answer['active']).toBe(true);
      const own = await tokensFor(mine, [], ['openid']);
      expect((await ask(own.accessToken)).answer).toMatchObject({ active: true, scope: '' });
      const altered = `${own.accessToken.slice(0, -4)}AAAA`;
      const [first, ...others] = await Promise.all(
        [accessToken, user.token, own.idToken ?? '', altered, 'x', '\0', `${'a'.repeat(4000)}.b.c`].map(
          (token) => ask(token),
        ),
      );
      expect([first?.status, first?.answer]).toEqual([200, inactive]);
      for (const other of others) expect([other.status, other.answer]).toEqual([200, inactive]);
    },
  );
});

describe('a refresh token', () => {
  it('is active for its own app only, and not after it was replaced', async () => {
    const { refreshToken } = await tokensFor(mine, ['board:read']);
    const token = refreshToken ?? '';
    const { answer } = await ask(token);
    expect(answer).toMatchObject({ active: true, client_id: mine.clientId, scope: 'board:read' });
    expect(answer).not.toHaveProperty('token_type');
    const theirs = await tokensFor(neighbour);
    expect((await ask(theirs.refreshToken ?? '')).answer).toEqual(inactive);
    const { clientId: client_id, clientSecret } = mine;
    const renewal = { grant_type: 'refresh_token' as const, refresh_token: token, client_id };
    const next = await app.must('projectToken', { ...renewal, client_secret: clientSecret ?? '' });
    expect((await ask(token)).answer).toEqual(inactive);
    // Introspecting the replaced token is not a reuse, so it ended nothing.
    expect((await ask(next.refreshToken ?? '')).answer['active']).toBe(true);
  });
});

describe('who asks', () => {
  it('is a confidential app with its secret', async () => {
    const { accessToken } = await tokensFor(mine);
    for (const [by, more] of [
      [mine, { client_secret: 'wrong' }],
      [mine, { client_secret: '' }],
      [neighbour, { client_secret: '' }],
      [mine, { client_id: crypto.randomUUID() }],
    ] as const) {
      const { status, answer, headers } = await ask(accessToken, by, more);
      expect([status, answer['error']]).toEqual([401, 'invalid_client']);
      expect(headers['www-authenticate']).toContain('Basic');
    }
  });

  it('gets the envelope with JSON, and may send unknown parameters but none twice', async () => {
    const { accessToken } = await tokensFor(mine);
    const credentials = { client_id: mine.clientId, client_secret: mine.clientSecret ?? '' };
    const { data } = await app.call('introspectProjectToken', { token: accessToken, ...credentials });
    expect(data.active).toBe(true);
    expect((await ask(accessToken, mine, { resource_hint: unique() })).answer['active']).toBe(true);
    const twice = await app.server.inject({
      method: 'POST',
      url: '/api/auth/project/introspect',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `${new URLSearchParams(credentials).toString()}&token=a&token=b`,
    });
    expect([twice.statusCode, twice.json<{ error: string }>().error]).toEqual([400, 'invalid_request']);
  });
});
