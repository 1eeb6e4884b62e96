import { randomUUID } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import { unique, type Person } from '../../../test/support/app/client.ts';
import { codeShown } from '../../../test/support/sign-in/authenticator.ts';
import { startGithub, type GithubAccount, type GithubDouble } from '../../../test/support/sign-in/github.ts';
import { visitor, type Visitor } from '../../../test/support/app/visitor.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import { auditLog } from '../../schema/events/audit-log-entry.ts';
import { events } from '../../schema/events/event.ts';
import { flowErrors } from '../federation/destination.ts';
import { signInFlows } from '../../schema/sign-in/sign-in-flow.ts';
import { githubAt, newVerifier } from '../../providers/github.ts';
import { ProviderFault } from '../../providers/provider.ts';
import { authenticationMethods } from '../../schema/sign-in/authentication-method.ts';
import { users } from '../../schema/people/user.ts';

/** Sign-in with GitHub (identity §8): whom it lets in, and the ways to misuse it. These addresses are REST only. */

const frontend = 'https://app.example.test';
const REFRESH = 'doorward_refresh';
const FLOW = 'doorward_flow';

let app: TestApp;
let github: GithubDouble;
let browser: Visitor;
let secure: TestApp | undefined;

beforeAll(async () => {
  github = await startGithub();
  app = await startOwnApp({
    ...github.env,
    SECURITY_ADDITIONAL_ORIGINS: `${frontend},https://other.example.test:8443`,
    SECURITY_TRUSTED_PROXIES: '127.0.0.1',
  });
});
afterAll(async () => {
  await app.close();
  await secure?.close();
  await github.close();
});
beforeEach(() => {
  github.faults.clear();
  github.account = github.newAccount();
  browser = visitor(app.server);
});

const addressOf = ({ emails }: GithubAccount) => emails.find(({ primary }) => primary)?.email ?? '';
/** An account at GitHub whose verified primary address is this one. */
const withAddress = (email: string) =>
  github.newAccount({ emails: [{ email, primary: true, verified: true }] });

interface Me {
  readonly user: { id: string; name: string; email: string; emailVerified: boolean };
  readonly accounts: { type: string }[];
  readonly mfa: { enabled: boolean; verified: boolean };
}

/** The tokens of the browser's session, as a frontend gets them. */
async function tokenOf(visitor: Visitor = browser): Promise<string> {
  const answer = await app.server.inject({
    method: 'POST',
    url: '/api/auth/refresh',
    headers: { cookie: `${REFRESH}=${visitor.cookies.get(REFRESH)}`, origin: 'http://localhost:4000' },
  });
  expect(answer.statusCode, answer.body).toBe(200);
  visitor.cookies.set(REFRESH, answer.cookies.find(({ name }) => name === REFRESH)?.value ?? '');
  return answer.json<{ data: { accessToken: string } }>().data.accessToken;
}
const me = async (visitor: Visitor = browser) =>
  (await app.must('me', {}, { token: await tokenOf(visitor) })) as unknown as Me;
const methodsOf = async (userId: string) =>
  app.database.pool.select().from(authenticationMethods).where(eq(authenticationMethods.userId, userId));
const errorIn = (location: unknown) => new URL(String(location)).searchParams.get('error');

/** Everything of the installation that a sign-in could change. */
async function state(): Promise<unknown> {
  const [counts] = await rowsOf<Record<string, number>>(
    app.database.pool,
    sql`select (select count(*)::int from users) as users, (select count(*)::int from sessions) as sessions,
      (select count(*)::int from authentication_methods) as methods, (select count(*)::int from events) as events`,
  );
  return counts;
}

async function expectRefused(error: string, work: () => Promise<{ headers: Record<string, unknown> }>) {
  const before = await state();
  const { headers } = await work();
  expect(errorIn(headers['location'])).toBe(error);
  expect(browser.cookies.has(REFRESH)).toBe(false);
  expect(await state()).toEqual(before);
}

