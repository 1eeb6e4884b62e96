import { decodeJwt } from 'jose';
import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDoorward, type Scope } from '../../../../node/src/node.ts';
import type { TestApp } from '../../../test/support/app/app.ts';
import type { Person } from '../../../test/support/app/client.ts';
import { startAtOwnAddress } from '../../../test/support/app/own-address.ts';
import {
  appInProject,
  redirectParameters,
  signInBrowser,
  type AppInProject,
} from '../../../test/support/sign-in/project-app.ts';

/** Resource indicators (RFC 8707, openid §3): which resource servers an access token is for. */
let app: TestApp;
let base: string;
let user: Person;
let mine: AppInProject;
const [orders, files, third] = ['https://orders.example/api', 'urn:example:files', 'https://third.example'];

beforeAll(async () => {
  ({ app, base } = await startAtOwnAddress());
  user = await app.person();
  const more = Array.from({ length: 4 }, (_, n) => `https://more.example/${n}`);
  mine = await appInProject(app, { scopes: ['Role:Query'], resources: [orders, files, ...more] }, user);
});
afterAll(() => app.close());

interface Sent {
  readonly authorize?: readonly string[];
  readonly token?: readonly string[];
}

/** Signs in; names resources at the authorization endpoint and at the token endpoint. */
async function signIn({ authorize = [], token = [] }: Sent) {
  const browser = signInBrowser(app, mine);
  const parameters = new URLSearchParams({ ...browser.request, prompt: 'consent' });
  for (const resource of authorize) parameters.append('resource', resource);
  const begun = await browser.get(`/api/auth/project/authorize?${parameters.toString()}`);
  if (!String(begun.headers.location).endsWith('/sign-in')) return { refusal: begun };
  await browser.open(await browser.mail(user.email));
  const end = await browser.answer('approve');
  const code = redirectParameters(end)['code'] ?? '';
  return { answer: await exchange(code, browser.verifier, token), code, verifier: browser.verifier };
}

const exchange = (code: string, verifier: string, resources: readonly string[]) =>
  post(
    {
      grant_type: 'authorization_code',
      code,
      redirect_uri: mine.redirectUri,
      code_verifier: verifier,
    },
    resources,
  );

async function post(fields: Record<string, string>, resources: readonly string[]) {
  const body = new URLSearchParams({ ...fields, client_id: mine.clientId });
  for (const resource of resources) body.append('resource', resource);
  const answer = await app.server.inject({
    method: 'POST',
    url: '/api/auth/project/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: body.toString(),
  });
  return {
    status: answer.statusCode,
    ...answer.json<Record<'error' | 'access_token' | 'refresh_token', string>>(),
  };
}

const audienceOf = (token: string | undefined) => decodeJwt(token ?? '').aud;
const refresh = (refresh_token: string | undefined, resources: readonly string[]) =>
  post({ grant_type: 'refresh_token', refresh_token: refresh_token ?? '' }, resources);

describe('an access token', () => {
  it('is for this service alone without a resource', async () => {
    const { answer } = await signIn({});
    expect(audienceOf(answer?.access_token)).toBe(base);
  });

  it('is for what the authorization request named', async () => {
    const { answer } = await signIn({ authorize: [orders, files] });
    expect(audienceOf(answer?.access_token)).toEqual([base, orders, files]);
  });

  it('is for fewer if the exchange names fewer, and a refresh gives all again', async () => {
    const { answer } = await signIn({ authorize: [orders, files], token: [files] });
    expect(audienceOf(answer?.access_token)).toEqual([base, files]);
    const next = await refresh(answer?.refresh_token, []);
    expect(audienceOf(next.access_token)).toEqual([base, orders, files]);
    const fewer = await refresh(next.refresh_token, [orders]);
    expect(audienceOf(fewer.access_token)).toEqual([base, orders]);
  });

  it('is for what the exchange names, if the authorization request named nothing', async () => {
    const { answer } = await signIn({ token: [orders] });
    expect(audienceOf(answer?.access_token)).toEqual([base, orders]);
    expect(audienceOf((await refresh(answer?.refresh_token, [])).access_token)).toEqual([base, orders]);
  });

  it('works at this service, and its introspection says for whom it is', async () => {
    const { answer } = await signIn({ authorize: [orders] });
    const token = answer?.access_token ?? '';
    const question = { scope: mine.scope, permission: { resource: 'Role', action: 'Query' } };
    expect((await app.must('isAuthorized', question, { token })).authorized).toBe(true);
    const key = await app.must('createApiKey', { scope: mine.scope }, { token: user.token });
    const credentials = { client_id: key.clientId, client_secret: key.clientSecret ?? '' };
    const { data } = await app.call('introspectProjectToken', { token, ...credentials });
    expect(data.aud).toEqual([base, orders]);
  });

  it('is taken by @doorward/node for one of its audiences, and by no other resource server', async () => {
    const { answer } = await signIn({ authorize: [orders, files] });
    const token = answer?.access_token ?? '';
    const plain = (await signIn({})).answer?.access_token ?? '';
    const doorward = createDoorward({ url: base, scope: mine.scope as Scope });
    try {
      for (const audience of [orders, files, base]) {
        expect((await doorward.verifyToken(token, { audience })).userId).toBe(user.userId);
      }
      const refused = (of: string, audience: string) =>
        expect(doorward.verifyToken(of, { audience })).rejects.toMatchObject({ code: 'TOKEN_AUDIENCE' });
      await refused(token, third);
      await refused(token, `${orders}/`);
      await refused(plain, orders);
    } finally {
      doorward.close();
    }
  });
});

