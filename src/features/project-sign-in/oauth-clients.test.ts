import { createRemoteJWKSet, jwtVerify } from 'jose';
import { createServer, type AddressInfo } from 'node:net';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app.ts';
import type { Person } from '../../../test/support/client.ts';
import { appInProject, signInBrowser, type AppInProject } from '../../../test/support/project-app.ts';

/**
 * Two OAuth clients that are not ours, as they come and over HTTP, know nothing but the issuer of a project and complete
 * the sign-in: discovery (RFC 8414), code with PKCE, the answer checked by RFC 9207, tokens checked by the published keys,
 * refresh, user info, revocation.
 */
let app: TestApp;
let base: string;
let user: Person;
let apps: Record<'public' | 'confidential', AppInProject>;

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
  apps = {
    public: await appInProject(app, { scopes }, user),
    confidential: await appInProject(app, { scopes, confidential: true }, user),
  };
});
afterAll(() => app.close());

/** The user's part: his browser goes where the client sends it, opens the mail, and says yes. */
async function consentTo(client: AppInProject, address: URL): Promise<URL> {
  const browser = signInBrowser(app, client);
  const begun = await browser.get(address.href);
  expect(begun.statusCode, begun.body).toBe(303);
  await browser.open(await browser.mail(user.email));
  const end = await browser.answer('approve');
  expect(end.statusCode, end.body).toBe(303);
  return new URL(String(end.headers.location));
}

const issuerOf = ({ issuer }: AppInProject) => new URL(issuer.replace('http://localhost:4000', base));

/** A token as a stranger verifies it, who has read the metadata. */
async function verified(token: string, issuer: string, jwksUri: string | undefined) {
  const keys = createRemoteJWKSet(new URL(String(jwksUri)));
  const { payload } = await jwtVerify(token, keys, { issuer, audience: base, algorithms: ['RS256'] });
  return payload;
}

const authentications = [
  ['public', 'none', () => oauth.None(), () => openid.None()],
  ['confidential', 'client_secret_basic', oauth.ClientSecretBasic, openid.ClientSecretBasic],
  ['confidential', 'client_secret_post', oauth.ClientSecretPost, openid.ClientSecretPost],
] as const;