describe('the beginning', () => {
  test('leads to GitHub with state, challenge and the fewest rights, and binds the browser', async () => {
    const answer = await browser.get(`/api/auth/github?redirect=${frontend}/welcome`);
    expect(answer.statusCode).toBe(302);
    expect(answer.body).toBe('');
    const to = new URL(String(answer.headers.location));
    expect(to.origin + to.pathname).toBe(`${github.url}/login/oauth/authorize`);
    expect(Object.fromEntries(to.searchParams)).toEqual({
      client_id: 'doorward-test',
      response_type: 'code',
      redirect_uri: 'http://localhost:4000/api/auth/github/callback',
      scope: 'read:user user:email',
      state: expect.stringMatching(/^[\w-]{43}$/) as string,
      code_challenge: expect.stringMatching(/^[\w-]{43}$/) as string,
      code_challenge_method: 'S256',
    });
    const [cookie] = answer.cookies;
    expect(cookie).toMatchObject({ name: FLOW, httpOnly: true, sameSite: 'Lax', path: '/', maxAge: 600 });
    const rows = await app.database.pool.select().from(signInFlows);
    for (const secret of [to.searchParams.get('state'), cookie?.value, frontend]) {
      expect(JSON.stringify(rows)).not.toContain(secret);
    }
    expect(
      await app.database.pool.select().from(auditLog).where(eq(auditLog.operation, 'startGithubSignIn')),
    ).toEqual([]);
  });

  test.each([
    'https://evil.example',
    'https://app.example.test.evil.example/',
    'https://app.example.test@evil.example/',
    'https://evil.example@app.example.test/',
    'https://app.example.test:8443/',
    'https://app.example.test:443/',
    'https://app.example.testing/',
    'https://other.example.test/',
    'http://app.example.test/',
    'HTTPS://app.example.test/',
    'https://APP.example.test/',
    'https:app.example.test/',
    'https:/app.example.test/',
    'https:\\\\app.example.test/',
    'https://app.example.test\\@evil.example/',
    'https://app.example.test/\\evil.example',
    'https://app.example.test/#fragment',
    'https://app.example.test/a b',
    'https://app.example.test/\tx',
    ' https://app.example.test/',
    '//evil.example',
    '//app.example.test/',
    '/\\evil.example',
    '/welcome',
    '',
    'javascript:alert(1)',
    'javascript://app.example.test/%0aalert(1)',
    'data:text/html,x',
    'http://localhost:4000@evil.example/',
    'http://localhost:40000/',
    'http://localhost/',
    'http://localhost:3000/',
    'http://127.0.0.1.evil.example/',
    'null',
  ])('refuses to lead to %j', async (address) => {
    const answer = await browser.get(`/api/auth/github?redirect=${encodeURIComponent(address)}`);
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ code: 'INVALID_REDIRECT_URI' });
    expect(answer.headers.location).toBeUndefined();
    expect(answer.cookies).toEqual([]);
  });

  test('takes one redirect, known actions, and nothing else', async () => {
    for (const query of [
      `redirect=${frontend}&redirect=${frontend}`,
      'action=delete',
      'accountType=both',
      'provider=github',
      `redirect=${frontend}/${'x'.repeat(2048)}`,
    ]) {
      const answer = await browser.get(`/api/auth/github?${query}`);
      expect([answer.statusCode, answer.json<{ code: string }>().code]).toEqual([400, 'VALIDATION_ERROR']);
    }
  });
});

describe('a new GitHub account', () => {
  test('becomes a verified user, with a session in the cookie and no token in any address', async () => {
    const account = github.account as GithubAccount;
    const end = await browser.signIn(github, { redirect: `${frontend}/in?x=1`, accountType: 'organization' });
    expect([end.statusCode, end.headers.location, end.body]).toEqual([303, `${frontend}/in?x=1`, '']);
    expect(browser.cookies.has(FLOW)).toBe(false);
    const cookie = end.cookies.find(({ name }) => name === REFRESH);
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax', path: '/' });

    const { user, accounts } = await me();
    expect(user).toMatchObject({ name: account.name, email: addressOf(account), emailVerified: true });
    expect(accounts.map(({ type }) => type)).toEqual(['organization']);
    expect(await methodsOf(user.id)).toMatchObject([
      {
        provider: 'github',
        providerId: String(account.id),
        label: addressOf(account),
        isVerified: true,
        isPrimary: true,
      },
    ]);
    const token = await tokenOf();
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as object;
    expect(claims).toMatchObject({ amr: ['fed'], acr: 'aal1', email_verified: true, sub: user.id });
    const entries = await app.database.pool
      .select()
      .from(auditLog)
      .where(sql`${auditLog.actor} ->> 'id' = ${user.id}`);
    expect(entries.map(({ operation, event, outcome }) => [operation, event, outcome])).toContainEqual([
      'finishGithubSignIn',
      'user.created',
      'success',
    ]);
    const reported = await app.database.pool
      .select()
      .from(events)
      .where(sql`${events.body} -> 'actor' ->> 'id' = ${user.id}`);
    expect(reported.map(({ type }) => type)).toEqual(['user.created', 'session.created']);
  });

  test('is the same user next time, whatever name and address it has by then', async () => {
    const account = github.account as GithubAccount;
    await browser.signIn(github);
    const first = await me();
    const again = visitor(app.server);
    github.account = { ...account, login: 'renamed', name: 'Renamed', emails: [] };
    expect((await again.signIn(github)).headers.location).toBe('http://localhost:4000/hosted/signed-in');
    expect((await me(again)).user).toEqual(first.user);
    const page = await again.get('/hosted/signed-in');
    expect(page.body).toContain('The sign-in is complete');
  });

  test('gets one user of two sign-ins at once', { tags: 'race' }, async () => {
    const two = [visitor(app.server), visitor(app.server)];
    const back = await Promise.all(two.map((visitor) => visitor.toGithub(github)));
    const ends = await Promise.all(two.map((visitor, index) => visitor.get(back[index] ?? '')));
    expect(ends.map(({ headers }) => errorIn(headers.location))).toEqual([null, null]);
    const [item, other] = await Promise.all(two.map((visited) => me(visited)));
    expect(item?.user.id).toBe(other?.user.id);
    const address = addressOf(github.account as GithubAccount);
    expect(await app.database.pool.select().from(users).where(eq(users.email, address))).toHaveLength(1);
  });

  test('has a name of its own making only as far as it is one', async () => {
    for (const name of [null, '', '\u0000', 'x'.repeat(300)]) {
      const account = github.newAccount({ name });
      github.account = account;
      const item = visitor(app.server);
      await item.signIn(github);
      expect((await me(item)).user.name).toBe(account.login);
    }
  });
});

