import { createLocalJWKSet, decodeJwt, jwtVerify, type JSONWebKeySet } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cookieNames } from '../../../test/support/app/visitor.ts';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import type { Person } from '../../../test/support/app/client.ts';
import { createBackchannelLogout } from '../../oauth/backchannel-logout/sender.ts';
import { logoutNotices } from '../../schema/oauth/logout-notice.ts';
import {
  appInProject,
  redirectParameters,
  signInBrowser,
  type AppInProject,
  type SignInBrowser,
} from '../../../test/support/sign-in/project-app.ts';

/** Logout that an app begins, and logout tokens for apps whose sessions end (openid §9). */
const goodbye = 'https://boards.example/goodbye?from=doorward';
const backchannel = 'https://boards.example/backchannel';
let app: TestApp;
let boards: AppInProject;
let charts: AppInProject;
let elsewhere: AppInProject;
let user: Person;
/** What receivers of back-channel logout got, and what they answer. */
const received: { readonly url: string; readonly token: string }[] = [];
let answer = 200;

beforeAll(async () => {
  app = await startApp({ SSO_MAX_DAYS: '7' }, undefined, {
    resolve: () => Promise.resolve(['93.184.216.34']),
    post: ({ url, body, headers }) => {
      expect(headers['content-type']).toBe('application/x-www-form-urlencoded');
      received.push({ url: url.href, token: new URLSearchParams(body).get('logout_token') ?? '' });
      return Promise.resolve({ status: answer, retryAfter: null, body: Buffer.alloc(0) });
    },
  });
  user = await app.person();
  const fields = { firstParty: true, scopes: ['board:read'] };
  boards = await appInProject(
    app,
    { ...fields, postLogoutRedirectUris: [goodbye], backchannelLogoutUri: backchannel },
    user,
  );
  const { id, clientId } = await app.must(
    'createProjectApp',
    { scope: boards.scope, name: 'Charts', redirectUris: ['https://charts.example/callback'], ...fields },
    { token: user.token },
  );
  charts = { ...boards, id, clientId, redirectUri: 'https://charts.example/callback' };
  elsewhere = await appInProject(app, { ...fields, postLogoutRedirectUris: [goodbye] }, user);
});
afterAll(() => app.close());
beforeEach(async () => {
  await app.app.flushWebhooks();
  received.length = 0;
  answer = 200;
});

interface SignedIn {
  readonly browser: SignInBrowser;
  readonly idToken: string;
  readonly accessToken: string;
}

/** The person signs in to the app in this browser, or a new one. */
async function signIn(to = boards, person = user, former?: SignInBrowser): Promise<SignedIn> {
  const browser = signInBrowser(app, to, former);
  const first = await browser.authorize({ scope: 'openid board:read' });
  const end = 'code' in redirectParameters(first) ? first : await browser.finish(person.email);
  const { code = '' } = redirectParameters(end);
  const { data } = await app.call('projectToken', {
    grant_type: 'authorization_code',
    code,
    redirect_uri: to.redirectUri,
    client_id: to.clientId,
    code_verifier: browser.verifier,
  });
  return { browser, idToken: data.idToken ?? '', accessToken: data.accessToken };
}

const path = '/api/auth/project/end-session';
const logout = (browser: SignInBrowser, parameters: Record<string, string>) =>
  browser.get(`${path}?${new URLSearchParams(parameters).toString()}`);
const statusOf = async (token: string) => (await app.raw('projectUserInfo', {}, { token })).status;
/** Whether the browser is still signed in at the issuer. */
async function isSignedIn(browser: SignInBrowser, to = charts): Promise<boolean> {
  const answered = await signInBrowser(app, to, browser).authorize({ prompt: 'none' });
  return 'code' in redirectParameters(answered);
}
const question = 'http://localhost:4000/hosted/sign-out';
async function decide(browser: SignInBrowser, decision: string) {
  const page = await browser.get('/hosted/sign-out', { accept: 'text/html' });
  const formToken = /name="formToken" value="([\w-]{43})"/.exec(page.body)?.[1] ?? '';
  return { page, next: await browser.post(`${path}/confirm`, { decision, formToken }) };
}