describe.each(authentications)('a %s app with %s', (kind, method, forOauth, forOpenid) => {
  it('completes the flow with oauth4webapi', async () => {
    const mine = apps[kind];
    const insecure = { [oauth.allowInsecureRequests]: true } as const;
    const issuer = issuerOf(mine);
    const found = await oauth.discoveryRequest(issuer, { ...insecure, algorithm: 'oauth2' });
    const as = await oauth.processDiscoveryResponse(issuer, found);
    expect(as.token_endpoint_auth_methods_supported).toContain(method);
    const client: oauth.Client = { client_id: mine.clientId };
    const authentication = forOauth(mine.clientSecret ?? '');

    const [verifier, state] = [oauth.generateRandomCodeVerifier(), oauth.generateRandomState()];
    const address = new URL(String(as.authorization_endpoint));
    address.search = new URLSearchParams({
      client_id: mine.clientId,
      redirect_uri: mine.redirectUri,
      response_type: 'code',
      scope: 'board:read Role:Query',
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }).toString();
    const callback = oauth.validateAuthResponse(as, client, await consentTo(mine, address), state);

    const answer = await oauth.authorizationCodeGrantRequest(
      as,
      client,
      authentication,
      callback,
      mine.redirectUri,
      verifier,
      insecure,
    );
    const tokens = await oauth.processAuthorizationCodeResponse(as, client, answer);
    expect([tokens.token_type, tokens.expires_in, tokens.scope]).toEqual(['bearer', 900, 'Role:Query']);
    expect(await verified(tokens.access_token, as.issuer, as.jwks_uri)).toMatchObject({
      sub: user.userId,
      type: 'projectApp',
      client_id: mine.clientId,
      scopes: ['Role:Query'],
    });

    const renewal = await oauth.refreshTokenGrantRequest(
      as,
      client,
      authentication,
      tokens.refresh_token ?? '',
      insecure,
    );
    const renewed = await oauth.processRefreshTokenResponse(as, client, renewal);
    expect(renewed.refresh_token).not.toBe(tokens.refresh_token);

    const info = await oauth.userInfoRequest(as, client, renewed.access_token, insecure);
    const claims = await oauth.processUserInfoResponse(as, client, user.userId, info);
    expect(claims.email).toBe(user.email);

    const revocation = await oauth.revocationRequest(
      as,
      client,
      authentication,
      renewed.refresh_token ?? '',
      insecure,
    );
    await oauth.processRevocationResponse(revocation);
    await expect(
      oauth
        .userInfoRequest(as, client, renewed.access_token, insecure)
        .then((late) => oauth.processUserInfoResponse(as, client, user.userId, late)),
    ).rejects.toThrow(oauth.WWWAuthenticateChallengeError);
  });

  it('completes the flow with openid-client', async () => {
    const mine = apps[kind];
    const config = await openid.discovery(
      issuerOf(mine),
      mine.clientId,
      undefined,
      forOpenid(mine.clientSecret ?? ''),
      { algorithm: 'oauth2', execute: [openid.allowInsecureRequests] },
    );
    const [verifier, state] = [openid.randomPKCECodeVerifier(), openid.randomState()];
    const address = openid.buildAuthorizationUrl(config, {
      redirect_uri: mine.redirectUri,
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
    });
    const end = await consentTo(mine, address);
    const checks = { pkceCodeVerifier: verifier, expectedState: state };
    const tokens = await openid.authorizationCodeGrant(config, end, checks);
    const { issuer, jwks_uri } = config.serverMetadata();
    expect(await verified(tokens.access_token, issuer, jwks_uri)).toMatchObject({ sub: user.userId });
    const renewed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '');
    const { email } = await openid.fetchUserInfo(config, renewed.access_token, user.userId);
    expect(email).toBe(user.email);
    await openid.tokenRevocation(config, renewed.access_token);
    await expect(openid.refreshTokenGrant(config, renewed.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    // The code is used up, and the client is told so in words that it knows.
    await expect(openid.authorizationCodeGrant(config, end, checks)).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });
});

describe('the metadata', () => {
  const at = (path: string, headers = {}) => app.server.inject({ url: path, headers });
  const pathsOf = (issuer: URL) => [
    `/.well-known/oauth-authorization-server${issuer.pathname}`,
    `${issuer.pathname}/.well-known/oauth-authorization-server`,
  ];

  it('says the same at both places, and may be kept', async () => {
    const issuer = issuerOf(apps.public);
    const [one, two] = await Promise.all(pathsOf(issuer).map((path) => at(path)));
    expect(one?.statusCode).toBe(200);
    expect(one?.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'public, max-age=300',
      etag: expect.stringMatching(/^"/) as string,
    });
    expect(two?.json()).toEqual(one?.json());
    expect(one?.json()).toEqual({
      issuer: issuer.href,
      authorization_endpoint: `${base}/api/auth/project/authorize`,
      token_endpoint: `${base}/api/auth/project/token`,
      revocation_endpoint: `${base}/api/auth/project/revoke`,
      userinfo_endpoint: `${base}/api/auth/project/user-info`,
      jwks_uri: `${issuer.href}/.well-known/jwks.json`,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
      revocation_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
      authorization_response_iss_parameter_supported: true,
      ui_locales_supported: ['en', 'de', 'es', 'fr'],
      service_documentation: `${base}/api-docs`,
    });
    for (const path of pathsOf(issuer)) {
      const again = await at(path, { 'if-none-match': String(one?.headers.etag) });
      expect([again.statusCode, again.body]).toEqual([304, '']);
    }
  });

  it('is of projects that are there, under their own owner', async () => {
    const { pathname } = issuerOf(apps.public);
    const [, , owner = '', , project = ''] = pathname.split('/');
    const unknown = '01890000-0000-7000-8000-000000000000';
    const wrong = [
      `/acc/${unknown}/prj/${project}`,
      `/acc/${owner}/prj/${unknown}`,
      `/org/${owner}/prj/${project}`,
      `/acc/${project}/prj/${owner}`,
    ];
    for (const path of wrong.flatMap((one) => pathsOf(new URL(one, base)))) {
      expect((await at(path)).statusCode, path).toBe(404);
    }
  });

  it('of the service names the keys of session tokens, and no endpoint', async () => {
    const answer = await at('/.well-known/oauth-authorization-server', { host: 'evil.example' });
    expect(answer.json()).toEqual({
      issuer: base,
      jwks_uri: `${base}/.well-known/jwks.json`,
      response_types_supported: ['none'],
      service_documentation: `${base}/api-docs`,
    });
    expect(answer.headers).toMatchObject({
      'cache-control': 'public, max-age=300',
      'access-control-allow-origin': '*',
    });
    const issuer = new URL(base);
    const insecure = { [oauth.allowInsecureRequests]: true, algorithm: 'oauth2' } as const;
    const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
    expect(await verified(user.token, as.issuer, as.jwks_uri)).toMatchObject({ type: 'session' });
  });

  it('is of projects of organizations too', async () => {
    const maker = await app.person({ type: 'organization' });
    const as = { token: maker.token };
    const { id } = await app.must('createOrganization', { scope: maker.account, name: 'Org' }, as);
    const project = await app.must('createProject', { scope: { tenant: 'organization', id }, name: 'P' }, as);
    const issuer = new URL(`${base}/org/${id}/prj/${project.id}`);
    for (const path of pathsOf(issuer)) {
      expect((await at(path)).json<{ issuer: string }>().issuer).toBe(issuer.href);
    }
    await app.must('deleteProject', { scope: { tenant: 'organization', id }, id: project.id }, as);
    for (const path of pathsOf(issuer)) expect((await at(path)).statusCode).toBe(404);
  });
});