describe('the address', () => {
  test('that a user verified by mail leads to that user, and links the account', async () => {
    const person = await app.person();
    github.account = withAddress(person.email.toUpperCase());
    await browser.signIn(github);
    expect((await me()).user.id).toBe(person.userId);
    const methods = await methodsOf(person.userId);
    expect(methods.map(({ provider, isPrimary }) => [provider, isPrimary]).sort()).toEqual([
      ['email', true],
      ['github', false],
    ]);
    // The account is known from now on, by its id alone.
    github.account = { ...github.account, emails: [] };
    const again = visitor(app.server);
    await again.signIn(github);
    expect((await me(again)).user.id).toBe(person.userId);
  });

  test('that somebody only typed in is merged with nobody, and his claim ends', async () => {
    const email = `${unique()}@example.test`;
    const squatter = await app.must('register', {
      provider: 'email',
      providerId: email,
      providerData: { password: 'correct horse of a squatter' },
    });
    const mailed = await app.mailedToken(email);
    github.account = withAddress(email);
    await browser.signIn(github);
    const { user } = await me();
    expect(user).toMatchObject({ email, emailVerified: true });
    expect(user.id).not.toBe(squatter.signIn?.user.id);
    expect((await app.call('verifyEmail', { token: mailed })).code).toBe('INVALID_TOKEN');
    expect((await app.call('me', {}, { token: squatter.signIn?.accessToken })).code).toBe('UNAUTHENTICATED');
  });

  test('that GitHub vouches for is taken for registrations, and no way to sign in by mail', async () => {
    const address = addressOf(github.account as GithubAccount);
    await browser.signIn(github);
    const provider = { provider: 'email', providerId: address } as const;
    const providerData = { password: 'correct horse of another' };
    expect((await app.call('register', { ...provider, providerData })).code).toBe('CONFLICT');
    expect((await app.call('login', { ...provider, providerData })).code).toBe('UNAUTHENTICATED');
    await app.must('requestPasswordReset', { email: address });
    await app.app.flushMails();
    expect(app.mails.filter(({ to }) => to === address)).toEqual([]);
  });

  test('must be primary and verified in one', async () => {
    const email = `${unique()}@example.test`;
    for (const emails of [
      [],
      [{ email, primary: true, verified: false }],
      [{ email, primary: false, verified: true }],
      [
        { email, primary: true, verified: false },
        { email: `other-${email}`, primary: false, verified: true },
      ],
      [{ email: 'no address', primary: true, verified: true }],
    ]) {
      github.account = github.newAccount({ emails });
      await expectRefused('emailNotVerified', () => browser.signIn(github));
    }
  });
});