describe('is refused with invalid_target:', () => {
  it.each([
    ['what the app has not', [third]],
    ['one of several', [orders, third]],
    ['another spelling', [`${orders}/`]],
    ['six', [orders, files, ...Array.from({ length: 4 }, (_, n) => `https://more.example/${n}`)]],
  ])('%s, at the authorization endpoint', async (_what, authorize) => {
    const { refusal } = await signIn({ authorize });
    expect(refusal && redirectParameters(refusal)['error']).toBe('invalid_target');
  });

  it('what the app has not, at the token endpoint, and the code stays valid', async () => {
    const { answer, code, verifier } = await signIn({ token: [third] });
    expect([answer?.status, answer?.error]).toEqual([400, 'invalid_target']);
    expect((await exchange(code ?? '', verifier ?? '', [])).status).toBe(200);
  });

  it('more than the sign-in named, at the exchange and at each refresh', async () => {
    const wide = await signIn({ authorize: [orders], token: [orders, files] });
    expect([wide.answer?.status, wide.answer?.error]).toEqual([400, 'invalid_target']);
    for (const sent of [{ authorize: [orders] }, { token: [orders] }, {}]) {
      const { answer } = await signIn(sent);
      const token = answer?.refresh_token;
      const wider = await refresh(token, [files]);
      expect([wider.status, wider.error]).toEqual([400, 'invalid_target']);
      // The refusal did not consume the refresh token.
      expect((await refresh(token, [])).status).toBe(200);
    }
  });

  it('any, for an API key', async () => {
    const key = await app.must('createApiKey', { scope: mine.scope }, { token: user.token });
    const answer = await app.server.inject({
      method: 'POST',
      url: '/api/auth/project/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: key.clientId,
        client_secret: key.clientSecret ?? '',
        resource: orders,
      }).toString(),
    });
    expect([answer.statusCode, answer.json<{ error: string }>().error]).toEqual([400, 'invalid_target']);
  });
});

it('a resource that the app has lost is in no new token', async () => {
  const { answer } = await signIn({ authorize: [orders, files] });
  const change = (resources: string[]) =>
    app.must('updateProjectApp', { scope: mine.scope, id: mine.id, resources }, { token: user.token });
  await change([files]);
  const next = await refresh(answer?.refresh_token, []);
  expect(audienceOf(next.access_token)).toEqual([base, files]);
  expect((await refresh(next.refresh_token, [orders])).error).toBe('invalid_target');
  await change([orders, files]);
});

it('openid-client names one', async () => {
  const issuer = new URL(mine.issuer.replace('http://localhost:4000', base));
  const config = await openid.discovery(issuer, mine.clientId, undefined, openid.None(), {
    execute: [openid.allowInsecureRequests],
  });
  const [verifier, state] = [openid.randomPKCECodeVerifier(), openid.randomState()];
  const address = openid.buildAuthorizationUrl(config, {
    redirect_uri: mine.redirectUri,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    resource: orders,
    state,
  });
  const browser = signInBrowser(app, mine);
  await browser.get(address.href);
  const end = new URL(String((await browser.finish(user.email)).headers.location));
  const checks = { pkceCodeVerifier: verifier, expectedState: state };
  const tokens = await openid.authorizationCodeGrant(config, end, checks, { resource: orders });
  expect(audienceOf(tokens.access_token)).toEqual([base, orders]);
});

describe('the resources of an app', () => {
  const set = (resources: unknown) =>
    app.call('updateProjectApp', { scope: mine.scope, id: mine.id, resources } as never, {
      token: user.token,
      via: 'graphql',
    });

  it.each([
    '',
    'orders',
    '/orders',
    'https://a.example/#x',
    'https://*.example',
    'https://a.example/ b',
    'x:',
  ])('are no %j', async (resource) => {
    expect((await set([resource])).code).toBe('VALIDATION_ERROR');
  });

  it('are at most twenty, each once', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, n) => `https://${n}.example`);
    expect((await set(many(21))).code).toBe('VALIDATION_ERROR');
    expect((await set([...many(19), many(1)[0]])).data.resources).toEqual(many(19));
  });
});
