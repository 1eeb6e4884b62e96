import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { codeShown } from '../../../test/support/sign-in/authenticator.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import type { Person } from '../../../test/support/app/client.ts';
import {
  appInProject,
  projectViewer,
  redirectParameters,
  signInBrowser,
  type AppInProject,
  type SignInBrowser,
} from '../../../test/support/sign-in/project-app.ts';
import { projectCodes } from '../../schema/oauth/project-code.ts';
import { hashOneTimeToken } from '../../crypto/tokens/one-time-token.ts';

/** One sign-in for all apps of a project (openid §3, §8): where it counts, for how long, and what ends it. */
const HOUR = 3_600_000;
let app: TestApp;
let boards: AppInProject;
/** Two more apps: of the same project, and of another project of the same owner. */
let charts: AppInProject;
let elsewhere: AppInProject;
let user: Person;

beforeAll(async () => {
  const hours = { SSO_IDLE_HOURS: '12', SSO_MAX_DAYS: '2', SSO_MFA_HOURS: '3' };
  const github = { GITHUB_CLIENT_ID: 'id', GITHUB_CLIENT_SECRET: 'secret' };
  app = await startApp({ ...hours, ...github });
  user = await app.person();
  const signUp = { allowSignUp: true, signUpRoleId: projectViewer };
  boards = await appInProject(app, { scopes: ['board:read'], ...signUp }, user);
  charts = await sibling({ name: 'Charts', redirectUris: ['https://charts.example/callback'] });
  elsewhere = await appInProject(app, { firstParty: true, scopes: ['board:read'] }, user);
});
afterAll(() => app.close());

/** A further app of the project of `boards`, which asks for no consent unless said. */
async function sibling(fields: object): Promise<AppInProject> {
  const created = await app.must(
    'createProjectApp',
    {
      scope: boards.scope,
      name: 'Sibling',
      redirectUris: ['https://sibling.example/callback'],
      scopes: ['board:read'],
      firstParty: true,
      ...fields,
    },
    { token: await tokenOf(boards.owner) },
  );
  const { id, clientId, clientSecret } = created as { id: string; clientId: string; clientSecret: null };
  return { ...boards, id, clientId, clientSecret, redirectUri: created.redirectUris[0] ?? '' };
}

/** A new token, because hours pass on the test clock. */
const tokenOf = async ({ email: providerId, password }: Person): Promise<string> =>
  (await app.must('login', { provider: 'email', providerId, providerData: { password } })).accessToken;

/** A browser in which the person has signed in to `boards`. */
async function signedIn(person = user): Promise<SignInBrowser> {
  const browser = signInBrowser(app, boards);
  await browser.authorize();
  expect(redirectParameters(await browser.finish(person.email))).toHaveProperty('code');
  return browser;
}

/** What another app gets in this browser; `page`: a page of this service appears instead. */
async function ask(to: AppInProject, browser: SignInBrowser, changes: Record<string, string> = {}) {
  const tab = signInBrowser(app, to, browser);
  const answer = await tab.authorize(changes);
  const address = String(answer.headers.location);
  const page = /\/api\/auth\/project\/(.*)$/.exec(address)?.[1];
  return { tab, page, ...(page === undefined && { got: redirectParameters(answer) }) };
}

const tokensFor = (to: AppInProject, tab: SignInBrowser, code = '') =>
  app.call('projectToken', {
    grant_type: 'authorization_code',
    code,
    redirect_uri: to.redirectUri,
    client_id: to.clientId,
    code_verifier: tab.verifier,
  });

const codeRow = async (code = '') =>
  (
    await app.database.pool
      .select()
      .from(projectCodes)
      .where(eq(projectCodes.hash, hashOneTimeToken(code)))
  )[0];