describe('a user who may not sign in', () => {
  async function known(): Promise<{ person: Person; account: GithubAccount }> {
    const person = await app.person();
    const account = withAddress(person.email);
    github.account = account;
    await visitor(app.server).signIn(github);
    return { person, account };
  }

  test.each(['disabled', 'deleted'] as const)('because he is %s gets no session', async (how) => {
    const { person } = await known();
    const set = how === 'disabled' ? { status: 'disabled' as const } : { deletedAt: new Date() };
    await app.database.pool.update(users).set(set).where(eq(users.id, person.userId));
    await expectRefused('accessDenied', () => browser.signIn(github));
    // A new GitHub account with the same address neither signs in nor becomes another user.
    github.account = withAddress(person.email);
    await expectRefused('accessDenied', () => browser.signIn(github));
    const entries = await app.database.pool
      .select()
      .from(auditLog)
      .where(sql`${auditLog.target} ->> 'id' = ${person.userId} and ${auditLog.outcome} = 'failed'`);
    expect(entries.map(({ operation, code }) => [operation, code])).toEqual([
      ['finishGithubSignIn', 'UNAUTHENTICATED'],
      ['finishGithubSignIn', 'UNAUTHENTICATED'],
    ]);
  });

  test('because too many secrets were wrong in this network has to wait, or come from elsewhere', async () => {
    const { person } = await known();
    for (let i = 0; i < 10; i++) {
      await app.raw(
        'login',
        { provider: 'email', providerId: person.email, providerData: { password: 'wrong' } },
        { headers: { 'x-forwarded-for': '192.0.2.7' } },
      );
    }
    const back = await browser.toGithub(github);
    const end = await browser.get(back, { 'x-forwarded-for': '192.0.2.7' });
    expect(errorIn(end.headers.location)).toBe('accessDenied');
    expect((await browser.signIn(github)).headers.location).not.toContain('error');
  });

  test('without his second factor has half a session', async () => {
    const { person } = await known();
    const { factor, secret } = await app.must('createMfaFactor', {}, { token: person.token });
    const code = codeShown(secret, app.clock.now());
    await app.must('verifyMfaFactor', { id: factor.id, code }, { token: person.token });
    await browser.signIn(github);
    const token = await tokenOf();
    expect((await me()).mfa).toEqual({ enabled: true, verified: false });
    expect((await app.call('myUserSessions', {}, { token })).code).toBe('MFA_REQUIRED');
  });
});

