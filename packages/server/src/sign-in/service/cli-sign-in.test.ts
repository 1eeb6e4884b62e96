import { createHash, randomBytes } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { codeShown } from '../../../test/support/sign-in/authenticator.ts';
import type { Person } from '../../../test/support/app/client.ts';
import { startGithub, type GithubDouble } from '../../../test/support/sign-in/github.ts';
import { cookieNames, visitor, type Visitor } from '../../../test/support/app/visitor.ts';
import { sessions } from '../../schema/sign-in/session.ts';

/** Sign-in from a command line on the pages of the service, by any method (identity §9). `cli.test.ts` has the exchange. */

const LOOPBACK = 'http://127.0.0.1:8976/done';
const PAGE = '/hosted/cli-sign-in';
const BASE = 'http://localhost:4000';

let app: TestApp;
let github: GithubDouble;
let ada: Person;
let browser: Visitor;

beforeAll(async () => {
  github = await startGithub();
  app = await startApp({ ...github.env });
  ada = await app.person();
});
afterAll(async () => {
  await app.close();
  await github.close();
});
beforeEach(() => {
  browser = visitor(app.server);
});

function cli(redirect = LOOPBACK) {
  const codeVerifier = randomBytes(32).toString('base64url');
  const query = {
    redirect,
    state: randomBytes(8).toString('hex'),
    code_challenge: createHash('sha256').update(codeVerifier).digest('base64url'),
    code_challenge_method: 'S256',
  };
  return { codeVerifier, query };
}
type Cli = ReturnType<typeof cli>;

const start = (query: Record<string, string>) =>
  browser.get(`/api/auth/cli?${new URLSearchParams(query).toString()}`);
async function begin({ query }: Cli): Promise<void> {
  const answer = await start(query);
  expect([answer.statusCode, answer.headers.location]).toEqual([303, `${BASE}/api/auth/project/sign-in`]);
}
const byPassword = ({ email, password }: Person) =>
  browser.post('/api/auth/flow/password', { email, password });
async function byMail(email: string) {
  await browser.post('/api/auth/project/email/request', { email });
  return browser.post('/api/auth/project/email/consume', { token: await app.mailedToken(email) });
}

/** The answer of the user on the page of consent, and the address to which the browser goes then. */
async function decide(decision: 'approve' | 'deny'): Promise<URL> {
  const page = await browser.get(PAGE);
  const formToken = /name="formToken" value="([^"]+)"/.exec(page.body)?.[1] ?? '';
  const end = await browser.post('/api/auth/cli/confirm', { decision, formToken });
  expect(end.statusCode, end.body).toBe(303);
  return new URL(String(end.headers.location));
}
const exchange = (back: URL, { codeVerifier }: Pick<Cli, 'codeVerifier'>) =>
  app.call('exchangeCliCode', { code: back.searchParams.get('code') ?? '', codeVerifier });
const sessionOf = async (userId: string) =>
  (await app.database.pool.select().from(sessions).where(eq(sessions.userId, userId))).find(
    ({ kind }) => kind === 'cli',
  );

describe('the command line gets a session', () => {
  test('by the password, after the question', async () => {
    const caller = cli();
    await begin(caller);
    const asked = await byPassword(ada);
    expect([asked.statusCode, asked.headers.location]).toEqual([303, `${BASE}${PAGE}`]);
    // Until the answer there is no session, for the browser neither.
    expect(cookieNames(browser)).toEqual(['doorward_flow']);
    const page = await browser.get(PAGE);
    for (const shown of [ada.email, '127.0.0.1:8976']) expect(page.body).toContain(shown);
    const back = await decide('approve');
    expect(back.origin + back.pathname).toBe(LOOPBACK);
    expect(back.searchParams.get('state')).toBe(caller.query.state);
    expect(cookieNames(browser)).toEqual([]);
    const { data, status, cookies } = await exchange(back, caller);
    expect([status, cookies, data.user.id, data.mfaRequired]).toEqual([200, [], ada.userId, false]);
    expect(await sessionOf(ada.userId)).toMatchObject({ kind: 'cli', acr: 'aal1', amr: ['pwd'] });
  });

  test('by a mailed link, also of a new address', async () => {
    const caller = cli('http://[::1]:8976/');
    await begin(caller);
    await byMail('grace@example.test');
    const { data } = await exchange(await decide('approve'), caller);
    expect(data.user.email).toBe('grace@example.test');
    expect(data.accounts).toHaveLength(1);
  });

  test('through GitHub on the pages', async () => {
    github.account = github.newAccount();
    const caller = cli();
    await begin(caller);
    const way = await browser.get('/api/auth/project/github');
    const callback = await github.visit(String(way.headers.location));
    expect((await browser.get(callback)).headers.location).toBe(`${BASE}${PAGE}`);
    const { data } = await exchange(await decide('approve'), caller);
    expect(data.user.email).toBe(github.account.emails[1]?.email);
  });

  test('with the second factor that the user gave in the browser, and with its age', async () => {
    const lin = await app.person();
    const as = { token: lin.token };
    const { factor, secret } = await app.must('createMfaFactor', {}, as);
    const code = (later: number) => codeShown(secret, app.clock.now(), later);
    await app.must('verifyMfaFactor', { id: factor.id, code: code(0) }, as);
    const caller = cli();
    await begin(caller);
    const next = await byPassword(lin);
    expect(next.headers.location).toBe(`${BASE}/api/auth/project/second-factor`);
    // The question is not there yet: this browser has no flow of a command line.
    expect((await browser.get(PAGE)).body).not.toContain('formToken');
    const asked = await browser.post('/api/auth/flow/second-factor', { code: code(1) });
    expect(asked.headers.location).toBe(`${BASE}${PAGE}`);
    const before = app.clock.now();
    app.clock.advance(300_000);
    const { data } = await exchange(await decide('approve'), caller);
    expect(data.mfaRequired).toBe(false);
    const session = await sessionOf(lin.userId);
    expect([session?.acr, session?.amr]).toEqual(['aal2', ['pwd', 'otp']]);
    expect(session?.authenticatedAt.getTime()).toBeLessThanOrEqual(before.getTime());
  });
});

