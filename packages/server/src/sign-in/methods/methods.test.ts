import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { codeShown } from '../../../test/support/sign-in/authenticator.ts';
import { unique, type Person } from '../../../test/support/app/client.ts';
import {
  appInProject,
  projectViewer,
  redirectParameters,
  signInBrowser,
  type AppInProject,
  type SignInBrowser,
} from '../../../test/support/sign-in/project-app.ts';
import { hashOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { projectCodes } from '../../schema/oauth/project-code.ts';
import { signInFlows } from '../../schema/sign-in/sign-in-flow.ts';
import { auditLog } from '../../schema/events/audit-log-entry.ts';
import { users } from '../../schema/people/user.ts';
import { withoutFlow } from '../../../test/support/app/visitor.ts';

/** Password, mailed code, sign-up and reset on the pages of a sign-in to an app. */
let app: TestApp;
/** Anyone may sign up, by mail or password. */
let open: AppInProject;
/** Takes passwords alone. */
let strict: AppInProject;
/** Admits only users of its project. */
let closed: AppInProject;

beforeAll(async () => {
  const limits = { SECURITY_RATE_LIMIT_MAIL_MAX: '20' };
  app = await startApp({ AUTH_REGISTRATION_MODE: 'immediate', ...limits });
  const signUp = { allowSignUp: true, signUpRoleId: projectViewer };
  open = await appInProject(app, { enabledProviders: ['email', 'password'], ...signUp });
  strict = await appInProject(app, { enabledProviders: ['password'], ...signUp });
  closed = await appInProject(app, { enabledProviders: ['password'] });
});
afterAll(() => app.close());

const newAddress = () => `visitor-${unique()}@example.test`;
const goodPassword = 'four green kettles sing';

const paths = {
  identifier: '/api/auth/flow/identifier',
  password: '/api/auth/flow/password',
  code: '/api/auth/flow/email/code',
  request: '/api/auth/project/email/request',
  signUp: '/api/auth/flow/sign-up',
  resetRequest: '/api/auth/flow/reset/request',
  reset: '/api/auth/flow/reset',
} as const;

const browserAt = async (to: AppInProject): Promise<SignInBrowser> => {
  const browser = signInBrowser(app, to);
  await browser.authorize({ prompt: 'login' });
  return browser;
};

type Form = Record<string, string>;
const send = (browser: SignInBrowser, to: keyof typeof paths, form: Form) => browser.post(paths[to], form);
const placeOf = ({ headers }: { headers: { location?: string | undefined } }) =>
  new URL(headers.location ?? '', 'http://localhost:4000').pathname.split('/').at(-1);

/** From the consent to the row of the code that the app gets. */
async function codeRow(browser: SignInBrowser) {
  const { code = '' } = redirectParameters(await browser.answer('approve'));
  const isIt = eq(projectCodes.hash, hashOneTimeToken(code));
  return (await app.database.pool.select().from(projectCodes).where(isIt))[0];
}
const userAt = async (address: string) =>
  (await app.database.pool.select().from(users).where(eq(users.email, address)))[0];
const canLogIn = async (address: string, password: string) =>
  (await app.call('login', { provider: 'email', providerId: address, providerData: { password } })).ok;
const wrongOf = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

/** A user without a verified address. */
const unverified = (): Promise<Person> => app.person({ verified: false });

describe('a password', () => {
  it('signs in, after the address was asked for', async () => {
    const person = await app.person();
    const browser = await browserAt(open);
    expect(placeOf(await send(browser, 'identifier', { email: person.email.toUpperCase() }))).toBe('sign-in');
    expect((await browser.page()).body).toContain(`value="${person.email}" autocomplete="username"`);
    const { email, password } = person;
    const next = await send(browser, 'password', {
      email,
      password,
      form_token: await browser.formToken(),
    });
    expect(placeOf(next)).toBe('consent');
    expect(await codeRow(browser)).toMatchObject({ userId: person.userId, amr: ['pwd'], acr: 'aal1' });
  });

  it('needs the second factor where there is one, before the consent', async () => {
    const person = await app.person();
    const as = { token: person.token };
    const { factor, secret } = await app.must('createMfaFactor', {}, as);
    await app.must('verifyMfaFactor', { id: factor.id, code: codeShown(secret, app.clock.now()) }, as);
    const secondFactor = (code: string) => browser.post('/api/auth/project/second-factor', { code });
    const browser = await browserAt(open);
    const next = await send(browser, 'password', { email: person.email, password: person.password });
    expect(placeOf(next)).toBe('second-factor');
    app.clock.advance(30_000);
    expect(placeOf(await secondFactor(codeShown(secret, app.clock.now())))).toBe('consent');
    expect(await codeRow(browser)).toMatchObject({ amr: ['pwd', 'otp'], acr: 'aal2' });
  });

  it('that is wrong, of nobody, or for an address without a password answers alike', async () => {
    const person = await app.person();
    const mailUser = newAddress();
    const joined = await browserAt(open);
    await joined.toConsent(mailUser);
    await joined.answer('approve');
    const answers = [];
    for (const email of [person.email, newAddress(), mailUser, 'no address']) {
      const browser = await browserAt(open);
      const answer = await send(browser, 'password', { email, password: 'a wrong password' });
      const page = (await browser.page()).body;
      expect(page).toMatch(/id="password-problem"[^>]*>Address or password is wrong/);
      answers.push([
        answer.statusCode,
        placeOf(answer),
        withoutFlow(page).replaceAll(/value="[^"]*"|<bdi>[^<]*/g, ''),
      ]);
      const json = await browser.post(
        paths.password,
        { email, password: 'x' },
        { accept: 'application/json' },
      );
      expect(json.statusCode).toBe(303);
    }
    for (const answer of answers) expect(answer).toEqual(answers[0]);
  });

  it('locks out after many wrong ones, like every other sign-in', async () => {
    const person = await app.person();
    const browser = await browserAt(open);
    const { email, password } = person;
    for (let i = 0; i < 10; i += 1) await send(browser, 'password', { email, password: 'wrong' });
    await send(browser, 'password', { email, password });
    expect((await browser.page()).body).toContain('Address or password is wrong');
    expect(await canLogIn(email, password)).toBe(false);
  });

  it('of an unverified address asks for a mailed code first, which verifies it', async () => {
    const person = await unverified();
    const browser = await browserAt(open);
    const next = await send(browser, 'password', { email: person.email, password: person.password });
    expect(placeOf(next)).toBe('sign-in');
    expect((await browser.page()).body).toContain('Check your e-mail');
    const entered = await send(browser, 'code', { code: await app.mailedCode(person.email) });
    expect(placeOf(entered)).toBe('consent');
    expect(await userAt(person.email)).toMatchObject({ id: person.userId, emailVerified: true });
    expect(await codeRow(browser)).toMatchObject({ userId: person.userId, amr: ['pwd'] });
  });

  it('of an address that another person proved meanwhile signs in nobody', async () => {
    const squatter = await unverified();
    const browser = await browserAt(open);
    await send(browser, 'password', { email: squatter.email, password: squatter.password });
    const code = await app.mailedCode(squatter.email);
    const owner = await browserAt(open);
    await owner.open(await owner.mail(squatter.email));
    expect(await codeRow(owner)).not.toMatchObject({ userId: squatter.userId });
    const late = await send(browser, 'code', { code });
    expect([late.statusCode, placeOf(late)]).not.toEqual([303, 'consent']);
  });

  it('is no way into an app that does not take passwords, nor past the users of a project', async () => {
    const person = await app.person();
    const { email, password } = person;
    const mailOnly = await appInProject(app, {});
    const refused = await send(await browserAt(mailOnly), 'password', { email, password });
    expect(refused.statusCode).toBe(404);
    const stranger = await send(await browserAt(closed), 'password', { email, password });
    expect(redirectParameters(stranger)).toMatchObject({ error: 'access_denied' });
  });

  it('that changes before the consent begins the sign-in again', async () => {
    const person = await app.person();
    const browser = await browserAt(open);
    await send(browser, 'password', { email: person.email, password: person.password });
    const { token } = person;
    const changed = { currentPassword: person.password, newPassword: goodPassword };
    await app.must('changeMyPassword', changed, { token });
    expect((await browser.page()).statusCode).toBe(400);
  });

  it(
    'counts in other apps of the project that take passwords, and in no other',
    { tags: 'independent' },
    async () => {
      const person = await app.person();
      const siblings = await Promise.all(
        (['password', 'email'] as const).map((provider) =>
          app.must(
            'createProjectApp',
            {
              scope: open.scope,
              name: 'Sibling',
              redirectUris: ['https://sibling.example/callback'],
              enabledProviders: [provider],
              firstParty: true,
            },
            { token: open.owner.token },
          ),
        ),
      );
      const browser = await browserAt(open);
      await send(browser, 'password', { email: person.email, password: person.password });
      await browser.answer('approve');
      const results = [];
      for (const { clientId } of siblings) {
        const to = { clientId, redirectUri: 'https://sibling.example/callback' };
        const answer = await signInBrowser(app, to, browser).authorize({ prompt: 'none' });
        results.push(Object.keys(redirectParameters(answer))[0]);
      }
      expect(results).toEqual(['code', 'error']);
    },
  );
});

describe('a mailed code', () => {
  it('signs in like the link of the mail, and both end with either', async () => {
    const address = newAddress();
    const browser = await browserAt(open);
    const token = await browser.mail(address);
    const code = await app.mailedCode(address);
    const [first, second] = [code.slice(0, 3), code.slice(3)];
    const next = await send(browser, 'code', { code: ` ${first} ${second} ` });
    expect(placeOf(next)).toBe('consent');
    expect((await browser.open(token)).statusCode).toBe(400);
    expect((await send(browser, 'code', { code })).statusCode).toBe(400);
    expect(await codeRow(browser)).toMatchObject({ amr: ['mail'] });
  });

  it('is shown by the link in another browser, where nothing changes', async () => {
    const address = newAddress();
    const [mine, other] = [await browserAt(open), await browserAt(open)];
    const token = await mine.mail(address);
    const code = await app.mailedCode(address);
    const page = await other.get(`/api/auth/project/email?token=${token}`, { accept: 'text/html' });
    expect(page.body).toContain(`${code.slice(0, 3)} ${code.slice(3)}`);
    expect(page.body).not.toContain('<form');
    // The other browser has a flow of its own, in which this code means nothing.
    await send(other, 'code', { code });
    expect((await other.page()).body).toContain('action="/api/auth/flow/identifier"');
    expect(placeOf(await send(mine, 'code', { code }))).toBe('consent');
  });

  it('ends with the fifth wrong entry, and its link too, for known and unknown addresses alike', async () => {
    const person = await app.person();
    const outcomes = [];
    for (const address of [person.email, newAddress()]) {
      const browser = await browserAt(open);
      const token = await browser.mail(address);
      const code = await app.mailedCode(address);
      const seen = [];
      for (let i = 0; i < 5; i += 1) {
        const answer = await send(browser, 'code', { code: wrongOf(code) });
        const { body } = await browser.page();
        seen.push([answer.statusCode, placeOf(answer), /id="code-problem"[^>]*>([^<]*)/.exec(body)?.[1]]);
      }
      expect((await send(browser, 'code', { code })).statusCode).toBe(303);
      expect((await browser.page()).body).toContain('no longer works');
      expect((await browser.open(token)).statusCode).toBe(400);
      outcomes.push(seen);
    }
    expect(outcomes[0]).toEqual(outcomes[1]);
    expect(outcomes[0]?.map(([, , text]) => String(text).slice(0, 21))).toEqual([
      ...Array.from({ length: 4 }, () => 'This code is wrong. C'),
      'This code no longer w',
    ]);
    const failed = (await app.database.pool.select().from(auditLog)).filter(
      ({ operation, target }) =>
        operation === 'enterMailedCode' && (target as { id?: string } | null)?.id === person.userId,
    );
    expect(failed).toHaveLength(5);
  });

  it('allows five of twenty guesses at the same time', { tags: 'race' }, async () => {
    const address = newAddress();
    const browser = await browserAt(open);
    await browser.mail(address);
    const code = await app.mailedCode(address);
    await Promise.all(Array.from({ length: 20 }, () => send(browser, 'code', { code: wrongOf(code) })));
    await send(browser, 'code', { code });
    expect((await browser.page()).body).toContain('no longer works');
  });

  it('counts wrong entries while other forms of the flow are sent', { tags: 'race' }, async () => {
    const address = newAddress();
    const browser = await browserAt(open);
    await browser.mail(address);
    const code = await app.mailedCode(address);
    for (let i = 0; i < 5; i += 1) {
      const guess = send(browser, 'code', { code: wrongOf(code) });
      const others = Array.from({ length: 12 }).map(() => send(browser, 'identifier', { email: address }));
      await Promise.all([guess, ...others]);
    }
    expect(placeOf(await send(browser, 'code', { code }))).toBe('sign-in');
  });

  it('ends with a request for another address, whether that has a user or not', async () => {
    const tight = await startApp({ SECURITY_RATE_LIMIT_AUTH_MAX: '5' });
    try {
      const to = await appInProject(tight, { allowSignUp: true, signUpRoleId: projectViewer });
      const [owner, other] = [await tight.person(), await tight.person()];
      const spent = signInBrowser(tight, to);
      await spent.authorize();
      const before = tight.mails.length;
      for (let i = 0; i < 8; i += 1) {
        await spent.post(paths.request, { email: newAddress() });
        tight.clock.advance(1);
      }
      await tight.app.flushMails();
      // No more mails go to addresses without a user from this network.
      expect(tight.mails.length - before).toBeLessThan(8);
      const outcomes = [];
      for (const address of [other.email, newAddress()]) {
        const browser = signInBrowser(tight, to);
        await browser.authorize();
        const token = await browser.mail(owner.email);
        await browser.post(paths.request, { email: address });
        const page = await browser.get(`/api/auth/project/email?token=${token}`, { accept: 'text/html' });
        outcomes.push([page.body.includes('no longer valid'), (await browser.open(token)).statusCode]);
      }
      expect(outcomes).toEqual([
        [true, 400],
        [true, 400],
      ]);
    } finally {
      await tight.close();
    }
  });

  it('ends after ten minutes, and with a newer mail', async () => {
    const address = newAddress();
    const browser = await browserAt(open);
    await browser.mail(address);
    const older = await app.mailedCode(address);
    await browser.mail(address);
    const newer = await app.mailedCode(address);
    if (older !== newer) {
      await send(browser, 'code', { code: older });
      expect((await browser.page()).body).toContain('This code is wrong');
    }
    app.clock.advance(9 * 60_000);
    await browser.page();
    app.clock.advance(2 * 60_000);
    expect((await send(browser, 'code', { code: newer })).statusCode).toBe(400);
  });

  it('what cannot be a code is no guess', async () => {
    const address = newAddress();
    const browser = await browserAt(open);
    await browser.mail(address);
    for (let i = 0; i < 6; i += 1) await send(browser, 'code', { code: '12345' });
    expect((await browser.page()).body).toContain('This code is wrong');
    expect(placeOf(await send(browser, 'code', { code: await app.mailedCode(address) }))).toBe('consent');
  });

  it('is stored sealed, and in no log', async () => {
    const address = newAddress();
    const browser = await browserAt(open);
    await browser.mail(address);
    const code = await app.mailedCode(address);
    const stored = JSON.stringify(await app.database.pool.select().from(signInFlows));
    expect(stored).not.toContain(`"code":"${code}"`);
    // Six digits can be a part of an id.
    expect(app.logs.join('')).not.toMatch(new RegExp(`\\b${code}\\b`));
  });

  it('answers JSON with its error', async () => {
    const browser = await browserAt(open);
    const cookie = `doorward_flow=${browser.cookies.get('doorward_flow')}`;
    const headers = { cookie, origin: 'http://localhost:4000' };
    const wrong = await app.raw('enterMailedCode', { code: '000000' }, { headers });
    expect([wrong.status, wrong.code]).toEqual([401, 'UNAUTHENTICATED']);
    const foreign = { cookie, origin: 'https://evil.example' };
    expect((await app.raw('enterMailedCode', { code: '000000' }, { headers: foreign })).code).toBe(
      'ORIGIN_NOT_ALLOWED',
    );
    expect((await app.raw('enterMailedCode', { code: '000000' })).code).toBe('INVALID_TOKEN');
  });
});

describe('a sign-up', () => {
  const form = (email: string, more: Form = {}) => ({
    email,
    name: 'Grace Hopper',
    password: goodPassword,
    ...more,
  });

  it('creates the user with name and password, after the code and the consent', async () => {
    const email = newAddress();
    const browser = await browserAt(open);
    expect(placeOf(await send(browser, 'signUp', form(email, { locale: 'de' })))).toBe('sign-in');
    expect(await userAt(email)).toBeUndefined();
    expect(placeOf(await send(browser, 'code', { code: await app.mailedCode(email) }))).toBe('consent');
    expect((await browser.page()).body).toContain('Grace Hopper');
    expect(await userAt(email)).toBeUndefined();
    const row = await codeRow(browser);
    expect(await userAt(email)).toMatchObject({
      id: row?.userId,
      name: 'Grace Hopper',
      locale: 'de',
      emailVerified: true,
    });
    expect(await canLogIn(email, goodPassword)).toBe(true);
  });

  it('by its link as well, and without a password where mail is offered', async () => {
    const email = newAddress();
    const browser = await browserAt(open);
    await send(browser, 'signUp', form(email, { password: '' }));
    await browser.open(await app.mailedToken(email));
    expect(await codeRow(browser)).toBeDefined();
    expect(await userAt(email)).toMatchObject({ name: 'Grace Hopper' });
    expect(await canLogIn(email, goodPassword)).toBe(false);
  });

  it.each([
    ['too short', 'short', 'Use at least 12 characters'],
    ['common', 'password1234', 'This password is too common'],
    ['with the name', 'grace hopper 1906', 'contain'],
  ])('with a password %s is refused at its field, and keeps the rest', async (_, password, problem) => {
    const email = newAddress();
    const browser = await browserAt(open);
    const answer = await send(browser, 'signUp', form(email, { password }));
    expect(answer.headers.location).toBe('/api/auth/project/sign-in?form=sign-up');
    const { body } = await browser.page();
    expect(body).toMatch(new RegExp(`id="password-problem"[^>]*>[^<]*${problem}`));
    expect(body).toContain(`value="${email}"`);
    expect(body).not.toContain(password);
    await app.app.flushMails();
    expect(app.mails.some(({ to }) => to === email)).toBe(false);
  });

  it('of an existing user changes nothing of them, and tells nobody else', async () => {
    const person = await app.person({ name: 'Ada' });
    const browser = await browserAt(open);
    await send(browser, 'signUp', form(person.email));
    const shown = withoutFlow((await browser.page()).body).replaceAll(person.email, '');
    const other = await browserAt(open);
    const address = newAddress();
    await send(other, 'signUp', form(address));
    const token = /value="[\w-]{43}"/g;
    expect(
      withoutFlow((await other.page()).body)
        .replaceAll(address, '')
        .replaceAll(token, ''),
    ).toBe(shown.replaceAll(token, ''));
    await send(browser, 'code', { code: await app.mailedCode(person.email) });
    expect(await codeRow(browser)).toMatchObject({ userId: person.userId });
    expect(await userAt(person.email)).toMatchObject({ name: 'Ada' });
    expect(await canLogIn(person.email, goodPassword)).toBe(false);
  });

  it('of an existing user asks for the password where mail signs in nobody', async () => {
    const person = await app.person();
    const browser = await browserAt(strict);
    await send(browser, 'signUp', form(person.email));
    const next = await send(browser, 'code', { code: await app.mailedCode(person.email) });
    expect(placeOf(next)).toBe('sign-in');
    const { body } = await browser.page();
    expect(body).toContain('You already have an account with this address');
    expect(body).toContain('autocomplete="current-password"');
    const signedIn = await send(browser, 'password', { email: person.email, password: person.password });
    expect(placeOf(signedIn)).toBe('consent');
  });

  it('needs a password where there is no other way, and an app that allows it', async () => {
    const browser = await browserAt(strict);
    await send(browser, 'signUp', form(newAddress(), { password: '' }));
    expect((await browser.page()).body).toContain('id="password-problem"');
    expect((await send(await browserAt(closed), 'signUp', form(newAddress()))).statusCode).toBe(404);
  });
});

describe('a new password', () => {
  const askFor = async (address: string, to = open) => {
    const browser = await browserAt(to);
    expect(placeOf(await send(browser, 'resetRequest', { email: address }))).toBe('sign-in');
    expect((await browser.page()).body).toContain('name="newPassword"');
    return browser;
  };

  it('is chosen with the code, ends all sessions, and signs in', async () => {
    const person = await app.person();
    const browser = await askFor(person.email);
    const code = await app.mailedCode(person.email);
    const done = await send(browser, 'reset', { code, newPassword: goodPassword });
    expect(placeOf(done)).toBe('sign-in');
    expect((await browser.page()).body).toContain('Your password has been changed');
    expect((await app.call('me', {}, { token: person.token })).code).toBe('UNAUTHENTICATED');
    const next = await send(browser, 'password', { email: person.email, password: goodPassword });
    expect(placeOf(next)).toBe('consent');
    expect(await codeRow(browser)).toMatchObject({ userId: person.userId });
  });

  it('is chosen by the link in the same browser; in another it shows the code', async () => {
    const person = await app.person();
    const browser = await askFor(person.email);
    const token = await app.mailedToken(person.email);
    const link = `/api/auth/project/email?token=${token}`;
    const page = await browser.get(link, { accept: 'text/html' });
    const [, formToken = ''] = /name="form_token" value="([\w-]+)"/.exec(page.body) ?? [];
    const [, code = ''] = /name="code" value="(\d{6})"/.exec(page.body) ?? [];
    const elsewhere = await (await browserAt(open)).get(link, { accept: 'text/html' });
    expect(elsewhere.body).toContain('where you started');
    expect((await browser.open(token)).statusCode).toBe(400);
    await send(browser, 'reset', { form_token: formToken, code, newPassword: goodPassword });
    expect(await canLogIn(person.email, goodPassword)).toBe(true);
  });

  it('that is weak is refused at its field, and the code works again', async () => {
    const person = await app.person();
    const browser = await askFor(person.email);
    const code = await app.mailedCode(person.email);
    await send(browser, 'reset', { code, newPassword: 'short' });
    expect((await browser.page()).body).toMatch(/id="newPassword-problem"[^>]*>Use at least 12 characters/);
    await send(browser, 'reset', { code, newPassword: goodPassword });
    expect(await canLogIn(person.email, goodPassword)).toBe(true);
  });

  it('needs the right code, even a weak one', async () => {
    const person = await app.person({ name: 'Katherine' });
    const browser = await askFor(person.email);
    const code = await app.mailedCode(person.email);
    await send(browser, 'reset', { code: wrongOf(code), newPassword: 'Katherine Katherine' });
    const { body } = await browser.page();
    expect(body).toContain('This code is wrong');
    expect(body).not.toContain('id="newPassword-problem"');
    expect(await canLogIn(person.email, person.password)).toBe(true);
  });

  it('is possible from a network that is locked out, and ends that', async () => {
    const person = await app.person();
    for (let i = 0; i < 10; i += 1) await canLogIn(person.email, 'a wrong password');
    expect(await canLogIn(person.email, person.password)).toBe(false);
    const browser = await askFor(person.email);
    const code = await app.mailedCode(person.email);
    await send(browser, 'reset', { code, newPassword: goodPassword });
    expect(await canLogIn(person.email, goodPassword)).toBe(true);
  });

  it('of an address without a user leads to the sign-up, once the address is proved', async () => {
    const address = newAddress();
    const browser = await askFor(address);
    await send(browser, 'reset', { code: await app.mailedCode(address), newPassword: goodPassword });
    const { body } = await browser.page();
    expect(body).toContain('There is no account with this address');
    expect(body).toContain('action="/api/auth/flow/sign-up"');
    const without = await askFor(address, closed);
    await send(without, 'reset', { code: await app.mailedCode(address), newPassword: goodPassword });
    expect((await without.page()).body).toContain('There is no account with this address');
    expect(await userAt(address)).toBeUndefined();
  });

  it('never goes to a user who has not verified the address', async () => {
    const squatter = await unverified();
    const browser = await askFor(squatter.email);
    await send(browser, 'reset', {
      code: await app.mailedCode(squatter.email),
      newPassword: 'six other words here',
    });
    expect((await browser.page()).body).toContain('There is no account');
    expect(await canLogIn(squatter.email, 'six other words here')).toBe(false);
  });

  it('and a sign-in do not take the codes of each other', async () => {
    const person = await app.person();
    const browser = await askFor(person.email);
    const code = await app.mailedCode(person.email);
    await send(browser, 'code', { code });
    expect((await browser.page()).body).toContain('no longer works');
    const other = await browserAt(open);
    await other.mail(person.email);
    const signIn = await app.mailedCode(person.email);
    await send(other, 'reset', { code: signIn, newPassword: goodPassword });
    expect(await canLogIn(person.email, goodPassword)).toBe(false);
  });

  it.each(['disabled', 'deleted'] as const)('is not for a %s user', async (state) => {
    const person = await app.person();
    const change = { disabled: { status: 'disabled' }, deleted: { deletedAt: app.clock.now() } } as const;
    await app.owner.update(users).set(change[state]).where(eq(users.id, person.userId));
    const browser = await askFor(person.email);
    const answer = await send(browser, 'reset', {
      code: await app.mailedCode(person.email),
      newPassword: goodPassword,
    });
    expect(answer.statusCode).toBe(303);
    expect((await browser.page()).body).toContain('There is no account');
  });
});

it('no form takes a token of another page, or works without one of this browser', async () => {
  const browser = await browserAt(open);
  const other = await browserAt(open);
  const foreign = await other.formToken();
  const email = newAddress();
  const forms: Partial<Record<keyof typeof paths, Form>> = {
    identifier: { email },
    password: { email, password: 'x' },
    code: { code: '000000' },
    request: { email },
    signUp: { email, name: 'N', password: goodPassword },
    resetRequest: { email },
    reset: { code: '000000', newPassword: goodPassword },
  };
  for (const [name, form] of Object.entries(forms) as [keyof typeof paths, Form][]) {
    const answer = await send(browser, name, { ...form, form_token: foreign });
    expect([name, answer.statusCode]).toEqual([name, 400]);
    const evil = await browser.post(paths[name], form, { origin: 'https://evil.example' });
    expect([name, evil.statusCode]).toEqual([name, 403]);
    const without = await signInBrowser(app, open).post(paths[name], form);
    expect([name, without.statusCode]).toEqual([name, 400]);
  }
});