describe('connecting', () => {
  const page = `${frontend}/settings`;
  const query = { action: 'connect', redirect: page };

  async function signedIn(options = {}): Promise<Person> {
    const person = await app.person(options);
    browser.cookies.set(REFRESH, person.refreshToken);
    return person;
  }
  const githubOf = async (userId: string) =>
    (await methodsOf(userId)).filter(({ provider }) => provider === 'github');

  test('links the account to whoever is signed in, and opens no session', async () => {
    const person = await signedIn();
    const account = github.account as GithubAccount;
    for (const _ of ['first', 'again']) {
      const end = await browser.connect(github, query);
      expect([end.statusCode, end.headers.location]).toEqual([303, page]);
      expect(end.cookies.map(({ name }) => name)).toEqual([FLOW]);
    }
    expect(await githubOf(person.userId)).toMatchObject([
      { providerId: String(account.id), label: addressOf(account), isVerified: true, isPrimary: false },
    ]);
    const listed = await app.must('myUserSessions', {}, { token: person.token });
    expect(listed.totalCount).toBe(1);
    const [entry, ...more] = await app.database.pool
      .select()
      .from(auditLog)
      .where(
        sql`${auditLog.actor} ->> 'id' = ${person.userId} and ${auditLog.operation} = 'confirmProviderConnection'`,
      );
    expect(more).toEqual([]);
    expect(entry).toMatchObject({ outcome: 'success', target: { type: 'AuthenticationMethod' } });
    // The address belongs to this user now: no other user can register it.
    const registration = { provider: 'email', providerId: addressOf(account) } as const;
    const providerData = { password: 'correct horse of another' };
    expect((await app.call('register', { ...registration, providerData })).code).toBe('CONFLICT');
    const elsewhere = visitor(app.server);
    await elsewhere.signIn(github);
    expect((await me(elsewhere)).user).toMatchObject({ id: person.userId, email: person.email });
  });

  test('asks on a page that names the account and the user, and does nothing before', async () => {
    const person = await signedIn();
    const account = github.account as GithubAccount;
    // Another site can lead the browser through GitHub, and that is all that it can do.
    const start = await browser.get(`/api/auth/github?${new URLSearchParams(query).toString()}`, {
      'sec-fetch-site': 'cross-site',
    });
    const back = await browser.get(await github.visit(String(start.headers.location)));
    expect(back.headers.location).toBe('http://localhost:4000/hosted/connect-provider');
    expect(await githubOf(person.userId)).toEqual([]);
    const question = await browser.get('/hosted/connect-provider');
    for (const shown of [account.login, addressOf(account), person.email])
      expect(question.body).toContain(shown);
    expect(question.headers['content-security-policy']).toContain(`form-action 'self' ${frontend};`);
    const formToken = /name="formToken" value="([^"]+)"/.exec(question.body)?.[1] ?? '';
    const answer = (decision: string, headers = {}) =>
      browser.post('/api/auth/providers/connect', { decision, formToken }, headers);
    expect((await answer('approve', { origin: 'https://evil.example' })).statusCode).toBe(403);
    const stranger = await visitor(app.server).post('/api/auth/providers/connect', {
      decision: 'approve',
      formToken,
    });
    expect(stranger.statusCode).toBe(400);
    expect((await answer('deny')).headers.location).toBe(`${page}?error=accessDenied`);
    expect((await answer('approve')).statusCode).toBe(400);
    expect(await githubOf(person.userId)).toEqual([]);
    expect((await browser.get('/hosted/connect-provider')).body).not.toContain('<form');
  });

  test('links nothing for another session than the one that began it, nor for one that is no longer recent', async () => {
    const person = await signedIn();
    const other = await app.person();
    const refused = async (error: string, meanwhile: () => void) => {
      await browser.signIn(github, query);
      const { body } = await browser.get('/hosted/connect-provider');
      const formToken = /name="formToken" value="([^"]+)"/.exec(body)?.[1] ?? '';
      meanwhile();
      const end = await browser.post('/api/auth/providers/connect', { decision: 'approve', formToken });
      expect(end.headers.location).toBe(`${page}?error=${error}`);
    };
    await refused('invalidState', () => browser.cookies.set(REFRESH, other.refreshToken));
    browser.cookies.set(REFRESH, person.refreshToken);
    await refused('stepUpRequired', () => browser.cookies.delete(REFRESH));
    expect([...(await githubOf(person.userId)), ...(await githubOf(other.userId))]).toEqual([]);
  });

  test('is mailed to every address that was verified before, and so is its end', async () => {
    const person = await signedIn();
    const second = `${unique()}@example.test`;
    await app.must(
      'addMyAuthenticationMethod',
      { provider: 'email', providerId: second },
      { token: person.token },
    );
    await app.must('verifyEmail', { token: await app.mailedToken(second) });
    const reported = async (work: () => Promise<unknown>) => {
      await app.app.flushMails();
      const before = app.mails.length;
      await work();
      await app.app.flushMails();
      const mails = app.mails
        .slice(before)
        .filter(({ subject }) => subject === 'Your ways to sign in have changed');
      return mails.map(({ to, text }) => [to, text.includes('GitHub')]);
    };
    const both = [
      [person.email, true],
      [second, true],
    ];
    expect(await reported(() => browser.connect(github, query))).toEqual(both);
    const [method] = await githubOf(person.userId);
    const account = addressOf(github.account as GithubAccount);
    const remove = () =>
      app.must('removeMyAuthenticationMethod', { id: method?.id ?? '' }, { token: person.token });
    expect(await reported(remove)).toEqual([...both, [account, true]]);
    const { items } = await app.must('myNotifications', { sortOrder: 'ASC' }, { token: person.token });
    const types = items.map(({ type }) => type).filter((type) => type === 'sign_in_methods_changed');
    expect(types).toHaveLength(4);
    const changes = await app.database.pool
      .select()
      .from(events)
      .where(
        sql`${events.type} = 'user.sign_in_methods_changed' and ${events.body} -> 'data' ->> 'id' = ${person.userId}`,
      )
      .orderBy(events.sequence);
    const dataOf = ({ body }: { body: unknown }) => (body as { data: Record<string, unknown> }).data;
    expect(changes.map(dataOf).map(({ change, provider, label }) => [change, provider, label])).toEqual([
      ['added', 'email', second],
      ['verified', 'email', second],
      ['added', 'github', account],
      ['removed', 'github', account],
    ]);
  });

  test('gives a user who has proved no address his first one', async () => {
    const { userId } = await signedIn({ verified: false });
    await browser.connect(github, query);
    const address = addressOf(github.account as GithubAccount);
    expect((await me()).user).toMatchObject({ id: userId, email: address, emailVerified: true });
    const methods = await methodsOf(userId);
    expect(methods.filter(({ isPrimary }) => isPrimary)).toMatchObject([{ provider: 'github' }]);
    const reported = await app.database.pool
      .select()
      .from(events)
      .where(sql`${events.type} = 'user.email_verified' and ${events.body} -> 'actor' ->> 'id' = ${userId}`);
    expect(reported).toHaveLength(1);
  });

  test('authenticates the user before it redirects', async () => {
    const refused = async (cookie: string | undefined, headers = {}) => {
      browser.cookies.clear();
      if (cookie !== undefined) browser.cookies.set(REFRESH, cookie);
      const answer = await browser.get(`/api/auth/github?${new URLSearchParams(query).toString()}`, headers);
      expect([answer.statusCode, answer.headers.location]).toEqual([302, `${page}?error=stepUpRequired`]);
      expect(answer.cookies).toEqual([]);
    };
    const person = await app.person();
    await refused(undefined);
    await refused('dwr_invented');
    await refused(undefined, { authorization: `Bearer ${person.token}` });
    const { refreshToken } = await app.must('refreshSession', {
      accessToken: person.token,
      refreshToken: person.refreshToken,
    });
    await refused(person.refreshToken);
    const { factor, secret } = await app.must('createMfaFactor', {}, { token: person.token });
    const code = codeShown(secret, app.clock.now());
    await app.must('verifyMfaFactor', { id: factor.id, code }, { token: person.token });
    const half = await app.must('login', {
      provider: 'email',
      providerId: person.email,
      providerData: { password: person.password },
    });
    await refused(half.refreshToken);
    // With the second factor given it is allowed, until the sign-in is no longer recent.
    browser.cookies.set(REFRESH, refreshToken);
    expect((await browser.get('/api/auth/github?action=connect')).headers.location).toContain(github.url);
    app.clock.advance(15 * 60_000 + 1000);
    await refused(refreshToken);
  });

  test('takes nobody’s account, nobody’s address, and not more than five methods', async () => {
    const taken = github.account as GithubAccount;
    await visitor(app.server).signIn(github);
    const other = await app.person();
    const person = await signedIn();
    const refused = async (account: GithubAccount, error = 'alreadyLinked') => {
      github.account = account;
      const end = await browser.connect(github, query);
      expect(end.headers.location).toBe(`${page}?error=${error}`);
    };
    await refused(taken);
    await refused(withAddress(other.email));
    await refused(withAddress(addressOf(taken)));
    await refused(github.newAccount({ emails: [] }), 'emailNotVerified');
    expect(await githubOf(person.userId)).toEqual([]);
    for (let i = 0; i < 4; i++) {
      github.account = github.newAccount();
      await browser.connect(github, query);
    }
    await refused(github.newAccount());
    expect(await githubOf(person.userId)).toHaveLength(4);
  });

  test('ends with the session in which it was begun', async () => {
    const person = await signedIn();
    const back = await browser.toGithub(github, query);
    const other = await app.person();
    browser.cookies.set(REFRESH, other.refreshToken);
    expect((await browser.get(back)).headers.location).toBe(`${page}?error=invalidState`);
    browser.cookies.set(REFRESH, person.refreshToken);
    const late = await browser.toGithub(github, query);
    await app.must('logout', {}, { token: person.token });
    expect((await browser.get(late)).headers.location).toBe(`${page}?error=stepUpRequired`);
    expect([...(await githubOf(person.userId)), ...(await githubOf(other.userId))]).toEqual([]);
  });

  test('is undone like any other method, but for the last one', async () => {
    await browser.signIn(github);
    const { user } = await me();
    const token = await tokenOf();
    const [method] = await githubOf(user.id);
    const id = method?.id ?? '';
    expect((await app.call('removeMyAuthenticationMethod', { id }, { token })).code).toBe(
      'LAST_SIGN_IN_METHOD',
    );
    const providerId = `${unique()}@example.test`;
    const providerData = { password: 'correct horse for later' };
    await app.must('addMyAuthenticationMethod', { provider: 'email', providerId, providerData }, { token });
    await app.must('verifyEmail', { token: await app.mailedToken(providerId) });
    expect((await app.must('removeMyAuthenticationMethod', { id }, { token })).provider).toBe('github');
    expect((await me()).user).toMatchObject({ id: user.id, email: providerId });
    // The account and its address are free again: they make another user.
    const again = visitor(app.server);
    await again.signIn(github);
    expect((await me(again)).user.id).not.toBe(user.id);
  });
});

