import { createHash, randomBytes } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import { startGithub, type GithubDouble } from '../../../test/support/sign-in/github.ts';
import { cookieNames, visitor, type Visitor } from '../../../test/support/app/visitor.ts';
import { auditLog } from '../../schema/events/audit-log-entry.ts';
import { cliCodes } from '../../schema/oauth/cli-code.ts';
import { signInFlows } from '../../schema/sign-in/sign-in-flow.ts';
import { users } from '../../schema/people/user.ts';

/** Sign-in from a command line (identity §9): browser, question, loopback, exchange; and who else might try. */

const LOOPBACK = 'http://127.0.0.1:8976/done';
const FLOW = 'doorward_flow';
const PAGE = '/hosted/cli-sign-in';
const CONFIRM = '/api/auth/cli/confirm';

let app: TestApp;
let github: GithubDouble;
let browser: Visitor;

beforeAll(async () => {
  github = await startGithub();
  app = await startOwnApp(github.env);
});
afterAll(async () => {
  await app.close();
  await github.close();
});
beforeEach(() => {
  github.account = github.newAccount();
  browser = visitor(app.server);
});

/** What a command line thinks up. */
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

/** Starts a sign-in of the command line in the browser, up to the consent page. */
async function openConsentPage({ query }: Cli, visitor = browser) {
  const end = await visitor.signIn(github, query);
  expect([end.statusCode, end.headers.location]).toEqual([303, `http://localhost:4000${PAGE}`]);
  const page = await visitor.get(PAGE);
  return { page, formToken: /name="formToken" value="([^"]+)"/.exec(page.body)?.[1] ?? '' };
}

/** The code that a user lets the command line have. */
async function codeFor(caller: Cli): Promise<string> {
  const { formToken } = await openConsentPage(caller);
  const end = await browser.post(CONFIRM, { decision: 'approve', formToken });
  expect(end.statusCode, end.body).toBe(303);
  const url = new URL(String(end.headers.location));
  expect(url.origin + url.pathname).toBe(LOOPBACK);
  expect(url.searchParams.get('state')).toBe(caller.query.state);
  return url.searchParams.get('code') ?? '';
}
const exchange = (code: string, { codeVerifier }: Pick<Cli, 'codeVerifier'>) =>
  app.call('exchangeCliCode', { code, codeVerifier });
const codeOf = (answer: { json: () => unknown }) => (answer.json() as { code: string }).code;
const isAlive = async (token: string) => (await app.call('me', {}, { token })).ok;
const recordedOf = async (userId: string) =>
  (
    await app.database.pool
      .select()
      .from(auditLog)
      .where(sql`${auditLog.tenantId} in (select id from accounts where owner_id = ${userId}::uuid)`)
      .orderBy(auditLog.sequence)
  ).map(({ operation, event, outcome }) => [operation, event, outcome]);

test('the command line gets a session of its own, the browser none', async () => {
  const caller = cli();
  const { page } = await openConsentPage(caller);
  const [name, { email = '' } = {}] = [github.account?.name ?? '', github.account?.emails[1]];
  for (const shown of [name, email, '127.0.0.1:8976']) expect(page.body).toContain(shown);
  expect(page.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'same-origin' });
  const policy = String(page.headers['content-security-policy']);
  expect(policy).toContain("form-action 'self' http://127.0.0.1:8976; frame-ancestors 'none'");

  const code = await codeFor(caller);
  expect(cookieNames(browser)).toEqual([]);
  const answer = await exchange(code, caller);
  expect(answer.status).toBe(200);
  expect(answer.cookies).toEqual([]);
  const { accessToken, user, mfaRequired, emailVerified } = answer.data;
  expect([user.email, mfaRequired, emailVerified]).toEqual([email, false, true]);
  const listed = await app.must('myUserSessions', {}, { token: accessToken });
  expect(listed.items.map(({ kind, isCurrent }) => [kind, isCurrent])).toEqual([['cli', true]]);
  const { accessToken: next } = await app.must('refreshSession', {
    accessToken,
    refreshToken: answer.data.refreshToken,
  });
  expect(await isAlive(next)).toBe(true);
  expect((await recordedOf(user.id)).slice(-3)).toEqual([
    ['confirmCliSignIn', null, 'success'],
    ['exchangeCliCode', 'session.created', 'success'],
    ['refreshSession', null, 'success'],
  ]);
  const stored = JSON.stringify([
    await app.database.pool.select().from(cliCodes),
    await app.database.pool.select().from(signInFlows),
  ]);
  for (const secret of [code, caller.codeVerifier, caller.query.state]) expect(stored).not.toContain(secret);
  expect(app.logs.join('')).not.toContain(code);
});