describe('with an id_token of the user', () => {
  it('ends the sessions of all apps at once and returns to the app with its state', async () => {
    const { browser, idToken, accessToken } = await signIn();
    const second = await signIn(charts, user, browser);
    const done = await logout(browser, {
      id_token_hint: idToken,
      post_logout_redirect_uri: goodbye,
      state: `a & ${'b'.repeat(2044)}`,
    });
    expect(done.headers.location).toBe(`${goodbye}&state=a+%26+${'b'.repeat(2044)}`);
    expect([await statusOf(accessToken), await statusOf(second.accessToken)]).toEqual([401, 401]);
    expect(cookieNames(browser)).toEqual([]);
    expect(await isSignedIn(browser)).toBe(false);
  });

  it('works by a form, from another site, which sends no cookie', async () => {
    const { browser, idToken, accessToken } = await signIn();
    const stranger = signInBrowser(app, boards);
    const done = await stranger.post(path, { id_token_hint: idToken });
    expect(done.headers.location).toBe('http://localhost:4000/hosted/signed-out');
    expect(await statusOf(accessToken)).toBe(401);
    expect(await isSignedIn(browser)).toBe(false);
    expect((await stranger.get('/hosted/signed-out')).body).toContain('You are signed out');
  });

  it('works after it expired, and when nothing is left to end', async () => {
    const { browser, idToken } = await signIn();
    app.clock.advance(20 * 60_000);
    expect((await logout(browser, { id_token_hint: idToken })).headers.location).toContain('/signed-out');
    expect(await isSignedIn(browser)).toBe(false);
    const again = await logout(browser, { id_token_hint: idToken, post_logout_redirect_uri: goodbye });
    expect(again.headers.location).toBe(goodbye);
  });

  it('leaves other issuers and other browsers signed in', async () => {
    const [here, there] = [await signIn(), await signIn()];
    await signIn(elsewhere, user, here.browser);
    await logout(here.browser, { id_token_hint: here.idToken });
    expect(await isSignedIn(here.browser)).toBe(false);
    expect(await isSignedIn(here.browser, elsewhere)).toBe(true);
    expect(await isSignedIn(there.browser)).toBe(true);
    expect(await statusOf(there.accessToken)).toBe(200);
  });
});