describe('a way back that was not begun here', () => {
  const expectInvalid = async (visitor: Visitor, address: string) => {
    const before = await state();
    const answer = await visitor.get(address);
    expect([answer.statusCode, answer.json<{ code: string }>().code]).toEqual([400, 'INVALID_TOKEN']);
    expect(answer.headers.location).toBeUndefined();
    expect(answer.cookies).toEqual([]);
    expect(await state()).toEqual(before);
  };

  test('does not sign the victim in as the attacker: the state is bound to the browser', async () => {
    const back = await browser.toGithub(github);
    const victim = visitor(app.server);
    await expectInvalid(victim, back);
    // Nor during a sign-in of the victim, which continues.
    const own = await victim.toGithub(github);
    await expectInvalid(victim, back);
    expect((await victim.get(own)).statusCode).toBe(303);
  });

  test('is of no use twice, and a code of another flow is worth nothing', async () => {
    const stolen = await visitor(app.server).toGithub(github);
    const own = new URL(await browser.toGithub(github));
    own.searchParams.set('code', new URL(stolen).searchParams.get('code') ?? '');
    // GitHub refuses it: the verifier of this browser is not that of the code.
    await expectRefused('providerUnavailable', () => browser.get(own.href));
    app.clock.advance(31_000);
    await expectInvalid(browser, own.href);
    const back = await browser.toGithub(github);
    const flow = browser.cookies.get(FLOW) ?? '';
    await browser.get(back);
    browser.cookies.set(FLOW, flow);
    app.clock.advance(31_000);
    await expectInvalid(browser, back);
  });

  test('of several at once only one counts, and the others get its session', { tags: 'race' }, async () => {
    const back = await browser.toGithub(github);
    const headers = { cookie: `${FLOW}=${browser.cookies.get(FLOW)}` };
    const { pathname, search } = new URL(back);
    const answers = await Promise.all(
      [1, 2, 3].map(() => app.server.inject({ url: pathname + search, headers })),
    );
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([303, 303, 303]);
    const sessionsSet = answers.map(({ cookies }) => cookies.find(({ name }) => name === 'doorward_refresh'));
    expect(new Set(sessionsSet.map((cookie) => cookie?.value)).size).toBe(1);
  });

  test('is too late after ten minutes', async () => {
    const back = await browser.toGithub(github);
    app.clock.advance(601_000);
    await expectInvalid(browser, back);
    await app.purge();
    expect(await app.database.pool.select().from(signInFlows)).toEqual([]);
  });

  test('is not taken from an invented state', async () => {
    await browser.toGithub(github);
    for (const invented of ['x', '%00', "' or 1=1 --", '\ud83d\ude00', 'x'.repeat(512)]) {
      await expectInvalid(browser, `/api/auth/github/callback?code=c&state=${encodeURIComponent(invented)}`);
    }
    const twice = await browser.get('/api/auth/github/callback?state=a&state=b');
    expect(twice.json()).toMatchObject({ code: 'VALIDATION_ERROR' });
  });

  test('without a code leads on with what it is', async () => {
    const { searchParams } = new URL(await browser.toGithub(github, { redirect: `${frontend}/?error=old` }));
    const state = searchParams.get('state') ?? '';
    const end = await browser.get(`/api/auth/github/callback?state=${state}`);
    expect(end.headers.location).toBe(`${frontend}/?error=invalidState`);
  });
});

