import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accountBrowser, accountCookie } from '../../../test/support/sign-in/account-browser.ts';
import { codeShown } from '../../../test/support/sign-in/authenticator.ts';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import type { Person } from '../../../test/support/app/client.ts';
import { visitor } from '../../../test/support/app/visitor.ts';

/** The frame of the account pages: how a browser gets in and out, and which forms count. */

const base = 'http://localhost:4000';
let app: TestApp;
let ada: Person;
beforeAll(async () => {
  app = await startApp();
  ada = await app.person();
});
afterAll(() => app.close());

const signedIn = async (person = ada) => {
  const browser = accountBrowser(app);
  await browser.signIn(person.email);
  return browser;
};
const nameOf = async () => (await app.must('me', {}, { token: ada.token })).user.name;

describe('sign-in', () => {
  test('a deep link leads through the sign-in back to its page', async () => {
    const browser = accountBrowser(app);
    const asked = await browser.page('/account/sessions');
    expect(asked.statusCode).toBe(303);
    expect(asked.headers.location).toBe(
      `${base}/api/auth/sign-in?redirect=${encodeURIComponent(`${base}/account/sessions`)}`,
    );
    const end = await browser.signIn(ada.email, '/account/sessions');
    expect([end.statusCode, end.headers.location]).toEqual([303, `${base}/account/sessions`]);
    const [cookie] = end.cookies.filter(({ name }) => name === accountCookie);
    expect(cookie).toMatchObject({ path: '/', httpOnly: true, sameSite: 'Lax', maxAge: 12 * 3600 });
    // The pages alone get a session: there is none for scripts.
    expect(end.cookies.some(({ name }) => name === 'doorward_refresh')).toBe(false);
    expect((await browser.page('/account/sessions')).statusCode).toBe(200);
  });

  test.each([
    'https://evil.example/',
    'http://localhost:4000.evil.example/account',
    'http://localhost:4000@evil.example/',
    '//evil.example',
    '/account',
    'javascript:alert(1)',
    'http://localhost:4000/\\evil.example',
  ])('no sign-in leads to %s', async (redirect) => {
    const query = new URLSearchParams({ redirect }).toString();
    const answer = await visitor(app.server).get(`/api/auth/sign-in?${query}`);
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ code: 'INVALID_REDIRECT_URI' });
  });

  test('at another page of this service it ends with the refresh cookie alone', async () => {
    const browser = accountBrowser(app);
    await browser.get(`/api/auth/sign-in?redirect=${encodeURIComponent(`${base}/accounting`)}`);
    await browser.post('/api/auth/project/email/request', { email: ada.email });
    const end = await browser.post('/api/auth/project/email/consume', {
      token: await app.mailedToken(ada.email),
    });
    expect(end.headers.location).toBe(`${base}/accounting`);
    const names = end.cookies.map(({ name }) => name);
    expect(names).toContain('doorward_refresh');
    expect(names).not.toContain(accountCookie);
  });

  test('a new address becomes a user where registration is open', async () => {
    const browser = accountBrowser(app);
    await browser.signIn('grace@example.test');
    expect((await browser.page('/account')).body).toContain('grace@example.test');
  });

  test('where it is closed, it ends without a session and says so', async () => {
    const closed = await startApp({ AUTH_REGISTRATION_MODE: 'closed' });
    try {
      const browser = accountBrowser(closed);
      const end = await browser.signIn('grace@example.test');
      expect(end.headers.location).toBe(`${base}/hosted/signed-in?error=accessDenied`);
      expect(browser.cookies.has(accountCookie)).toBe(false);
    } finally {
      await closed.close();
    }
  });

  test('with a password, and with the second factor of the user', async () => {
    const other = await app.person();
    const as = { token: other.token };
    const { factor, secret } = await app.must('createMfaFactor', {}, as);
    const code = (later: number) => codeShown(secret, app.clock.now(), later);
    await app.must('verifyMfaFactor', { id: factor.id, code: code(0) }, as);
    const browser = accountBrowser(app);
    await browser.get('/api/auth/sign-in');
    const next = await browser.post('/api/auth/flow/password', {
      email: other.email,
      password: other.password,
    });
    expect(next.headers.location).toBe(`${base}/api/auth/project/second-factor`);
    expect((await browser.page('/account')).statusCode).toBe(303);
    const end = await browser.post('/api/auth/flow/second-factor', { code: code(1) });
    expect(end.headers.location).toBe(`${base}/account`);
    expect((await browser.page('/account')).statusCode).toBe(200);
  });
});