describe('a second app of the issuer', () => {
  it('signs the user in without a page, with the time and methods of the one sign-in', async () => {
    const browser = await signedIn();
    app.clock.advance(HOUR);
    const { got } = await ask(charts, browser);
    expect(await codeRow(got?.['code'])).toMatchObject({ userId: user.userId, amr: ['mail'], acr: 'aal1' });
    const at = (await codeRow(got?.['code']))?.authenticatedAt.getTime() ?? 0;
    expect(app.clock.now().getTime() - at).toBeGreaterThanOrEqual(HOUR);
  });

  it('answers prompt=none with a code', async () => {
    const { got, tab } = await ask(charts, await signedIn(), { prompt: 'none' });
    expect(got).toEqual({
      code: expect.any(String) as string,
      state: tab.request['state'],
      iss: boards.issuer,
    });
    const tokens = await tokensFor(charts, tab, got?.['code']);
    expect(tokens.status).toBe(200);
  });

  it('is asked for consent, once, if it is not of the same company', async () => {
    const other = await sibling({ firstParty: false });
    const browser = await signedIn();
    const silent = await ask(other, browser, { prompt: 'none' });
    expect(silent.got).toMatchObject({ error: 'consent_required' });
    const { page, tab } = await ask(other, browser);
    expect(page).toBe('consent');
    expect((await tab.page()).body).toContain(user.email);
    expect(redirectParameters(await tab.answer('approve'))).toHaveProperty('code');
    expect((await ask(other, browser, { prompt: 'none' })).got).toHaveProperty('code');
    expect((await ask(other, browser, { prompt: 'consent' })).page).toBe('consent');
  });

  it('learns nothing of the user before they consented: neither who they are nor where they belong', async () => {
    const other = await sibling({ firstParty: false });
    const browser = await signedIn();
    const errorOf = async (changes: Record<string, string>) =>
      (await ask(other, browser, { prompt: 'none', ...changes })).got?.['error'];
    const guesses = [
      {},
      { login_hint: user.email },
      { login_hint: 'other@example.test' },
      { organization: crypto.randomUUID() },
      { organization: 'acme' },
      { acr_values: 'aal2' },
    ];
    for (const guess of guesses) expect(await errorOf(guess), JSON.stringify(guess)).toBe('consent_required');
    const { tab } = await ask(other, browser);
    await tab.answer('approve');
    expect(await errorOf({ login_hint: user.email })).toBeUndefined();
    expect(await errorOf({ login_hint: 'other@example.test' })).toBe('login_required');
  });

  it.each(['com.example.boards:/callback', 'http://127.0.0.1/callback'])(
    'on the device, with %s, never gets a code without a page',
    async (address) => {
      const native = await sibling({ redirectUris: [address] });
      const browser = await signedIn();
      expect((await ask(native, browser, { prompt: 'none' })).got).toMatchObject({
        error: 'consent_required',
      });
      const { page, tab } = await ask(native, browser);
      expect(page).toBe('consent');
      expect(redirectParameters(await tab.answer('approve'))).toHaveProperty('code');
    },
  );
});