describe('no session', () => {
  const error = (caller: Cli) => `${LOOPBACK}?error=accessDenied&state=${caller.query.state}`;

  test('when the user denies, or cancels on a page before', async () => {
    const caller = cli();
    await begin(caller);
    await byPassword(ada);
    expect((await decide('deny')).href).toBe(error(caller));
    await begin(caller);
    const { body } = await browser.get('/api/auth/project/sign-in');
    const consent_token = /name="consent_token" value="([^"]+)"/.exec(body)?.[1] ?? '';
    const cancelled = await browser.post('/api/auth/project/consent/deny', { consent_token });
    expect(cancelled.headers.location).toBe(error(caller));
  });

  test('for a new address where registration is closed', async () => {
    const closed = await startApp({ AUTH_REGISTRATION_MODE: 'closed' });
    try {
      browser = visitor(closed.server);
      const caller = cli();
      await begin(caller);
      await browser.post('/api/auth/project/email/request', { email: 'eve@example.test' });
      const token = await closed.mailedToken('eve@example.test');
      const end = await browser.post('/api/auth/project/email/consume', { token });
      expect(end.headers.location).toBe(error(caller));
    } finally {
      await closed.close();
    }
  });

  test('after the password was changed, neither by the question nor by the code', async () => {
    const lin = await app.person();
    const change = async (currentPassword: string) => {
      const newPassword = `another horse ${crypto.randomUUID()}`;
      await app.must('changeMyPassword', { currentPassword, newPassword }, { token: lin.token });
      return newPassword;
    };
    await begin(cli());
    await byPassword(lin);
    const password = await change(lin.password);
    expect((await browser.get(PAGE)).body).not.toContain('formToken');
    const caller = cli();
    await begin(caller);
    await byPassword({ ...lin, password });
    const back = await decide('approve');
    await change(password);
    expect((await exchange(back, caller)).code).toBe('INVALID_TOKEN');
  });
});

describe('the beginning', () => {
  test.each([
    'http://localhost:8976/',
    'http://localhost:4000/account',
    'http://127.0.0.1/',
    'https://127.0.0.1:8976/',
    'http://127.0.0.1:8976@evil.example/',
    'https://evil.example/',
    'javascript:alert(1)',
  ])('refuses to lead to %s', async (redirect) => {
    const answer = await start(cli(redirect).query);
    expect([answer.statusCode, answer.json()]).toEqual([
      400,
      expect.objectContaining({ code: 'INVALID_REDIRECT_URI' }),
    ]);
    expect(browser.cookies.size).toBe(0);
  });

  test('wants all four parts, in their form, and no other', async () => {
    const { query } = cli();
    for (const name of Object.keys(query)) {
      const given = Object.entries(query).filter(([each]) => each !== name);
      const answer = await start(Object.fromEntries(given));
      expect(answer.statusCode, name).toBe(400);
      expect(answer.json()).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: name }] });
    }
    for (const wrong of [
      { state: 'short' },
      { state: 'with blank' },
      { code_challenge: 'x'.repeat(42) },
      { code_challenge_method: 'plain' },
    ]) {
      const answer = await start({ ...query, ...wrong });
      expect(answer.json(), JSON.stringify(wrong)).toMatchObject({ code: 'VALIDATION_ERROR' });
    }
  });

  test('on the port of the service itself ends there as at any other', async () => {
    const own = await startApp({ APP_URL: 'http://127.0.0.1:4000' });
    try {
      browser = visitor(own.server);
      const { query } = cli('http://127.0.0.1:4000/account');
      await start(query);
      const person = await own.person();
      const origin = { origin: 'http://127.0.0.1:4000' };
      const sent = { email: person.email, password: person.password };
      const end = await browser.post('/api/auth/flow/password', sent, origin);
      expect(end.headers.location).toBe(`http://127.0.0.1:4000${PAGE}`);
      expect(cookieNames(browser)).toEqual(['doorward_flow']);
    } finally {
      await own.close();
    }
  });
});