describe('a session', () => {
  test('a changed or foreign cookie opens nothing', async () => {
    const browser = await signedIn();
    const cookie = browser.cookies.get(accountCookie) ?? '';
    const { refreshToken } = ada;
    for (const forged of [
      cookie.slice(0, -3) + (cookie.endsWith('AAA') ? 'BBA' : 'AAA'),
      refreshToken,
      '',
      'dwr_',
    ]) {
      browser.cookies.set(accountCookie, forged);
      expect((await browser.page('/account')).statusCode).toBe(303);
    }
    // Nor does it count where tokens do.
    const refreshed = await app.server.inject({
      method: 'POST',
      url: '/api/auth/refresh',
      headers: { origin: base, cookie: `doorward_refresh=${cookie}` },
    });
    expect(refreshed.statusCode).toBe(401);
  });

  test('one that was ended elsewhere opens no page and sends no form', async () => {
    const browser = await signedIn();
    const { body } = await browser.page('/account');
    const token = /name="form_token" value="([\w-]+)"/.exec(body)?.[1] ?? '';
    const { items } = await app.must('myUserSessions', {}, { token: ada.token });
    for (const { id, isCurrent } of items) {
      if (!isCurrent) await app.must('revokeMyUserSession', { id }, { token: ada.token });
    }
    const name = await nameOf();
    const sent = await browser.post('/account', {
      form_token: token,
      form: 'profile',
      name: 'Eve',
      locale: '',
    });
    expect([sent.statusCode, await nameOf()]).toEqual([303, name]);
    expect((await browser.page('/account')).statusCode).toBe(303);
  });

  test('signing out ends the session, and not only its cookie', async () => {
    const browser = await signedIn();
    const cookie = browser.cookies.get(accountCookie) ?? '';
    const { body } = await browser.page('/account');
    const token = /name="form_token" value="([\w-]+)"/.exec(body)?.[1] ?? '';
    const out = await browser.post('/account/sign-out', { form_token: token });
    expect(out.headers.location).toBe('/hosted/signed-out');
    expect(browser.cookies.has(accountCookie)).toBe(false);
    browser.cookies.set(accountCookie, cookie);
    expect((await browser.page('/account')).statusCode).toBe(303);
  });
});

describe('a form', () => {
  const fields = { form: 'profile', name: 'Mallory', locale: '' };

  test('of a page of another site, or without its token, changes nothing', async () => {
    const browser = await signedIn();
    const name = await nameOf();
    const foreign = await browser.send('/account', fields, { origin: 'https://evil.example' });
    expect(foreign.statusCode).toBe(403);
    const hidden = await browser.send('/account', fields, { origin: 'null', 'sec-fetch-site': 'cross-site' });
    expect(hidden.statusCode).toBe(403);
    const withoutToken = await browser.post('/account', fields);
    expect(withoutToken.statusCode).toBe(400);
    expect(withoutToken.json()).toMatchObject({ code: 'INVALID_TOKEN' });
    const other = await signedIn(await app.person());
    const { body } = await other.page('/account');
    const token = /name="form_token" value="([\w-]+)"/.exec(body)?.[1] ?? '';
    const ofOther = await browser.post('/account', { ...fields, form_token: token });
    expect(ofOther.statusCode).toBe(400);
    expect(await nameOf()).toBe(name);
  });

  test('of the page changes name and language; an error stands at its field with the bound', async () => {
    const browser = await signedIn();
    const saved = await browser.send('/account', { form: 'profile', name: 'Ada King', locale: 'de' });
    expect([saved.statusCode, saved.headers.location]).toEqual([303, '/account?saved']);
    expect((await browser.page('/account?saved')).body).toContain('Your change is saved.');
    const { user } = await app.must('me', {}, { token: ada.token });
    expect([user.name, user.locale]).toEqual(['Ada King', 'de']);
    const refused = await browser.send('/account', { form: 'profile', name: 'x'.repeat(256), locale: '' });
    expect(refused.statusCode).toBe(400);
    expect(refused.body).toContain(
      '<p role="alert" id="name-problem" class="bad hint">At most 255 characters.</p>',
    );
    expect(refused.body).toContain('aria-invalid="true"');
    const escaped = await browser.send('/account', { form: 'profile', name: '"><script>', locale: 'xx' });
    expect(escaped.statusCode).toBe(400);
    expect(escaped.body).toContain('value="&quot;&gt;&lt;script&gt;"');
  });
});

test('no page can be framed, loaded from elsewhere or kept', async () => {
  const { headers } = await (await signedIn()).page('/account');
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'content-security-policy':
      "default-src 'none'; style-src 'self'; img-src data: 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  });
});

describe('sessions', () => {
  test('lists the own, ends each, and all others at once', async () => {
    const person = await app.person();
    const browser = await signedIn(person);
    const other = await signedIn(person);
    const { body } = await browser.page('/account/sessions');
    expect(body).toContain('Browser (this session)');
    const [first = ''] = [...body.matchAll(/name="id" value="([\w-]+)"/g)].map(([, id = '']) => id);
    const ended = await browser.send('/account/sessions', { form: 'end', id: first });
    expect(ended.headers.location).toBe('/account/sessions?saved');
    expect((await other.page('/account')).statusCode).toBe(303);
    await browser.send('/account/sessions', { form: 'endOthers' });
    expect((await app.raw('me', {}, { token: person.token })).status).toBe(401);
    expect((await browser.page('/account/sessions')).body).not.toContain('value="end"');
  });

  test('the session of another user is not there', async () => {
    const [browser, other] = [await signedIn(), await app.person()];
    const { items } = await app.must('myUserSessions', {}, { token: other.token });
    const answer = await browser.send('/account/sessions', { form: 'end', id: items[0]?.id ?? '' });
    expect(answer.statusCode).toBe(404);
    expect((await app.raw('me', {}, { token: other.token })).status).toBe(200);
  });
});