describe('where it does not count', () => {
  it('another project of the same owner knows nothing of it, and each keeps its own', async () => {
    const browser = await signedIn();
    expect((await ask(elsewhere, browser, { prompt: 'none' })).got).toMatchObject({
      error: 'login_required',
    });
    const { page, tab } = await ask(elsewhere, browser);
    expect(page).toBe('sign-in');
    expect(redirectParameters(await tab.finish(user.email))).toHaveProperty('code');
    for (const each of [charts, elsewhere]) {
      expect((await ask(each, browser, { prompt: 'none' })).got).toHaveProperty('code');
    }
  });

  it('another browser, and a cookie with a wrong secret, know nothing of it', async () => {
    const browser = await signedIn();
    const stranger = signInBrowser(app, charts);
    expect((await ask(charts, stranger, { prompt: 'none' })).got).toMatchObject({ error: 'login_required' });
    const cookie = browser.cookies.get('doorward_sso') ?? '';
    const changed = cookie.replace(/\.(.)/, (_, first: string) => (first === 'A' ? '.B' : '.A'));
    for (const wrong of [changed, cookie.slice(0, 36), `${cookie}~`.repeat(30), 'x']) {
      stranger.cookies.set(
        'doorward_sso',
        wrong.startsWith(cookie) ? wrong.slice(0, -44) + 'A'.repeat(44) : wrong,
      );
      const { got } = await ask(charts, stranger, { prompt: 'none' });
      if (!wrong.startsWith(cookie)) expect(got, wrong).toMatchObject({ error: 'login_required' });
      else expect(got).toHaveProperty('code');
    }
  });

  it.each([{ prompt: 'login' }, { prompt: 'select_account' }, { max_age: '0' }])(
    'the user signs in again with %o',
    async (changes) => {
      const browser = await signedIn();
      app.clock.advance(1000);
      const { page, tab } = await ask(charts, browser, changes);
      expect(page).toBe('sign-in');
      const asked = app.clock.now().getTime();
      const { code } = redirectParameters(await tab.finish(user.email));
      expect((await codeRow(code))?.authenticatedAt.getTime()).toBeGreaterThanOrEqual(asked);
    },
  );

  it('max_age counts from the sign-in', async () => {
    const browser = await signedIn();
    app.clock.advance(60_000);
    expect((await ask(charts, browser, { prompt: 'none', max_age: '59' })).got).toMatchObject({
      error: 'login_required',
    });
    expect((await ask(charts, browser, { prompt: 'none', max_age: '600' })).got).toHaveProperty('code');
  });

  it('a hint of another address asks to sign in; the right one does not', async () => {
    const browser = await signedIn();
    expect((await ask(charts, browser, { login_hint: 'other@example.test' })).page).toBe('sign-in');
    expect((await ask(charts, browser, { login_hint: user.email.toUpperCase() })).got).toHaveProperty('code');
  });

  it('an app that offers other ways to sign in asks for one of them', async () => {
    const strict = await sibling({ enabledProviders: ['github'] });
    const browser = await signedIn();
    expect((await ask(strict, browser, { prompt: 'none' })).got).toMatchObject({ error: 'login_required' });
    expect((await ask(strict, browser)).page).toBe('sign-in');
  });

  it('a user who lost the project is not signed in', async () => {
    const guest = await app.person();
    const browser = await signedIn(guest);
    const token = await tokenOf(boards.owner);
    await app.must('deleteUser', { scope: boards.scope, id: guest.userId }, { token });
    expect((await ask(charts, browser, { prompt: 'none' })).got).toMatchObject({ error: 'login_required' });
    expect((await ask(charts, browser)).page).toBe('sign-in');
  });
});