describe('without one that counts, a page asks', () => {
  it.each(['nothing', 'client_id', 'an id_token of another user', 'an access token', 'of another app'])(
    'with %s',
    async (what) => {
      const { browser, accessToken } = await signIn();
      const guest = await app.person();
      const role = { allowSignUp: true, signUpRoleId: (await viewer()).id };
      const scope = boards.scope;
      await app.must('updateProjectApp', { scope, id: boards.id, ...role }, { token: await tokenOf(user) });
      const parameters: Record<string, Record<string, string>> = {
        nothing: {},
        client_id: { client_id: boards.clientId },
        'an id_token of another user': { id_token_hint: (await signIn(boards, guest)).idToken },
        'an access token': { id_token_hint: accessToken, client_id: boards.clientId },
        'of another app': {
          id_token_hint: (await signIn(charts, user, browser)).idToken,
          client_id: boards.clientId,
        },
      };
      const asked = await logout(browser, parameters[what] ?? {});
      expect(asked.headers.location).toBe(question);
      expect(await isSignedIn(browser)).toBe(true);
      expect(await statusOf(accessToken)).toBe(200);
    },
  );
  const tokenOf = async ({ email: providerId, password }: Person) =>
    (await app.must('login', { provider: 'email', providerId, providerData: { password } })).accessToken;
  const viewer = async () => {
    const page = await app.must('roles', { scope: boards.scope, limit: 100 }, { token: await tokenOf(user) });
    return page.items.find(({ name }) => name === 'Project Viewer') ?? { id: '' };
  };

  it('also when a form of another site asks, which sends no cookie: the answer does', async () => {
    const { browser, accessToken } = await signIn();
    const stranger = signInBrowser(app, boards);
    await stranger.post(path, { client_id: boards.clientId });
    browser.cookies.set('doorward_flow', stranger.cookies.get('doorward_flow') ?? '');
    await decide(browser, 'approve');
    expect(await statusOf(accessToken)).toBe(401);
    expect(await isSignedIn(browser)).toBe(false);
  });

  it('and the answer of the user counts, once, from this page alone', async () => {
    const { browser, accessToken } = await signIn();
    const ask = () => logout(browser, { client_id: boards.clientId, post_logout_redirect_uri: goodbye });
    await ask();
    const kept = await decide(browser, 'deny');
    expect(kept.page.body).toContain('Acme Boards');
    expect(kept.next.headers.location).toBe('http://localhost:4000/hosted/signed-in');
    expect(await statusOf(accessToken)).toBe(200);
    await ask();
    const forged = await browser.post(`${path}/confirm`, { decision: 'approve', formToken: 'x'.repeat(43) });
    expect(forged.statusCode).toBe(400);
    const foreign = await browser.post(
      `${path}/confirm`,
      { decision: 'approve', formToken: 'x' },
      { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    );
    expect(foreign.statusCode).toBe(403);
    const { next } = await decide(browser, 'approve');
    expect(next.headers.location).toBe(goodbye);
    expect(await statusOf(accessToken)).toBe(401);
    expect(await isSignedIn(browser)).toBe(false);
    expect((await decide(browser, 'approve')).next.statusCode).toBe(400);
  });
});

describe('the address at the end', () => {
  it.each([
    'https://boards.example/goodbye',
    `${goodbye}#x`,
    'https://evil.example/',
    'javascript:alert(1)',
    '//evil.example',
    'https://boards.example/callback',
  ])('is never %s, which is not one of the app', async (uri) => {
    const { browser, idToken, accessToken } = await signIn();
    const refused = await logout(browser, { id_token_hint: idToken, post_logout_redirect_uri: uri });
    expect([refused.statusCode, refused.headers.location]).toEqual([400, undefined]);
    expect(refused.body).toContain('INVALID_REDIRECT_URI');
    expect(await statusOf(accessToken)).toBe(200);
  });

  it('needs an app, and each parameter once', async () => {
    const { browser, idToken } = await signIn();
    const nameless = await logout(browser, { post_logout_redirect_uri: goodbye });
    expect(nameless.statusCode).toBe(400);
    const ofCharts = await logout(browser, { client_id: charts.clientId, post_logout_redirect_uri: goodbye });
    expect(ofCharts.statusCode).toBe(400);
    const unknown = await logout(browser, { client_id: user.userId });
    expect(unknown.statusCode).toBe(400);
    expect((await logout(browser, { id_token_hint: idToken })).statusCode).toBe(303);
  });
});

describe('the page at the end leads back', () => {
  const homepageUrl = 'https://boards.example/home';
  // The console where it is built.
  const own = [expect.stringMatching(/^\/(?:account|console)$/)];
  let shop: AppInProject;
  const linksOf = async (browser: SignInBrowser, query = '') => {
    const { body } = await browser.get(`/hosted/signed-out${query}`, { accept: 'text/html' });
    return [...body.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, address]) => address);
  };

  beforeAll(async () => {
    shop = await appInProject(app, { firstParty: true, scopes: ['board:read'], homepageUrl });
  });

  it('to the home of the app whose sessions ended', async () => {
    const { browser, idToken } = await signIn(shop, shop.owner);
    await logout(browser, { id_token_hint: idToken });
    expect(await linksOf(browser)).toEqual([homepageUrl]);
    const other = await signIn(shop, shop.owner);
    await logout(other.browser, { client_id: shop.clientId });
    expect((await decide(other.browser, 'approve')).next.headers.location).toContain('/hosted/signed-out');
    expect(await linksOf(other.browser)).toEqual([homepageUrl]);
  });

  it('to no app that another person used, nor to one that this browser did not', async () => {
    const { idToken } = await signIn(shop, shop.owner);
    const victim = signInBrowser(app, boards);
    const end = await logout(victim, { id_token_hint: idToken });
    expect(end.headers.location).toContain('/hosted/signed-out');
    expect(await linksOf(victim)).toEqual(own);
    await logout(victim, { client_id: shop.clientId });
    await decide(victim, 'approve');
    expect(await linksOf(victim)).toEqual(own);
  });

  it('to this service otherwise, whatever its address and other browsers say', async () => {
    const { browser, idToken } = await signIn(shop, shop.owner);
    await logout(browser, { id_token_hint: idToken });
    const query = `?client_id=${shop.clientId}&redirect=https://evil.example/&homepageUrl=https://evil.example/`;
    const stranger = signInBrowser(app, boards);
    expect(await linksOf(stranger, query)).toEqual(own);
    // The id_token names a session that has ended.
    await logout(stranger, { id_token_hint: idToken });
    expect(await linksOf(stranger, query)).toEqual(own);
    const ofBoards = await signIn();
    await logout(ofBoards.browser, { id_token_hint: ofBoards.idToken });
    expect(await linksOf(ofBoards.browser)).toEqual(own);
  });
});

