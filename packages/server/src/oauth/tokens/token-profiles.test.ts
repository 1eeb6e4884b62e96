import { auth, requiredScopes } from 'express-oauth2-jwt-bearer';
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDoorward, type Scope } from '../../../../node/src/node.ts';
import { appToken } from '../../../test/support/sign-in/app-token.ts';
import type { TestApp } from '../../../test/support/app/app.ts';
import type { Person } from '../../../test/support/app/client.ts';
import { startAtOwnAddress } from '../../../test/support/app/own-address.ts';
import { appInProject, type AppInProject } from '../../../test/support/sign-in/project-app.ts';

/**
 * Access tokens in the profile of RFC 9068 (openid §11): standard verifiers accept them, and this service accepts them
 * wherever it accepts its own profile.
 */
let app: TestApp;
let base: string;
let owner: Person;
let as: { token: string };
let mine: AppInProject;
/** An app of the same project, with the profile of this service. */
let usual: AppInProject;

beforeAll(async () => {
  ({ app, base } = await startAtOwnAddress());
  owner = await app.person();
  as = { token: owner.token };
  const scopes = ['board:read', 'Role:Query'];
  mine = await appInProject(app, { scopes, accessTokenProfile: 'rfc9068', confidential: true }, owner);
  const fields = { scope: mine.scope, name: 'Usual', redirectUris: [mine.redirectUri], scopes };
  const made = await app.must('createProjectApp', fields, as);
  usual = { ...mine, id: made.id, clientId: made.clientId, clientSecret: null };
});
afterAll(() => app.close());

const issuer = () => mine.issuer.replace('http://localhost:4000', base);

/** The token of a key, and its client id. */
async function keyOf(fields: object = {}) {
  const { id, clientId, clientSecret } = await app.must('createApiKey', { scope: mine.scope, ...fields }, as);
  const credentials = { clientId, clientSecret: clientSecret ?? '', scope: mine.scope };
  const { accessToken } = await app.must('exchangeApiKey', credentials);
  return { id, clientId, accessToken };
}

async function tokenOfApp(to: AppInProject, scopes: string[] | null = ['board:read', 'Role:Query']) {
  if (to.clientSecret === null) return appToken(app, { app: to, userId: owner.userId, scopes });
  const { challengeOf, consented, newVerifier } =
    await import('../../../test/support/sign-in/project-code.ts');
  const verifier = newVerifier();
  const { id: appId, redirectUri } = to;
  const code = await consented(app, {
    appId,
    userId: owner.userId,
    redirectUri,
    challenge: challengeOf(verifier),
    scopes,
    openidScopes: ['openid', 'profile', 'offline_access'],
  });
  const tokens = await app.must('projectToken', {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
    client_id: to.clientId,
    client_secret: to.clientSecret,
  });
  return tokens.accessToken;
}

/** Makes the checks that RFC 9068 §4 requires of a resource server, in its order. */
async function verifyByTheStandard(token: string, audience: string) {
  const { typ, alg } = decodeProtectedHeader(token);
  if (!['at+jwt', 'application/at+jwt'].includes(String(typ).toLowerCase())) throw new Error('typ');
  if (alg === 'none') throw new Error('alg');
  const keys = createRemoteJWKSet(new URL(`${issuer()}/.well-known/jwks.json`));
  const { payload } = await jwtVerify(token, keys, {
    issuer: issuer(),
    audience,
    algorithms: ['RS256'],
    requiredClaims: ['iss', 'exp', 'aud', 'sub', 'client_id', 'iat', 'jti'],
  });
  const { scope } = payload;
  if (scope !== undefined && typeof scope !== 'string') throw new Error('scope');
  return payload;
}

type Middleware = (request: object, response: object, next: (error?: unknown) => void) => void;

/** Whether a third-party verifier, strict about the profile, accepts the token and finds this scope in it. */
async function admitted(token: string, scope: string): Promise<boolean> {
  const check = auth({ issuerBaseURL: issuer(), audience: base, strict: true }) as unknown as Middleware;
  const headers: Record<string, string> = { host: 'api.example', authorization: `Bearer ${token}` };
  const request = {
    ...{ method: 'GET', protocol: 'https', originalUrl: '/boards', query: {}, headers, is: () => false },
    get: (name: string) => headers[name.toLowerCase()],
  };
  for (const step of [check, requiredScopes(scope) as unknown as Middleware]) {
    const fault = await new Promise<unknown>((resolve) => {
      step(request, {}, resolve);
    });
    if (fault !== undefined) return false;
  }
  return true;
}