describe('a failure at GitHub', () => {
  test('by the user is told as his', async () => {
    github.account = null;
    await expectRefused('accessDenied', () => browser.signIn(github, { redirect: `${frontend}/in` }));
    expect(browser.cookies.has(FLOW)).toBe(false);
  });

  const json = { 'content-type': 'application/json' };
  test.each([
    ['/login/oauth/access_token', { status: 500, body: 'oops' }],
    [
      '/login/oauth/access_token',
      { status: 200, headers: json, body: '{"error":"incorrect_client_credentials"}' },
    ],
    [
      '/login/oauth/access_token',
      { status: 200, headers: json, body: '{"access_token":7,"token_type":"bearer"}' },
    ],
    ['/login/oauth/access_token', { status: 200, headers: json, body: '<html>' }],
    ['/login/oauth/access_token', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }],
    ['/login/oauth/access_token', { status: 200, headers: json, body: `{"a":"${'x'.repeat(300_000)}"}` }],
    ['/login/oauth/access_token', { status: 204 }],
    ['/api/v3/user', { status: 401, headers: { 'www-authenticate': 'Bearer' } }],
    ['/api/v3/user', { status: 302, headers: { location: '/elsewhere' } }],
    ['/api/v3/user', { status: 200, headers: json, body: '{"login":"octocat"}' }],
    ['/api/v3/user', { status: 200, headers: json, body: '{"id":"1","login":"octocat"}' }],
    ['/api/v3/user', { status: 200, headers: json, body: '{"id":-1,"login":"octocat"}' }],
    ['/api/v3/user', { status: 200, headers: json, body: '{"id":1.5,"login":"octocat"}' }],
    ['/api/v3/user', { status: 200, headers: json, body: 'null' }],
    ['/api/v3/user/emails', { status: 503 }],
    ['/api/v3/user/emails', { status: 200, headers: json, body: '{}' }],
    [
      '/api/v3/user/emails',
      { status: 200, headers: json, body: '[{"email":"a@example.test","primary":1,"verified":1}]' },
    ],
  ])('at %s is nobody else’s: %j', async (path, fault) => {
    github.faults.set(path, fault);
    await expectRefused('providerUnavailable', () => browser.signIn(github));
    expect(github.requests).not.toContain('GET /elsewhere');
    expect(app.logs.at(-1)).not.toContain('gho_');
    expect(app.logs.at(-2)).toContain('Sign-in through GitHub failed');
  });

  test('that never ends is waited for a while', async () => {
    github.faults.set('/login/oauth/access_token', { hangs: true });
    const config = { client: { id: 'a', secret: 'b' }, webUrl: github.url, apiUrl: github.url };
    const provider = githubAt(config, 'http://localhost:4000/callback', 0.05);
    await expect(
      provider.identify({ state: 's', code: 'code' }, { state: 's', verifier: newVerifier() }),
    ).rejects.toBeInstanceOf(ProviderFault);
  });

  test('tells nothing secret in the log', async () => {
    github.faults.set('/api/v3/user', { status: 500, body: 'secret of GitHub' });
    const back = await browser.toGithub(github);
    await browser.get(back);
    const text = app.logs.join('');
    const { searchParams } = new URL(back);
    for (const secret of ['gho_', 'the secret of the test', 'secret of GitHub', ...searchParams.values()]) {
      expect(text).not.toContain(secret);
    }
  });
});

