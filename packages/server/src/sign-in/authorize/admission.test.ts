import { and, eq } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { unique, type Person } from '../../../test/support/app/client.ts';
import { codeShown } from '../../../test/support/sign-in/authenticator.ts';
import { startGithub, type GithubAccount, type GithubDouble } from '../../../test/support/sign-in/github.ts';
import {
  appInProject,
  projectViewer,
  signInBrowser,
  redirectParameters,
  type AppInProject,
  type SignInBrowser,
} from '../../../test/support/sign-in/project-app.ts';
import { hashOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { createKek } from '../../crypto/keys/kek.ts';
import { signInFlows } from '../../schema/sign-in/sign-in-flow.ts';
import { auditLog } from '../../schema/events/audit-log-entry.ts';
import { authenticationMethods } from '../../schema/sign-in/authentication-method.ts';
import { projectUsers } from '../../schema/rights/membership.ts';
import { users } from '../../schema/people/user.ts';
import { projectCodes } from '../../schema/oauth/project-code.ts';
import { cookieNames, withoutFlow } from '../../../test/support/app/visitor.ts';

/** Which users an app admits: by mail and GitHub, with and without sign-up, with a second factor. */

const providers: ('email' | 'github')[] = ['email', 'github'];
let app: TestApp;
let github: GithubDouble;
/** Allows sign-up. */
let open: AppInProject;
/** Admits only users of its project. */
let closed: AppInProject;

beforeAll(async () => {
  github = await startGithub();
  app = await startApp({ ...github.env, AUTH_REGISTRATION_MODE: 'immediate' });
  open = await appInProject(app, {
    enabledProviders: providers,
    allowSignUp: true,
    signUpRoleId: projectViewer,
  });
  closed = await appInProject(app, { enabledProviders: providers });
});
afterAll(async () => {
  await app.close();
  await github.close();
});
beforeEach(() => {
  github.faults.clear();
  github.account = github.newAccount();
});

const pool = () => app.database.pool;
const addressOf = (account: GithubAccount | null) =>
  account?.emails.find(({ primary }) => primary)?.email ?? '';
const withAddress = (email: string) =>
  github.newAccount({ emails: [{ email, primary: true, verified: true }] });
const newAddress = () => `visitor-${unique()}@example.test`;
const usersAt = (address: string) => pool().select().from(users).where(eq(users.email, address));
const methodsOf = (userId: string) =>
  pool().select().from(authenticationMethods).where(eq(authenticationMethods.userId, userId));
const isProjectUser = async (userId: string, { scope }: AppInProject) => {
  const [, projectId = ''] = scope.id.split(':');
  const isIt = and(eq(projectUsers.tenantId, projectId), eq(projectUsers.userId, userId));
  return (await pool().select().from(projectUsers).where(isIt)).length === 1;
};
const codeRow = async (answer: Parameters<typeof redirectParameters>[0]) => {
  const isIt = eq(projectCodes.hash, hashOneTimeToken(redirectParameters(answer)['code'] ?? ''));
  return (await pool().select().from(projectCodes).where(isIt))[0];
};

/** Signs in with GitHub and returns the redirect of the callback. */
async function throughGithub(browser: SignInBrowser) {
  await browser.authorize({ provider: 'github' });
  const to = await browser.get('/api/auth/project/github');
  expect(to.statusCode, to.body).toBe(302);
  return browser.get(await github.visit(String(to.headers.location)));
}
async function byMail(browser: SignInBrowser, address: string) {
  await browser.authorize();
  return browser.open(await browser.mail(address));
}
const expectDenied = (
  browser: SignInBrowser,
  answer: Parameters<typeof redirectParameters>[0],
  to: AppInProject,
) => {
  expect(redirectParameters(answer)).toEqual({
    error: 'access_denied',
    state: browser.request['state'],
    iss: to.issuer,
  });
  expect(cookieNames(browser)).toEqual([]);
};

describe('without sign-up', () => {
  test('strangers are denied access, by mail and by GitHub, and nothing is created', async () => {
    const address = newAddress();
    const mailed = signInBrowser(app, closed);
    expectDenied(mailed, await byMail(mailed, address), closed);
    const led = signInBrowser(app, closed);
    expectDenied(led, await throughGithub(led), closed);
    expect(await usersAt(address)).toEqual([]);
    expect(await usersAt(addressOf(github.account))).toEqual([]);
  });

  test('a user of another tenant is denied access too', async () => {
    const stranger = await app.person();
    const browser = signInBrowser(app, closed);
    expectDenied(browser, await byMail(browser, stranger.email), closed);
    expect(await isProjectUser(stranger.userId, closed)).toBe(false);
  });

  test('the request for a mail does not reveal it', async () => {
    const stranger = await app.person();
    for (const email of [closed.owner.email, stranger.email, newAddress()]) {
      const browser = signInBrowser(app, closed);
      await browser.authorize();
      const answer = await browser.post('/api/auth/project/email/request', { email });
      expect([answer.statusCode, answer.headers.location, answer.body]).toEqual([
        303,
        '/api/auth/project/sign-in',
        '',
      ]);
      expect(await app.mailedToken(email)).toMatch(/^[\w-]{43}$/);
    }
  });

  test('the owner is admitted without joining the project', async () => {
    const browser = signInBrowser(app, closed);
    await byMail(browser, closed.owner.email);
    expect((await codeRow(await browser.answer('approve')))?.userId).toBe(closed.owner.userId);
    expect(await isProjectUser(closed.owner.userId, closed)).toBe(false);
  });
});

describe('with sign-up', () => {
  test('an existing user joins on consent, and not on cancelling', async () => {
    const person = await app.person();
    const undecided = signInBrowser(app, open);
    await byMail(undecided, person.email);
    await undecided.answer('deny');
    expect(await isProjectUser(person.userId, open)).toBe(false);
    const browser = signInBrowser(app, open);
    await byMail(browser, person.email);
    expect((await codeRow(await browser.answer('approve')))?.userId).toBe(person.userId);
    expect(await isProjectUser(person.userId, open)).toBe(true);
  });

  test('an unverified claim does not own the address, and ends', async () => {
    const claimant = await app.person({ verified: false });
    const browser = signInBrowser(app, open);
    await byMail(browser, claimant.email);
    const row = await codeRow(await browser.answer('approve'));
    expect(row?.userId).not.toBe(claimant.userId);
    expect(await methodsOf(claimant.userId)).toEqual([]);
    const [method] = await methodsOf(row?.userId ?? '');
    expect(method).toMatchObject({
      provider: 'email',
      providerId: claimant.email,
      isVerified: true,
      isPrimary: true,
    });
    expect((await app.call('me', {}, { token: claimant.token })).code).toBe('UNAUTHENTICATED');
  });

  test('sign-up is turned off before the consent: access is denied and nothing is created', async () => {
    const to = await appInProject(app, { allowSignUp: true, signUpRoleId: projectViewer });
    const address = newAddress();
    const browser = signInBrowser(app, to);
    await byMail(browser, address);
    const consent = await browser.formToken();
    await app.must(
      'updateProjectApp',
      { scope: to.scope, id: to.id, allowSignUp: false },
      { token: to.owner.token },
    );
    const answer = await browser.post('/api/auth/project/consent/approve', { consent_token: consent });
    expectDenied(browser, answer, to);
    expect(await usersAt(address)).toEqual([]);
  });
});

describe('a user who may not sign in', () => {
  const refusals = (userId: string) =>
    pool()
      .select()
      .from(auditLog)
      .where(and(eq(auditLog.code, 'UNAUTHENTICATED'), eq(auditLog.outcome, 'failed')))
      .then((rows) => rows.filter(({ target }) => (target as { id: string }).id === userId));

  test('is denied access, with an audit entry; also if disabled after the consent page was shown', async () => {
    const person = await app.person();
    const early = signInBrowser(app, open);
    await byMail(early, person.email);
    const consent = await early.formToken();
    await pool().update(users).set({ status: 'disabled' }).where(eq(users.id, person.userId));
    const late = signInBrowser(app, open);
    expectDenied(late, await byMail(late, person.email), open);
    expectDenied(
      early,
      await early.post('/api/auth/project/consent/approve', { consent_token: consent }),
      open,
    );
    expect((await refusals(person.userId)).map(({ operation }) => operation)).toEqual([
      'consumeProjectEmail',
      'approveProjectConsent',
    ]);
  });

  test('a deleted user keeps their address until the purge', async () => {
    const person = await app.person();
    await app.must('deleteMe', {}, { token: person.token });
    const browser = signInBrowser(app, open);
    expectDenied(browser, await byMail(browser, person.email), open);
    const [user] = await pool().select().from(users).where(eq(users.id, person.userId));
    expect(user?.deletedAt).not.toBeNull();
  });
});

describe('GitHub', () => {
  test('leaves a flow that the version before can read, which may run beside this one', async () => {
    const kek = createKek({ current: Buffer.alloc(32, 7), old: [] });
    const browser = signInBrowser(app, open);
    await throughGithub(browser);
    const isOwn = eq(signInFlows.browserHash, hashOneTimeToken(browser.cookies.get('doorward_flow') ?? ''));
    const [row] = await pool().select().from(signInFlows).where(isOwn);
    const flow = kek.open(row?.sealed ?? '', `sign_in_flows:project:${row?.hash}`).toString();
    expect(flow).toContain(addressOf(github.account));
  });

  test('creates a new user with the name from GitHub', async () => {
    const browser = signInBrowser(app, open);
    const back = await throughGithub(browser);
    expect(back.headers.location).toBe('http://localhost:4000/api/auth/project/consent');
    const address = addressOf(github.account);
    expect(await usersAt(address)).toEqual([]);
    const row = await codeRow(await browser.answer('approve'));
    expect(row).toMatchObject({ amr: ['fed'], acr: 'aal1' });
    const [user] = await usersAt(address);
    expect(user).toMatchObject({ id: row?.userId, name: github.account?.name, emailVerified: true });
    expect(await methodsOf(user?.id ?? '')).toMatchObject([
      { provider: 'github', providerId: String(github.account?.id), label: address, isVerified: true },
    ]);
    const again = signInBrowser(app, open);
    expect((await codeRow(await byMail(again, address)))?.userId).toBe(user?.id);
  });

  test('is linked to the owner of its address on consent, and not before', async () => {
    const person = await app.person();
    github.account = withAddress(person.email);
    const undecided = signInBrowser(app, open);
    await throughGithub(undecided);
    await undecided.answer('deny');
    expect(await methodsOf(person.userId)).toHaveLength(1);
    const browser = signInBrowser(app, open);
    await throughGithub(browser);
    expect((await codeRow(await browser.answer('approve')))?.userId).toBe(person.userId);
    expect((await methodsOf(person.userId)).map(({ provider }) => provider).sort()).toEqual([
      'email',
      'github',
    ]);
  });

  test('does not prove an address that it has not verified', async () => {
    const person = await app.person();
    github.account = github.newAccount({ emails: [{ email: person.email, primary: true, verified: false }] });
    const browser = signInBrowser(app, open);
    const back = await throughGithub(browser);
    expect(back.headers.location).toBe('http://localhost:4000/api/auth/project/sign-in');
    expect((await browser.page()).body).toContain('role="alert"');
    expect((await browser.answer('approve')).statusCode).toBe(400);
  });

  test('refuses or fails: the page shows it, and another provider still works', async () => {
    const account = github.account;
    for (const spoil of [
      () => void (github.account = null),
      () => void github.faults.set('/login/oauth/access_token', { status: 500 }),
      () => void github.faults.set('/api/v3/user', { body: '<html>' }),
    ]) {
      github.account = account;
      github.faults.clear();
      spoil();
      const browser = signInBrowser(app, open);
      const back = await throughGithub(browser);
      expect(back.headers.location).toBe('http://localhost:4000/api/auth/project/sign-in');
      expect((await browser.page()).body).toContain('role="alert"');
      const next = await browser.open(await browser.mail(newAddress()));
      expect(next.headers.location).toContain('/consent');
    }
  });

  test('accepts one callback, in the same browser, for this sign-in', async () => {
    const browser = signInBrowser(app, open);
    await browser.authorize();
    const to = await browser.get('/api/auth/project/github');
    const back = await github.visit(String(to.headers.location));
    const stranger = signInBrowser(app, open);
    await stranger.authorize();
    const withoutState = new URL(back);
    withoutState.searchParams.delete('state');
    const attempts: [SignInBrowser, string][] = [
      [stranger, back],
      [browser, withoutState.href],
      [browser, back.replace(/state=[\w-]{10}/, 'state=AAAAAAAAAA')],
    ];
    for (const [who, address] of attempts) {
      const answer = await who.get(address);
      expect([answer.statusCode, answer.headers.location], address).toEqual([400, undefined]);
    }
    expect((await browser.get(back)).headers.location).toContain('/consent');
    expect((await browser.get(back)).headers.location).toContain('/consent');
    app.clock.advance(31_000);
    expect((await browser.get(back)).statusCode).toBe(400);
  });

  test('cannot use a callback of an app sign-in for the service, nor the reverse', async () => {
    const browser = signInBrowser(app, open);
    await browser.authorize();
    const to = await browser.get('/api/auth/project/github');
    const back = await github.visit(String(to.headers.location));
    const other = await browser.get(back.replace('/callback/project', '/callback'));
    expect(other.statusCode).toBe(400);
    const ours = await browser.toGithub(github);
    expect((await browser.get(ours.replace('/callback', '/callback/project'))).statusCode).toBe(400);
    expect(browser.cookies.has('doorward_refresh')).toBe(false);
  });

  test('is refused for an app that has not enabled it', async () => {
    const mailOnly = await appInProject(app, { enabledProviders: ['email'] });
    const browser = signInBrowser(app, mailOnly);
    await browser.authorize();
    const to = await browser.get('/api/auth/project/github');
    expect([to.statusCode, to.json<{ code: string }>().code]).toEqual([404, 'PROVIDER_NOT_CONFIGURED']);
    const githubOnly = await appInProject(app, { enabledProviders: ['github'] });
    const other = signInBrowser(app, githubOnly);
    await other.authorize();
    const requested = await other.post('/api/auth/project/email/request', { email: newAddress() });
    expect(requested.statusCode).toBe(404);
  });
});

describe('a second factor', () => {
  interface Enrolled {
    readonly person: Person;
    readonly recoveryCodes: string[];
    /** An unused code. */
    readonly next: () => string;
  }
  async function enrol(): Promise<Enrolled> {
    const person = await app.person();
    const as = { token: person.token };
    const { factor, secret } = await app.must('createMfaFactor', {}, as);
    const code = codeShown(secret, app.clock.now());
    const { recoveryCodes } = await app.must('verifyMfaFactor', { id: factor.id, code }, as);
    const next = () => {
      app.clock.advance(30_000);
      return codeShown(secret, app.clock.now());
    };
    return { person, recoveryCodes: recoveryCodes ?? [], next };
  }
  const give = async (browser: SignInBrowser, fields: Record<string, string>) =>
    browser.post('/api/auth/project/second-factor', { form_token: await browser.formToken(), ...fields });
  const atFactor = '/api/auth/project/second-factor';

  test('is required before consent and cannot be skipped', async () => {
    const { person, next } = await enrol();
    const browser = signInBrowser(app, open);
    expect((await byMail(browser, person.email)).headers.location).toContain(atFactor);
    expect((await browser.answer('approve')).statusCode).toBe(400);
    expect((await browser.get('/api/auth/project/consent')).headers.location).toBe(atFactor);
    for (const wrong of ['000000', 'no code', '1']) {
      const answer = await give(browser, { code: wrong, recovery_code: '' });
      expect([answer.statusCode, answer.headers.location], wrong).toEqual([303, atFactor]);
      expect((await browser.page()).body, wrong).toContain('aria-invalid="true"');
    }
    const right = await give(browser, { code: next(), recovery_code: '' });
    expect(right.headers.location).toBe('http://localhost:4000/api/auth/project/consent');
    const row = await codeRow(await browser.answer('approve'));
    expect(row).toMatchObject({ userId: person.userId, acr: 'aal2', amr: ['mail', 'otp'] });
  });

  test('may be a recovery code, which works once', async () => {
    const { person, recoveryCodes } = await enrol();
    const recovery_code = recoveryCodes[0] ?? '';
    const browser = signInBrowser(app, open);
    await byMail(browser, person.email);
    await give(browser, { code: '', recovery_code });
    expect(await codeRow(await browser.answer('approve'))).toMatchObject({
      acr: 'aal2',
      amr: ['mail', 'rc'],
    });
    const again = signInBrowser(app, open);
    await byMail(again, person.email);
    expect((await give(again, { recovery_code })).headers.location).toBe(atFactor);
  });

  test('locks after five wrong codes, from any browser', async () => {
    const { person, next } = await enrol();
    const first = signInBrowser(app, open);
    await byMail(first, person.email);
    for (let i = 0; i < 3; i += 1) await give(first, { code: '000000' });
    const second = signInBrowser(app, open);
    await byMail(second, person.email);
    for (let i = 0; i < 2; i += 1) await give(second, { code: '000000' });
    expect((await give(second, { code: next() })).headers.location).toBe(atFactor);
    const token = (
      await app.must('login', {
        provider: 'email',
        providerId: person.email,
        providerData: { password: person.password },
      })
    ).accessToken;
    expect((await app.call('verifyMfa', { code: next() }, { token })).code).toBe('UNAUTHENTICATED');
  });

  test('answers JSON with an error', async () => {
    const { person, next } = await enrol();
    const browser = signInBrowser(app, open);
    await byMail(browser, person.email);
    const headers = {
      cookie: `doorward_flow=${browser.cookies.get('doorward_flow')}`,
      origin: 'http://localhost:4000',
    };
    const wrong = await app.raw('giveProjectSecondFactor', { code: '000000' }, { headers });
    expect([wrong.status, wrong.code]).toEqual([401, 'UNAUTHENTICATED']);
    const neither = await app.raw('giveProjectSecondFactor', {}, { headers });
    expect([neither.status, neither.details[0]?.path]).toEqual([400, 'code']);
    const right = await app.raw('giveProjectSecondFactor', { code: next() }, { headers });
    expect([right.status, withoutFlow(String(right.headers.location))]).toEqual([
      303,
      'http://localhost:4000/api/auth/project/consent',
    ]);
  });

  test('enabled after the consent page was shown is required', async () => {
    const person = await app.person();
    const browser = signInBrowser(app, open);
    await byMail(browser, person.email);
    const as = { token: person.token };
    const { factor, secret } = await app.must('createMfaFactor', {}, as);
    await app.must('verifyMfaFactor', { id: factor.id, code: codeShown(secret, app.clock.now()) }, as);
    const answer = await browser.answer('approve');
    expect([answer.statusCode, answer.headers.location]).toEqual([400, undefined]);
  });
});