describe('the beginning', () => {
  const start = (query: Record<string, string | undefined>) => {
    const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined);
    return browser.get(`/api/auth/github?${new URLSearchParams(given).toString()}`);
  };

  test.each([
    'http://127.0.0.1:1/',
    'http://127.0.0.1:65535',
    'http://127.0.0.1:8976/a/b?c=d',
    'http://127.0.0.1:8976?c=d',
    'http://[::1]:8976/done',
    'http://127.0.0.1:4000/on-the-port-of-the-service',
  ])('leads back to %s', async (redirect) => {
    expect((await start({ ...cli(redirect).query })).statusCode).toBe(302);
  });

  test.each([
    'http://localhost:8976/',
    'http://127.0.0.1/',
    'http://127.0.0.1:/',
    'http://127.0.0.1:0/',
    'http://127.0.0.1:08976/',
    'http://127.0.0.1:65536/',
    'http://127.0.0.1:99999999/',
    'https://127.0.0.1:8976/',
    'HTTP://127.0.0.1:8976/',
    'http:\\\\127.0.0.1:8976/',
    'http://127.0.0.1.evil.com:8976/',
    'http://127.0.0.1:8976.evil.com/',
    'http://127.0.0.1:8976@evil.com/',
    'http://user@127.0.0.1:8976/',
    'http://evil.com#@127.0.0.1:8976/',
    'http://127.0.0.1:8976/#x',
    'http://127.0.0.1:8976/\\evil.com',
    'http://127.0.0.1:8976/ x',
    'http://127.0.0.1:8976\\@evil.com/',
    'http://127.1:8976/',
    'http://2130706433:8976/',
    'http://0x7f.0.0.1:8976/',
    'http://127.0.0.2:8976/',
    'http://0.0.0.0:8976/',
    'http://[::]:8976/',
    'http://[::ffff:127.0.0.1]:8976/',
    'http://[0:0:0:0:0:0:0:1]:8976/',
    '//127.0.0.1:8976/',
    'javascript://127.0.0.1:8976/%0aalert(1)',
    'http://localhost:4000/welcome',
  ])('refuses to lead to %j', async (redirect) => {
    const answer = await start({ ...cli(redirect).query });
    expect([answer.statusCode, codeOf(answer)]).toEqual([400, 'INVALID_REDIRECT_URI']);
    expect(answer.headers.location).toBeUndefined();
  });

  test('wants all parts, in their form', async () => {
    const { query } = cli();
    for (const name of ['redirect', 'state', 'code_challenge', 'code_challenge_method']) {
      const answer = await start({ ...query, [name]: undefined });
      expect(answer.statusCode, name).toBe(400);
      expect(answer.json()).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: [{ path: name, code: 'required' }],
      });
    }
    expect(codeOf(await start({ redirect: query.redirect }))).toBe('VALIDATION_ERROR');
    for (const wrong of [
      { state: 'short' },
      { state: 'x'.repeat(257) },
      { state: 'with blank' },
      { code_challenge: 'x'.repeat(42) },
      { code_challenge: 'x'.repeat(129) },
      { code_challenge: `${'x'.repeat(43)}=` },
      { code_challenge_method: 'plain' },
      { action: 'connect' },
    ]) {
      expect(codeOf(await start({ ...query, ...wrong })), JSON.stringify(wrong)).toBe('VALIDATION_ERROR');
    }
  });

  test('that ends at GitHub is told to the command line', async () => {
    github.account = null;
    const { query } = cli();
    const end = await browser.signIn(github, query);
    expect(end.headers.location).toBe(`${LOOPBACK}?error=accessDenied&state=${query.state}`);
    expect(browser.cookies.has(FLOW)).toBe(false);
  });
});