describe('the page at the end', () => {
  test.each(['en', 'de', 'es', 'fr'])(
    'says in %s what failed, each in its own words',
    { tags: 'independent' },
    async (language) => {
      const said = await Promise.all(
        [...flowErrors, 'unknown', '"><script>alert(1)</script>'].map(async (error) => {
          const page = await browser.get(`/hosted/signed-in?error=${encodeURIComponent(error)}`, {
            'accept-language': language,
          });
          expect(page.statusCode).toBe(200);
          expect(page.headers['content-language']).toBe(language);
          expect(page.body).not.toMatch(/<script|alert|\son\w+=/);
          return /role="status"[^>]*>([^<]+)</.exec(page.body)?.[1];
        }),
      );
      expect(said.every(Boolean)).toBe(true);
      expect(new Set(said).size).toBe(flowErrors.length + 1);
    },
  );

  test('is kept, framed and posted nowhere', async () => {
    const { headers } = await browser.get('/hosted/signed-in');
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
    expect(headers['content-security-policy']).toContain("form-action 'none'; frame-ancestors 'none'");
    expect(headers['content-security-policy']).not.toContain('unsafe');
  });
});

test('https gives the cookies their prefix, a frontend is the default page, and closed means closed', async () => {
  const config = {
    ...github.env,
    APP_URL: 'https://doorward.example.test',
    SECURITY_FRONTEND_URL: 'https://app.example.test/portal',
  };
  secure = await startOwnApp({ ...config, AUTH_REGISTRATION_MODE: 'closed' });
  const item = visitor(secure.server);
  const start = await item.get('/api/auth/github');
  expect(start.cookies).toMatchObject([
    { name: '__Host-doorward_flow', secure: true, path: '/', maxAge: 600 },
    { name: expect.stringMatching(/^__Host-doorward_flow_[\w-]{8}$/) as string, secure: true, path: '/' },
  ]);
  const back = await github.visit(String(start.headers.location));
  expect(back).toMatch(/^https:\/\/doorward\.example\.test\/api\/auth\/github\/callback\?/);
  expect((await item.get(back)).headers.location).toBe(
    'https://app.example.test/portal?error=signUpDisabled',
  );
  expect(await secure.database.pool.select().from(users)).toEqual([]);

  // Who is there already comes in.
  const id = randomUUID();
  const address = addressOf(github.account as GithubAccount);
  await secure.database.pool.insert(users).values({ id, name: 'Ada', email: address, emailVerified: true });
  await secure.database.pool.insert(authenticationMethods).values({
    ...{ id: randomUUID(), userId: id, provider: 'email', providerId: address, label: address },
    ...{ isVerified: true, isPrimary: true, claims: true },
  });
  const end = await item.signIn(github);
  expect(end.headers.location).toBe('https://app.example.test/portal');
  expect(end.headers['set-cookie']).toEqual([
    expect.stringMatching(/^__Host-doorward_refresh=.*; Secure/),
    expect.stringMatching(/^__Host-doorward_flow=;.*; Secure/),
  ]);
});