describe('back-channel logout', () => {
  it('tells each app of its own session, by a token that is nothing else', async () => {
    const { browser, idToken } = await signIn();
    await signIn(charts, user, browser);
    await logout(browser, { id_token_hint: idToken });
    await app.app.flushWebhooks();
    expect(received.map(({ url }) => url)).toEqual([backchannel]);
    const token = received[0]?.token ?? '';
    const { body } = await app.server.inject({
      url: `${new URL(boards.issuer).pathname}/.well-known/jwks.json`,
    });
    const { payload } = await jwtVerify(token, createLocalJWKSet(JSON.parse(body) as JSONWebKeySet), {
      issuer: boards.issuer,
      audience: boards.clientId,
      typ: 'logout+jwt',
      currentDate: app.clock.now(),
    });
    expect(payload).toEqual({
      iss: boards.issuer,
      aud: boards.clientId,
      sub: user.userId,
      sid: decodeJwt(idToken)['sid'],
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
      iat: expect.any(Number) as number,
      exp: (payload.iat ?? 0) + 120,
    });
    expect(await statusOf(token)).toBe(401);
    const hinted = await logout(browser, { id_token_hint: token });
    expect(hinted.headers.location).toBe(question);
  });

  it('repeats while the app fails, and ends', async () => {
    const { browser, idToken } = await signIn();
    answer = 503;
    await logout(browser, { id_token_hint: idToken });
    for (let attempt = 1; attempt <= 5; attempt++) {
      await app.app.flushWebhooks();
      expect(received).toHaveLength(attempt);
      await app.app.flushWebhooks();
      expect(received).toHaveLength(attempt);
      app.clock.advance(2 * 3_600_000);
    }
    await app.app.flushWebhooks();
    expect(received).toHaveLength(5);
  });

  it('ends too while its token cannot be signed', async () => {
    const { browser, idToken } = await signIn();
    await logout(browser, { id_token_hint: idToken });
    const pending = () => app.database.pool.select().from(logoutNotices);
    expect(await pending()).toHaveLength(1);
    const sender = createBackchannelLogout({
      services: { clock: app.clock, keyring: { signDocument: () => Promise.reject(new Error('sealed')) } },
      pool: app.database.pool,
      guard: { addressesOf: () => Promise.resolve([]) },
      ports: { post: () => Promise.reject(new Error('not signed')), random: () => 0.5 },
      log: () => undefined,
    });
    for (let attempt = 1; attempt <= 5; attempt++) {
      await sender.flush();
      app.clock.advance(2 * 3_600_000);
    }
    expect(await pending()).toEqual([]);
  });

  it('refuses addresses that a webhook may not have', async () => {
    const as = { token: (await signInAs()).accessToken };
    for (const backchannelLogoutUri of [
      'http://boards.example/x',
      'https://127.0.0.1/x',
      'x',
      'https://a:b@c.d/',
    ]) {
      const refused = await app.call(
        'updateProjectApp',
        { scope: boards.scope, id: boards.id, backchannelLogoutUri },
        as,
      );
      expect([refused.code, refused.details[0]?.path], backchannelLogoutUri).toEqual([
        'WEBHOOK_URL_NOT_ALLOWED',
        'backchannelLogoutUri',
      ]);
    }
  });
  const signInAs = () =>
    app.must('login', {
      provider: 'email',
      providerId: user.email,
      providerData: { password: user.password },
    });

  it('says nothing of a session that began without openid', async () => {
    const browser = signInBrowser(app, boards);
    await browser.authorize();
    const { code = '' } = redirectParameters(await browser.finish(user.email));
    await app.call('projectToken', {
      grant_type: 'authorization_code',
      code,
      redirect_uri: boards.redirectUri,
      client_id: boards.clientId,
      code_verifier: browser.verifier,
    });
    await logout(browser, { client_id: boards.clientId });
    await decide(browser, 'approve');
    await app.app.flushWebhooks();
    expect(received).toEqual([]);
  });
});