describe('the question', () => {
  test('may be answered with no', async () => {
    const caller = cli();
    const { formToken } = await openConsentPage(caller);
    const end = await browser.post(CONFIRM, { decision: 'deny', formToken });
    expect(end.headers.location).toBe(`${LOOPBACK}?error=accessDenied&state=${caller.query.state}`);
    expect(browser.cookies.has(FLOW)).toBe(false);
    expect(
      await app.database.pool
        .select()
        .from(cliCodes)
        .where(eq(cliCodes.challenge, caller.query.code_challenge)),
    ).toEqual([]);
  });

  test('is answered by nobody else: not by another browser, page or site', async () => {
    const { formToken } = await openConsentPage(cli());
    const approve = { decision: 'approve', formToken };
    const attacker = visitor(app.server);
    const { formToken: foreign } = await openConsentPage(cli(), attacker);
    const answers = [
      await browser.post(CONFIRM, { ...approve, formToken: foreign }),
      await attacker.post(CONFIRM, approve),
      await visitor(app.server).post(CONFIRM, approve),
    ];
    expect(answers.map(codeOf)).toEqual(Array(3).fill('INVALID_TOKEN'));
    for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:8976']) {
      const crossSite = await browser.post(CONFIRM, approve, { origin, 'sec-fetch-site': 'cross-site' });
      expect([crossSite.statusCode, codeOf(crossSite)]).toEqual([403, 'ORIGIN_NOT_ALLOWED']);
    }
    for (const wrong of [
      { decision: 'maybe', formToken },
      { decision: 'approve' },
      { ...approve, extra: 'x' },
    ]) {
      expect(codeOf(await browser.post(CONFIRM, wrong as Record<string, string>))).toBe('VALIDATION_ERROR');
    }
    // None of these was an answer, so the question is still open.
    expect((await browser.post(CONFIRM, approve)).statusCode).toBe(303);
    expect(codeOf(await browser.post(CONFIRM, { ...approve, decision: 'deny' }))).toBe('INVALID_TOKEN');
  });

  test(
    'of several answers at once only one counts, and all lead to the same code',
    { tags: 'race' },
    async () => {
      const { formToken } = await openConsentPage(cli());
      const cookie = `${FLOW}=${browser.cookies.get(FLOW)}`;
      const answers = await Promise.all(
        [1, 2, 3].map(() =>
          visitor(app.server).post(CONFIRM, { decision: 'approve', formToken }, { cookie }),
        ),
      );
      expect(answers.map(({ statusCode }) => statusCode)).toEqual([303, 303, 303]);
      expect(new Set(answers.map(({ headers }) => headers.location)).size).toBe(1);
    },
  );

  test('is taken from the form only', async () => {
    const state = new URL(await browser.toGithub(github, cli().query)).searchParams.get('state') ?? '';
    // The state of the way through GitHub is in an address, and answers no question.
    const early = await browser.post(CONFIRM, { decision: 'approve', formToken: state });
    expect(codeOf(early)).toBe('INVALID_TOKEN');
    const twice = await browser.post(
      `${CONFIRM}`,
      { decision: 'approve', formToken: 'x' },
      {
        'content-type': 'text/plain',
      },
    );
    expect(twice.statusCode).toBe(415);
    const doubled = await app.server.inject({
      method: 'POST',
      url: CONFIRM,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: 'decision=deny&decision=approve&formToken=x',
    });
    expect(doubled.json()).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: 'decision', code: 'duplicate' }],
    });
    const elsewhere = await browser.post('/api/auth/login', { provider: 'email' });
    expect(elsewhere.statusCode).toBe(415);
  });

  test('is over after ten minutes, and shows strangers nothing', async () => {
    const { formToken, page } = await openConsentPage(cli());
    expect((await visitor(app.server).get(PAGE)).body).not.toContain('formToken');
    const invented = await visitor(app.server).get(PAGE, { cookie: `${FLOW}=${'x'.repeat(43)}` });
    expect(invented.body).not.toContain('formToken');
    expect(page.body).not.toContain('<script');
    app.clock.advance(601_000);
    expect((await browser.get(PAGE)).body).toContain('has expired');
    expect(codeOf(await browser.post(CONFIRM, { decision: 'approve', formToken }))).toBe('INVALID_TOKEN');
  });

  test.each(['de', 'es', 'fr'])('is asked in %s', async (language) => {
    const english = await browser.get(PAGE);
    const page = await browser.get(PAGE, { 'accept-language': language });
    expect(page.headers['content-language']).toBe(language);
    const textOf = (body: string) => /role="status"[^>]*>([^<]+)</.exec(body)?.[1];
    expect(textOf(page.body)).toBeTruthy();
    expect(textOf(page.body)).not.toBe(textOf(english.body));
  });

  test('escapes the name, and lets the form lead to an IPv6 listener', async () => {
    github.account = github.newAccount({ name: '<b>{formToken}</b>' });
    const { page, formToken } = await openConsentPage(cli('http://[::1]:8976/'));
    expect(page.body).toContain('&lt;b&gt;{formToken}&lt;/b&gt;');
    expect(page.headers['content-security-policy']).toContain("form-action 'self' http:;");
    const end = await browser.post(CONFIRM, { decision: 'approve', formToken });
    expect(end.headers.location).toMatch(/^http:\/\/\[::1\]:8976\/\?code=/);
  });
});

