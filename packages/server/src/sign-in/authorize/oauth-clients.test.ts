import { createRemoteJWKSet, jwtVerify } from 'jose';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestApp } from '../../../test/support/app/app.ts';
import type { Person } from '../../../test/support/app/client.ts';
import { startAtOwnAddress } from '../../../test/support/app/own-address.ts';
import { appInProject, signInBrowser, type AppInProject } from '../../../test/support/sign-in/project-app.ts';

/**
 * Two third-party OAuth clients, unmodified and over HTTP, know only the issuer of a project and complete the sign-in:
 * discovery (RFC 8414), code with PKCE, the redirect checked by RFC 9207, tokens verified with the published keys, refresh,
 * user info, revocation.
 */
let app: TestApp;
let base: string;
let user: Person;
let apps: Record<'public' | 'confidential', AppInProject>;

beforeAll(async () => {
  ({ app, base } = await startAtOwnAddress());
  user = await app.person();
  const scopes = ['board:read', 'Role:Query'];
  apps = {
    public: await appInProject(app, { scopes }, user),
    confidential: await appInProject(app, { scopes, confidential: true }, user),
  };
});
afterAll(() => app.close());

/** The part of the user: the browser follows the redirect of the client, opens the mail, and consents. */
async function consentTo(client: AppInProject, address: URL): Promise<URL> {
  const browser = signInBrowser(app, client);
  const begun = await browser.get(address.href);
  expect(begun.statusCode, begun.body).toBe(303);
  const end = await browser.finish(user.email);
  expect(end.statusCode, end.body).toBe(303);
  return new URL(String(end.headers.location));
}

const issuerOf = ({ issuer }: AppInProject) => new URL(issuer.replace('http://localhost:4000', base));

/** Verifies a token with nothing but the metadata. */
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
    const discovery = await oauth.discoveryRequest(issuer, { ...insecure, algorithm: 'oauth2' });
    const as = await oauth.processDiscoveryResponse(issuer, discovery);
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
    expect([tokens.token_type, tokens.expires_in, tokens.scope]).toEqual([
      'bearer',
      900,
      'board:read Role:Query',
    ]);
    expect(await verified(tokens.access_token, as.issuer, as.jwks_uri)).toMatchObject({
      sub: user.userId,
      type: 'projectApp',
      client_id: mine.clientId,
      scopes: ['board:read', 'Role:Query'],
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
    // The used code is refused with an error that the client understands.
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
    `/.well-known/openid-configuration${issuer.pathname}`,
    `${issuer.pathname}/.well-known/openid-configuration`,
  ];

  it('is the same at all addresses, and cacheable', { tags: 'independent' }, async () => {
    const issuer = issuerOf(apps.public);
    const [first, ...others] = await Promise.all(pathsOf(issuer).map((path) => at(path)));
    expect(first?.statusCode).toBe(200);
    expect(first?.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'public, max-age=300',
      etag: expect.stringMatching(/^"/) as string,
    });
    for (const other of others) expect(other.json()).toEqual(first?.json());
    expect(first?.json()).toEqual({
      issuer: issuer.href,
      authorization_endpoint: `${base}/api/auth/project/authorize`,
      token_endpoint: `${base}/api/auth/project/token`,
      revocation_endpoint: `${base}/api/auth/project/revoke`,
      introspection_endpoint: `${base}/api/auth/project/introspect`,
      end_session_endpoint: `${base}/api/auth/project/end-session`,
      userinfo_endpoint: `${base}/api/auth/project/user-info`,
      device_authorization_endpoint: `${base}/api/auth/project/device`,
      jwks_uri: `${issuer.href}/.well-known/jwks.json`,
      response_types_supported: ['code'],
      response_modes_supported: ['query', 'form_post'],
      prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
      scopes_supported: ['openid', 'profile', 'email', 'offline_access'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      claims_supported: expect.arrayContaining([
        'sub',
        'nonce',
        'at_hash',
        'email',
        'org_id',
        'org_name',
      ]) as string[],
      acr_values_supported: ['aal1', 'aal2'],
      claims_parameter_supported: false,
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
      grant_types_supported: [
        'authorization_code',
        'refresh_token',
        'client_credentials',
        'urn:ietf:params:oauth:grant-type:device_code',
      ],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
      revocation_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
      introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      authorization_response_iss_parameter_supported: true,
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
      ui_locales_supported: ['en', 'de', 'es', 'fr'],
      service_documentation: `${base}/api-docs`,
    });
    for (const path of pathsOf(issuer)) {
      const again = await at(path, { 'if-none-match': String(first?.headers.etag) });
      expect([again.statusCode, again.body]).toEqual([304, '']);
    }
  });

  it('exists only for live projects, under their own owner', async () => {
    const { pathname } = issuerOf(apps.public);
    const [, , owner = '', , project = ''] = pathname.split('/');
    const unknown = '01890000-0000-7000-8000-000000000000';
    const wrong = [
      `/acc/${unknown}/prj/${project}`,
      `/acc/${owner}/prj/${unknown}`,
      `/org/${owner}/prj/${project}`,
      `/acc/${project}/prj/${owner}`,
    ];
    for (const path of wrong.flatMap((address) => pathsOf(new URL(address, base)))) {
      expect((await at(path)).statusCode, path).toBe(404);
    }
  });

  it('of the service has the keys of session tokens, and no endpoint', async () => {
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

  it('exists for projects of organizations too', async () => {
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