describe('the token of an app', () => {
  it('is one of RFC 9068, with the scope of Doorward under another name', async () => {
    const token = await tokenOfApp(mine);
    expect(decodeProtectedHeader(token)).toMatchObject({ alg: 'RS256', typ: 'at+jwt' });
    const claims = await verifyByTheStandard(token, base);
    expect(claims).toMatchObject({
      sub: owner.userId,
      client_id: mine.clientId,
      scope: 'openid profile offline_access board:read Role:Query',
      scopes: ['board:read', 'Role:Query'],
      doorward_scope: mine.scope,
      type: 'projectApp',
    });
    expect(await admitted(token, 'board:read')).toBe(true);
    expect(await admitted(token, 'board:edit')).toBe(false);
  });

  it('of the default profile is as it was', async () => {
    const token = await tokenOfApp(usual);
    expect(decodeProtectedHeader(token)['typ']).toBe('JWT');
    expect(decodeJwt(token)).toMatchObject({ scope: mine.scope, client_id: usual.clientId });
    expect(decodeJwt(token)).not.toHaveProperty('doorward_scope');
    expect(await admitted(token, 'board:read')).toBe(false);
  });

  it('has no scope if the app is not restricted', async () => {
    await app.must('updateProjectApp', { scope: mine.scope, id: usual.id, scopes: null }, as);
    await app.must(
      'updateProjectApp',
      { scope: mine.scope, id: usual.id, accessTokenProfile: 'rfc9068' },
      as,
    );
    const claims = await verifyByTheStandard(await tokenOfApp(usual, null), base);
    expect(claims).not.toHaveProperty('scope');
    expect(claims).not.toHaveProperty('scopes');
    await app.must(
      'updateProjectApp',
      { scope: mine.scope, id: usual.id, accessTokenProfile: 'doorward', scopes: ['board:read'] },
      as,
    );
  });

  it('of another type, audience or issuer is refused by the standard', async () => {
    await expect(verifyByTheStandard(await tokenOfApp(usual), base)).rejects.toThrow('typ');
    await expect(verifyByTheStandard(await tokenOfApp(mine), 'https://other.example')).rejects.toThrow('aud');
    await expect(verifyByTheStandard(owner.token, base)).rejects.toThrow();
  });
});

describe('the token of a key', () => {
  it('has its client id, and no scope: the key has a role', async () => {
    const key = await keyOf({ accessTokenProfile: 'rfc9068' });
    const claims = await verifyByTheStandard(key.accessToken, base);
    expect(claims).toMatchObject({
      jti: key.id,
      client_id: key.clientId,
      type: 'ApiKey',
      doorward_scope: mine.scope,
    });
    expect(claims).not.toHaveProperty('scope');
    expect(decodeJwt((await keyOf()).accessToken)).toMatchObject({ scope: mine.scope });
  });

  it('is listed with its profile, which no later call changes', async () => {
    const { id } = await keyOf({ accessTokenProfile: 'rfc9068' });
    const read = await app.must('apiKey', { scope: mine.scope, id }, { ...as, via: 'graphql' });
    expect(read.accessTokenProfile).toBe('rfc9068');
    const rotated = await app.must('rotateApiKey', { scope: mine.scope, id }, as);
    expect(rotated.accessTokenProfile).toBe('rfc9068');
    const wrong = { scope: mine.scope, accessTokenProfile: 'other' } as never;
    expect((await app.call('createApiKey', wrong, as)).code).toBe('VALIDATION_ERROR');
  });
});

describe.each(['an app', 'a key'])('this service takes the token of %s', (what) => {
  const newToken = async () =>
    what === 'an app' ? tokenOfApp(mine) : (await keyOf({ accessTokenProfile: 'rfc9068' })).accessToken;

  it('in its API', async () => {
    const token = await newToken();
    expect((await app.call('roles', { scope: mine.scope }, { token })).ok).toBe(true);
    const question = { scope: mine.scope, permission: { resource: 'Role', action: 'Query' } };
    expect((await app.must('isAuthorized', question, { token, via: 'graphql' })).authorized).toBe(true);
    const elsewhere = await app.call('roles', { scope: owner.account }, { token });
    expect(elsewhere.code).toBe('FORBIDDEN');
  });

  it('at introspection', async () => {
    const { clientId: client_id, clientSecret } = mine;
    const credentials = { client_id, client_secret: clientSecret ?? '' };
    const { data } = await app.call('introspectProjectToken', { token: await newToken(), ...credentials });
    expect(data).toMatchObject({ active: true, iss: issuer(), aud: base });
  });

  it('in @doorward/node, also for decisions in its own process', async () => {
    const token = await newToken();
    const reader = await app.must('createApiKey', { scope: mine.scope }, as);
    const decisions: { readonly local: boolean }[] = [];
    const doorward = createDoorward({
      url: base,
      scope: mine.scope as Scope,
      clientId: reader.clientId,
      clientSecret: reader.clientSecret ?? '',
      local: true,
      hooks: { onDecision: (event) => decisions.push(event) },
    });
    try {
      const principal = await doorward.verifyToken(token, { live: true });
      expect(principal).toMatchObject({ scope: mine.scope, userId: owner.userId });
      await doorward.ready();
      expect(await doorward.can(token, 'Role:Query')).toBe(true);
      expect(await doorward.can(token, 'Role:Delete')).toBe(what === 'a key');
      // With an app's token the service decides, because the app was changed in the second of the token.
      if (what === 'a key') expect(decisions.map(({ local }) => local)).toEqual([true, true]);
    } finally {
      doorward.close();
    }
  });
});

it('user info takes the token of an app', async () => {
  const answer = await app.server.inject({
    url: '/api/auth/project/user-info',
    headers: { authorization: `Bearer ${await tokenOfApp(mine)}` },
  });
  expect([answer.statusCode, answer.json<{ sub: string }>().sub]).toEqual([200, owner.userId]);
});