describe('its end', () => {
  it('comes after hours without use, and after days in any case', async () => {
    const browser = await signedIn();
    for (const hours of [11, 11, 11]) {
      app.clock.advance(hours * HOUR);
      expect((await ask(charts, browser, { prompt: 'none' })).got, `${hours}`).toHaveProperty('code');
    }
    app.clock.advance(11 * HOUR);
    expect((await ask(charts, browser, { prompt: 'none' })).got).toHaveProperty('code');
    app.clock.advance(5 * HOUR);
    expect((await ask(charts, browser, { prompt: 'none' })).got).toMatchObject({ error: 'login_required' });
    const idle = await signedIn();
    app.clock.advance(13 * HOUR);
    expect((await ask(charts, idle, { prompt: 'none' })).got).toMatchObject({ error: 'login_required' });
  });

  it.each(storyTransports(import.meta))(
    'by the user, over %s, ends the sessions of its apps and unused codes',
    async (via) => {
      const browser = await signedIn();
      const first = await ask(charts, browser);
      const used = await tokensFor(charts, first.tab, first.got?.['code']);
      const { accessToken: access, refreshToken: refresh } = used.data;
      const second = await ask(charts, browser);
      const token = await tokenOf(user);
      const { items } = await app.must('myUserSessions', { limit: 100 }, { token, via });
      const [, projectId] = boards.scope.id.split(':');
      const mine = items.find(({ ssoProjectId }) => ssoProjectId === projectId);
      expect(mine).toMatchObject({ kind: 'browser', isCurrent: false, projectAppId: null });
      expect(items.filter(({ ssoSessionId }) => ssoSessionId === mine?.id)).toEqual([
        expect.objectContaining({ kind: 'projectApp', projectAppId: charts.id }),
      ]);
      await app.must('revokeMyUserSession', { id: mine?.id ?? '' }, { token, via });
      expect((await app.raw('me', {}, { token: access })).status).toBe(401);
      const renewed = await app.call('projectToken', {
        grant_type: 'refresh_token',
        refresh_token: refresh ?? '',
        client_id: charts.clientId,
      });
      expect(renewed.status).toBe(400);
      expect((await tokensFor(charts, second.tab, second.got?.['code'])).status).toBe(400);
      expect((await ask(charts, browser, { prompt: 'none' })).got).toMatchObject({ error: 'login_required' });
    },
  );

  it('comes when another user signs in in the same browser', async () => {
    const [browser, guest] = [await signedIn(), await app.person()];
    const former = browser.cookies.get('doorward_sso') ?? '';
    const { tab } = await ask(boards, browser, { prompt: 'select_account' });
    expect(redirectParameters(await tab.finish(guest.email))).toHaveProperty('code');
    expect(await codeRow((await ask(charts, browser)).got?.['code'])).toMatchObject({ userId: guest.userId });
    browser.cookies.set('doorward_sso', former);
    expect((await ask(charts, browser, { prompt: 'none' })).got).toMatchObject({ error: 'login_required' });
  });

  it('of a former secret comes with the next sign-in of the same user', async () => {
    const browser = await signedIn();
    const former = browser.cookies.get('doorward_sso') ?? '';
    const { tab } = await ask(boards, browser, { prompt: 'login' });
    await tab.finish(user.email);
    const renewed = browser.cookies.get('doorward_sso') ?? '';
    expect(renewed.slice(0, 36)).toBe(former.slice(0, 36));
    browser.cookies.set('doorward_sso', former);
    expect((await ask(charts, browser, { prompt: 'none' })).got).toMatchObject({ error: 'login_required' });
  });
});

describe('the second factor', () => {
  it('counts for its hours, then is asked for alone', async () => {
    const person = await app.person();
    const token = await tokenOf(person);
    const { factor, secret } = await app.must('createMfaFactor', {}, { token });
    const shown = () => {
      app.clock.advance(30_000);
      return codeShown(secret, app.clock.now());
    };
    await app.must('verifyMfaFactor', { id: factor.id, code: codeShown(secret, app.clock.now()) }, { token });
    const give = async (tab: SignInBrowser) =>
      tab.post('/api/auth/project/second-factor', { form_token: await tab.formToken(), code: shown() });
    const browser = signInBrowser(app, boards);
    await browser.authorize();
    await browser.open(await browser.mail(person.email));
    await give(browser);
    expect(redirectParameters(await browser.answer('approve'))).toHaveProperty('code');
    const fresh = await ask(charts, browser, { prompt: 'none' });
    expect(await codeRow(fresh.got?.['code'])).toMatchObject({ acr: 'aal2', amr: ['mail', 'otp'] });
    app.clock.advance(3 * HOUR);
    expect((await ask(charts, browser, { prompt: 'none' })).got).toMatchObject({ error: 'login_required' });
    const { page, tab } = await ask(charts, browser);
    expect(page).toBe('second-factor');
    const { code } = redirectParameters(await give(tab));
    expect(await codeRow(code)).toMatchObject({ acr: 'aal2', amr: ['mail', 'otp'] });
    expect((await ask(boards, browser, { prompt: 'none' })).got).toHaveProperty('code');
  });

  it('that the user enabled after the sign-in is asked for', async () => {
    const person = await app.person();
    const browser = await signedIn(person);
    const token = await tokenOf(person);
    const { factor, secret } = await app.must('createMfaFactor', {}, { token });
    await app.must('verifyMfaFactor', { id: factor.id, code: codeShown(secret, app.clock.now()) }, { token });
    expect((await ask(charts, browser, { prompt: 'none' })).got).toMatchObject({ error: 'login_required' });
    expect((await ask(charts, browser)).page).toBe('second-factor');
  });
});