describe('the code', () => {
  test('is burnt by a wrong verifier', async () => {
    const caller = cli();
    const code = await codeFor(caller);
    expect((await exchange(code, cli())).code).toBe('INVALID_TOKEN');
    expect((await exchange(code, caller)).code).toBe('INVALID_TOKEN');
  });

  test('is over after 60 seconds', async () => {
    const caller = cli();
    const code = await codeFor(caller);
    app.clock.advance(61_000);
    expect((await exchange(code, caller)).code).toBe('INVALID_TOKEN');
  });

  test('that is used again ends the session it opened, also much later', async () => {
    const caller = cli();
    const code = await codeFor(caller);
    const { accessToken, user } = (await exchange(code, caller)).data;
    app.clock.advance(5 * 60_000);
    await app.purge();
    expect(await isAlive(accessToken)).toBe(true);
    expect((await exchange(code, caller)).code).toBe('INVALID_TOKEN');
    expect(await isAlive(accessToken)).toBe(false);
    expect((await recordedOf(user.id)).at(-1)).toEqual(['exchangeCliCode', null, 'failed']);
    const ended = await app.database.pool.execute(
      sql`select 1 from events where type = 'session.revoked' and body -> 'data' ->> 'kind' = 'cli'`,
    );
    expect((ended as { rows: unknown[] }).rows).toHaveLength(1);
  });

  test('that was used ends nothing when it is shown without its verifier', async () => {
    const caller = cli();
    const code = await codeFor(caller);
    const { accessToken, user } = (await exchange(code, caller)).data;
    expect((await exchange(code, cli())).code).toBe('INVALID_TOKEN');
    expect(await isAlive(accessToken)).toBe(true);
    expect((await recordedOf(user.id)).at(-1)).toEqual(['exchangeCliCode', null, 'failed']);
    expect((await exchange(code, caller)).code).toBe('INVALID_TOKEN');
    expect(await isAlive(accessToken)).toBe(false);
  });

  test('that is used twice at once leaves no session', { tags: 'race' }, async () => {
    const caller = cli();
    const code = await codeFor(caller);
    const answers = await Promise.all([1, 2].map(() => exchange(code, caller)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    const token = answers.find(({ ok }) => ok)?.data.accessToken ?? '';
    expect(await isAlive(token)).toBe(false);
  });

  test('of a user who was disabled meanwhile is worth nothing', async () => {
    const caller = cli();
    const code = await codeFor(caller);
    const address = github.account?.emails[1]?.email ?? '';
    await app.database.pool.update(users).set({ status: 'disabled' }).where(eq(users.email, address));
    expect((await exchange(code, caller)).code).toBe('INVALID_TOKEN');
    await app.database.pool.update(users).set({ status: 'active' }).where(eq(users.email, address));
    expect((await exchange(code, caller)).code).toBe('INVALID_TOKEN');
  });

  test('that nobody gave is none', async () => {
    for (const code of ['x', randomBytes(32).toString('base64url'), '\u0000']) {
      expect((await exchange(code, cli())).code).toBe('INVALID_TOKEN');
    }
    for (const codeVerifier of ['x'.repeat(42), 'x'.repeat(129), `${'x'.repeat(42)} `]) {
      expect((await exchange('x', { codeVerifier })).code).toBe('VALIDATION_ERROR');
    }
  });
});
