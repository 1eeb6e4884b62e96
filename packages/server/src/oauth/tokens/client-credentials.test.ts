import { createRemoteJWKSet, jwtVerify } from 'jose';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import type { Person } from '../../../test/support/app/client.ts';
import { startAtOwnAddress } from '../../../test/support/app/own-address.ts';
import { appInProject, type AppInProject } from '../../../test/support/sign-in/project-app.ts';

/**
 * The grant `client_credentials` for API keys (openid §4). Two third-party clients, unmodified, know only the issuer,
 * and the client id and secret of a key. The rules of `exchangeApiKey` apply here too.
 */
let app: TestApp;
let base: string;
let owner: Person;
let mine: AppInProject;

beforeAll(async () => {
  ({ app, base } = await startAtOwnAddress());
  owner = await app.person();
  mine = await appInProject(app, { confidential: true }, owner);
});
afterAll(() => app.close());

const issuerOf = ({ issuer }: AppInProject) => new URL(issuer.replace('http://localhost:4000', base));

interface Key {
  readonly id: string;
  readonly clientId: string;
  readonly clientSecret: string;
}
const newKey = async (input: object = {}) =>
  (await app.must('createApiKey', { scope: mine.scope, ...input }, { token: owner.token })) as Key;

const form = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
  app.server.inject({
    method: 'POST',
    url: '/api/auth/project/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams({ grant_type: 'client_credentials', ...fields }).toString(),
  });
const grant = ({ clientId, clientSecret }: Key) => form({ client_id: clientId, client_secret: clientSecret });
const errorOf = ({ statusCode, json }: Awaited<ReturnType<typeof form>>) => [
  statusCode,
  json<{ error: string }>().error,
];

/** Verifies a token with nothing but the metadata. */
async function verified(token: string) {
  const keys = createRemoteJWKSet(new URL(`${issuerOf(mine).href}/.well-known/jwks.json`));
  const expected = { issuer: issuerOf(mine).href, audience: base, algorithms: ['RS256'] };
  return (await jwtVerify(token, keys, expected)).payload;
}

describe.each([
  ['client_secret_basic', oauth.ClientSecretBasic, openid.ClientSecretBasic],
  ['client_secret_post', oauth.ClientSecretPost, openid.ClientSecretPost],
] as const)('with %s', (_method, forOauth, forOpenid) => {
  it('openid-client gets a token that this API takes', async () => {
    const key = await newKey();
    const config = await openid.discovery(
      issuerOf(mine),
      key.clientId,
      undefined,
      forOpenid(key.clientSecret),
      { execute: [openid.allowInsecureRequests] },
    );
    expect(config.serverMetadata().grant_types_supported).toContain('client_credentials');
    const tokens = await openid.clientCredentialsGrant(config, { scope: 'board:read anything' });
    expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 900 });
    for (const name of ['scope', 'refresh_token', 'id_token']) expect(tokens).not.toHaveProperty(name);
    expect(await verified(tokens.access_token)).toMatchObject({
      jti: key.id,
      type: 'ApiKey',
      scope: { tenant: 'AccountProject', id: mine.scope.id },
    });
    expect((await app.call('tags', { scope: mine.scope }, { token: tokens.access_token })).ok).toBe(true);
  });

  it('oauth4webapi gets one too', async () => {
    const key = await newKey();
    const insecure = { [oauth.allowInsecureRequests]: true } as const;
    const discovery = await oauth.discoveryRequest(issuerOf(mine), { ...insecure, algorithm: 'oauth2' });
    const as = await oauth.processDiscoveryResponse(issuerOf(mine), discovery);
    const client: oauth.Client = { client_id: key.clientId };
    const answer = await oauth.clientCredentialsGrantRequest(
      as,
      client,
      forOauth(key.clientSecret),
      {},
      insecure,
    );
    const { access_token } = await oauth.processClientCredentialsResponse(as, client, answer);
    expect(await verified(access_token)).toMatchObject({ jti: key.id });
  });
});

it('has the answer and the audit entry of an exchange', async () => {
  const key = await newKey();
  const wrong = await grant({ ...key, clientSecret: `${key.clientSecret}x` });
  expect(errorOf(wrong)).toEqual([401, 'invalid_client']);
  expect(wrong.headers['www-authenticate']).toContain('Basic');
  expect((await grant(key)).statusCode).toBe(200);
  const { items } = await app.must(
    'auditLogs',
    { scope: mine.scope, targetId: key.id, operation: 'projectToken' },
    { token: owner.token },
  );
  expect(items.map(({ outcome, event, metadata }) => [outcome, event, metadata['fault']])).toEqual([
    ['success', 'api_key.exchanged', undefined],
    ['failed', null, 'secret'],
  ]);
});

it('answers JSON in the envelope', async () => {
  const { clientId: client_id, clientSecret: client_secret } = await newKey();
  const { data } = await app.call('projectToken', {
    grant_type: 'client_credentials',
    client_id,
    client_secret,
  });
  expect(data).toEqual({
    accessToken: expect.stringMatching(/^ey/) as string,
    tokenType: 'Bearer',
    expiresIn: 900,
    refreshToken: null,
    idToken: null,
    scope: null,
  });
});

describe('is refused, always alike,', () => {
  it('for anything that is not a valid key', { tags: 'independent' }, async () => {
    const [revoked, elsewhere] = [await newKey(), await newKey({ allowedCidrs: ['203.0.113.0/24'] })];
    await app.must('revokeApiKey', { scope: mine.scope, id: revoked.id }, { token: owner.token });
    const ofApp = { id: '', clientId: mine.clientId, clientSecret: mine.clientSecret ?? '' };
    const unknown = { ...revoked, clientId: crypto.randomUUID() };
    const answers = await Promise.all([
      ...[revoked, elsewhere, ofApp, unknown, { ...unknown, clientId: "x'\0" }].map(grant),
      form({ client_id: (await newKey()).clientId }),
    ]);
    const [first] = answers;
    for (const answer of answers) {
      expect(errorOf(answer)).toEqual([401, 'invalid_client']);
      expect(answer.body).toBe(first?.body);
    }
  });

  it('for a key at the grants of apps', async () => {
    const { clientId: client_id, clientSecret: client_secret } = await newKey();
    const refresh = { grant_type: 'refresh_token', refresh_token: 'x', client_id, client_secret };
    expect(errorOf(await form(refresh))).toEqual([401, 'invalid_client']);
  });

  it('after as many guesses as an exchange allows', async () => {
    const strict = await startApp({ SECURITY_RATE_LIMIT_AUTH_MAX: '5' });
    try {
      const { scope, owner: maker } = await appInProject(strict);
      const key = await strict.must('createApiKey', { scope }, { token: maker.token });
      const credentials = { grant_type: 'client_credentials' as const, client_id: key.clientId };
      for (let n = 0; n < 5; n++) {
        const guess = await strict.call('projectToken', { ...credentials, client_secret: `dwk_${n}` });
        expect(guess.code).toBe('UNAUTHENTICATED');
      }
      const { clientId, clientSecret } = key as Key;
      const late = await strict.call('projectToken', { ...credentials, client_secret: clientSecret });
      expect(late.code).toBe('RATE_LIMITED');
      const exchange = await strict.call('exchangeApiKey', { clientId, clientSecret, scope });
      expect(exchange.code).toBe('RATE_LIMITED');
    } finally {
      await strict.close();
    }
  });
});
