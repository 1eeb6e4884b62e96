import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { codeShown } from '../../../test/support/sign-in/authenticator.ts';
import { unique, type Person } from '../../../test/support/app/client.ts';
import { PasskeyDevice, type Lies } from '../../../test/support/sign-in/passkey-device.ts';
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
import { passkeyChallenges } from '../../schema/sign-in/passkey-challenge.ts';
import { factorResets } from '../../schema/sign-in/mfa-factor.ts';
import { auditLog } from '../../schema/events/audit-log-entry.ts';
import { users } from '../../schema/people/user.ts';
import { withoutFlow } from '../../../test/support/app/visitor.ts';

/** Passkeys on the pages of a sign-in to an app: instead of an address, and as the second factor. */
const MINUTE = 60_000;
let app: TestApp;
/** Anyone may sign up, in every way. */
let open: AppInProject;
/** Takes passwords alone. */
let strict: AppInProject;
/** Takes passkeys alone, and admits only users of its project. */
let closed: AppInProject;

beforeAll(async () => {
  app = await startApp({ AUTH_REGISTRATION_MODE: 'immediate' });
  const signUp = { allowSignUp: true, signUpRoleId: projectViewer };
  open = await appInProject(app, { enabledProviders: ['email', 'password', 'passkey'], ...signUp });
  strict = await appInProject(app, { enabledProviders: ['password'], ...signUp });
  closed = await appInProject(app, { enabledProviders: ['passkey'] });
});
afterAll(() => app.close());

const paths = {
  passkey: '/api/auth/flow/passkey',
  password: '/api/auth/flow/password',
  factor: '/api/auth/flow/second-factor',
  code: '/api/auth/flow/email/code',
} as const;
const browserAt = async (to: AppInProject): Promise<SignInBrowser> => {
  const browser = signInBrowser(app, to);
  await browser.authorize({ prompt: 'login' });
  return browser;
};
const pageAfter = ({ headers }: { headers: { location?: string | undefined } }) =>
  new URL(headers.location ?? '', 'http://localhost:4000').pathname.split('/').at(-1);

async function addPasskey(token: string, device = new PasskeyDevice()): Promise<PasskeyDevice> {
  const { challengeId, publicKey } = await app.must('createPasskeyOptions', {}, { token });
  await app.must('createPasskey', { challengeId, credential: device.create(publicKey) }, { token });
  return device;
}
async function withPasskey(person?: Person) {
  const owner = person ?? (await app.person());
  return { person: owner, device: await addPasskey(owner.token) };
}

/** An authenticator app; returns its next code. */
async function enrol(token: string): Promise<() => string> {
  const { factor, secret } = await app.must('createMfaFactor', {}, { token });
  const code = () => codeShown(secret, app.clock.now());
  await app.must('verifyMfaFactor', { id: factor.id, code: code() }, { token });
  return () => (app.clock.advance(30_000), code());
}

const headersOf = ({ cookies }: SignInBrowser, origin = 'http://localhost:4000') => ({
  cookie: `doorward_flow=${cookies.get('doorward_flow')}`,
  origin,
});

interface Options {
  readonly challengeId: string;
  readonly publicKey: { readonly challenge: string };
}
async function optionsIn(browser: SignInBrowser): Promise<Options> {
  const input = { form_token: await browser.formToken() };
  const answer = await app.raw('flowPasskeyOptions', input, { headers: headersOf(browser) });
  expect(answer.status, answer.body).toBe(200);
  return answer.data as Options;
}
async function answerIn(browser: SignInBrowser, device: PasskeyDevice, lies: Lies = {}) {
  const { challengeId, publicKey } = await optionsIn(browser);
  return { challengeId, credential: device.get(publicKey, lies) };
}
type Sent = Awaited<ReturnType<typeof answerIn>>;
const send = (browser: SignInBrowser, { challengeId, credential }: Sent) =>
  browser.post(paths.passkey, { challengeId, credential: JSON.stringify(credential) });
const give = (browser: SignInBrowser, sent: Sent) =>
  browser.post(paths.factor, { passkey: JSON.stringify(sent) });
const signIn = async (browser: SignInBrowser, device: PasskeyDevice, lies: Lies = {}) =>
  send(browser, await answerIn(browser, device, lies));

async function codeRow(browser: SignInBrowser) {
  const { code = '' } = redirectParameters(await browser.answer('approve'));
  const isIt = eq(projectCodes.hash, hashOneTimeToken(code));
  return (await app.database.pool.select().from(projectCodes).where(isIt))[0];
}
const refusalsOf = async ({ userId }: Person, name: string) =>
  (await app.database.pool.select().from(auditLog)).filter(
    ({ operation, outcome, target }) =>
      operation === name && outcome === 'failed' && (target as { id?: string } | null)?.id === userId,
  ).length;
const refused = 'This passkey was not accepted';

describe('a passkey', () => {
  it('signs in to an app without an address, as two factors', async () => {
    const { person, device } = await withPasskey();
    await enrol(person.token);
    const browser = await browserAt(open);
    expect(pageAfter(await signIn(browser, device))).toBe('consent');
    const row = await codeRow(browser);
    expect(row).toMatchObject({ userId: person.userId, acr: 'aal2', amr: ['pop', 'mfa'] });
  });

  it('that did not verify its user needs the second factor, where there is one', async () => {
    const { person, device } = await withPasskey();
    const next = await enrol(person.token);
    const browser = await browserAt(open);
    expect(pageAfter(await signIn(browser, device, { userVerified: false }))).toBe('second-factor');
    const again = await answerIn(browser, device, { userVerified: false });
    expect(pageAfter(await give(browser, again))).toBe('second-factor');
    expect((await browser.page()).body).toContain(refused);
    expect(pageAfter(await browser.post(paths.factor, { code: next() }))).toBe('consent');
    expect(await codeRow(browser)).toMatchObject({ acr: 'aal2', amr: ['pop', 'otp'] });
    const alone = await withPasskey();
    const other = await browserAt(open);
    expect(pageAfter(await signIn(other, alone.device, { userVerified: false }))).toBe('consent');
    expect(await codeRow(other)).toMatchObject({ acr: 'aal1', amr: ['pop'] });
  });

  it('proves an unverified address by a mailed code first, as a password does', async () => {
    const { person, device } = await withPasskey(await app.person({ verified: false }));
    const browser = await browserAt(open);
    expect(pageAfter(await signIn(browser, device))).toBe('sign-in');
    expect((await browser.page()).body).toContain('Check your e-mail');
    const code = await app.mailedCode(person.email);
    expect(pageAfter(await browser.post(paths.code, { code }))).toBe('consent');
    expect(await codeRow(browser)).toMatchObject({ userId: person.userId, amr: ['pop', 'mfa'] });
    const [user] = await app.database.pool.select().from(users).where(eq(users.id, person.userId));
    expect(user?.emailVerified).toBe(true);
  });

  it('serves the other apps of the project that take passkeys, and no others', async () => {
    const { device } = await withPasskey();
    const as = { token: open.owner.token };
    const sibling = async (enabledProviders: ('passkey' | 'email')[]): Promise<AppInProject> => {
      const redirectUri = 'https://sibling.example/callback';
      const fields = { scope: open.scope, name: 'Sibling', redirectUris: [redirectUri] };
      const made = await app.must('createProjectApp', { ...fields, firstParty: true, enabledProviders }, as);
      return { ...open, id: made.id, clientId: made.clientId, redirectUri };
    };
    const apps = { passkey: await sibling(['passkey']), email: await sibling(['email']) };
    const browser = await browserAt(open);
    await signIn(browser, device);
    await browser.answer('approve');
    const next = signInBrowser(app, apps.passkey, browser);
    expect(redirectParameters(await next.authorize())).toHaveProperty('code');
    expect(pageAfter(await signInBrowser(app, apps.email, browser).authorize())).toBe('sign-in');
  });

  it('stops the reset of a second factor: its user has not lost it', async () => {
    const { person, device } = await withPasskey();
    const now = app.clock.now();
    await app.database.pool.insert(factorResets).values({
      userId: person.userId,
      requestedBy: person.userId,
      reason: 'lost',
      passkeys: true,
      requestedAt: now,
      effectiveAt: new Date(now.getTime() + MINUTE),
    } as never);
    await signIn(await browserAt(open), device);
    const left = await app.database.pool.select().from(factorResets);
    expect(left.filter(({ userId }) => userId === person.userId)).toEqual([]);
  });
});

describe('a passkey as the second factor', () => {
  async function atFactor() {
    const { person, device } = await withPasskey();
    const next = await enrol(person.token);
    const browser = await browserAt(open);
    const { email, password } = person;
    expect(pageAfter(await browser.post(paths.password, { email, password }))).toBe('second-factor');
    return { person, device, next, browser };
  }

  it('completes a sign-in by password, instead of a code', async () => {
    const { person, device, browser } = await atFactor();
    expect((await browser.page()).body).toContain('Confirm with a passkey');
    const lies = { userVerified: false };
    expect(pageAfter(await give(browser, await answerIn(browser, device, lies)))).toBe('consent');
    const row = await codeRow(browser);
    expect(row).toMatchObject({ userId: person.userId, acr: 'aal2', amr: ['pwd', 'pop', 'mfa'] });
  });

  it('counts as a wrong code if it does not fit, and as none if its challenge is of another sign-in', async () => {
    const { person, device, next, browser } = await atFactor();
    const stranger = await withPasskey();
    const answers = [
      await answerIn(browser, stranger.device),
      await answerIn(browser, device, { origin: 'https://evil.example' }),
      await answerIn(browser, device, { rpId: 'evil.example' }),
      await answerIn(browser, device, { userPresent: false }),
      await answerIn(await browserAt(open), device),
    ];
    for (const answer of answers) expect(pageAfter(await give(browser, answer))).toBe('second-factor');
    expect(await refusalsOf(person, 'giveFlowSecondFactor')).toBe(5);
    expect(pageAfter(await give(browser, await answerIn(browser, device)))).toBe('consent');
    const again = await browserAt(open);
    await again.post(paths.password, { email: person.email, password: person.password });
    // The fifth of this user.
    await give(again, await answerIn(again, stranger.device));
    expect(pageAfter(await give(again, await answerIn(again, device)))).toBe('second-factor');
    expect(pageAfter(await again.post(paths.factor, { code: next() }))).toBe('second-factor');
  });

  it('is not offered to who has none, and the first step is not repeated by it', async () => {
    const person = await app.person();
    await enrol(person.token);
    const browser = await browserAt(open);
    await browser.post(paths.password, { email: person.email, password: person.password });
    expect((await browser.page()).body).not.toContain('passkey');
    const { device } = await withPasskey();
    const answer = await send(browser, await answerIn(browser, device));
    expect([answer.statusCode, answer.headers.location]).toEqual([400, undefined]);
  });

  it('lost: a recovery code is the way back', async () => {
    const person = await app.person();
    const { challengeId, publicKey } = await app.must('createPasskeyOptions', {}, { token: person.token });
    const credential = new PasskeyDevice().create(publicKey);
    const made = await app.must('createPasskey', { challengeId, credential }, { token: person.token });
    await enrol(person.token);
    const browser = await browserAt(open);
    await browser.post(paths.password, { email: person.email, password: person.password });
    const recoveryCode = made.recoveryCodes?.[0] ?? '';
    expect(pageAfter(await browser.post(paths.factor, { recoveryCode, code: '' }))).toBe('consent');
    expect(await codeRow(browser)).toMatchObject({ acr: 'aal2', amr: ['pwd', 'rc'] });
  });
});

describe('refused at the first step, all alike,', () => {
  async function isRefused(browser: SignInBrowser, sent: Sent): Promise<void> {
    const answer = await send(browser, sent);
    expect(pageAfter(answer)).toBe('sign-in');
    expect((await browser.page()).body).toContain(refused);
  }

  it('is an answer to a challenge of another sign-in, purpose or time', async () => {
    const { person, device } = await withPasskey();
    const browser = await browserAt(open);
    const other = await browserAt(open);
    await isRefused(browser, await answerIn(other, device));
    const signInOptions = await app.must('passkeyOptions', {});
    const credential = device.get(signInOptions.publicKey);
    await isRefused(browser, { challengeId: signInOptions.challengeId, credential });
    const { token } = person;
    const registration = await app.must('createPasskeyOptions', {}, { token });
    const forged = device.get({ challenge: registration.publicKey.challenge });
    await isRefused(browser, { challengeId: registration.challengeId, credential: forged });
    const late = await answerIn(browser, device);
    app.clock.advance(5 * MINUTE + 1);
    await isRefused(browser, late);
    expect(pageAfter(await signIn(browser, device))).toBe('consent');
  });

  it('is the answer of a sign-in at the operation of the API, the other way round', async () => {
    const { device } = await withPasskey();
    const sent = await answerIn(await browserAt(open), device);
    expect((await app.call('signInWithPasskey', sent)).code).toBe('UNAUTHENTICATED');
  });

  it('is an answer that was used before, right or wrong', async () => {
    const { device } = await withPasskey();
    const browser = await browserAt(open);
    const wrong = await answerIn(browser, device, { origin: 'https://evil.example' });
    await isRefused(browser, wrong);
    const { challengeId } = wrong;
    const rows = await app.database.pool
      .select()
      .from(passkeyChallenges)
      .where(eq(passkeyChallenges.id, challengeId));
    expect(rows).toEqual([]);
    const right = await answerIn(browser, device);
    expect(pageAfter(await send(browser, right))).toBe('consent');
    expect((await send(browser, right)).statusCode).toBe(400);
  });

  it.each<[string, Lies]>([
    ['another origin', { origin: 'https://evil.example' }],
    ['another domain', { rpId: 'evil.example' }],
    ['a frame of another site', { crossOrigin: true }],
    ['nobody at the device', { userPresent: false }],
    ['a registration', { type: 'webauthn.create' }],
    ['another user', { userHandle: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }],
    ['no user', { userHandle: undefined }],
    ['another challenge', { challenge: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }],
  ])('is an answer of %s', async (_, lies) => {
    const { person, device } = await withPasskey();
    const browser = await browserAt(open);
    await isRefused(browser, await answerIn(browser, device, lies));
    expect(await refusalsOf(person, 'giveFlowPasskey')).toBe(1);
  });

  it('is a copy of a passkey, whose counter fell', async () => {
    const { device } = await withPasskey();
    await signIn(await browserAt(open), device);
    const browser = await browserAt(open);
    await isRefused(browser, await answerIn(browser, device, { counter: 1 }));
  });

  it('is a passkey of nobody, of a disabled user, or of one who is locked out', async () => {
    const nobody = new PasskeyDevice();
    nobody.create({ challenge: 'x', user: { id: 'AAAA' } });
    const browser = await browserAt(open);
    await isRefused(browser, await answerIn(browser, nobody));
    const disabled = await withPasskey();
    await app.database.pool
      .update(users)
      .set({ status: 'disabled' })
      .where(eq(users.id, disabled.person.userId));
    await isRefused(browser, await answerIn(browser, disabled.device));
    const locked = await withPasskey();
    const { email } = locked.person;
    for (let i = 0; i < 10; i += 1) await browser.post(paths.password, { email, password: 'wrong' });
    await isRefused(browser, await answerIn(browser, locked.device));
  });

  it('counts as a wrong secret of its user', async () => {
    const { person, device } = await withPasskey();
    const browser = await browserAt(open);
    for (let i = 0; i < 10; i += 1)
      await isRefused(browser, await answerIn(browser, device, { origin: 'https://evil.example' }));
    await isRefused(browser, await answerIn(browser, device));
    const { email: providerId, password } = person;
    const login = await app.call('login', { provider: 'email', providerId, providerData: { password } });
    expect(login.code).toBe('UNAUTHENTICATED');
  });
});

describe('no way around', () => {
  it('leads a user into an app that does not admit them', async () => {
    const { device } = await withPasskey();
    const browser = await browserAt(closed);
    const answer = await signIn(browser, device);
    expect(redirectParameters(answer)).toMatchObject({ error: 'access_denied' });
    const owner = await browserAt(closed);
    const own = await withPasskey(closed.owner);
    expect(pageAfter(await signIn(owner, own.device))).toBe('consent');
  });

  it('takes passkeys where the app does not', async () => {
    const { device } = await withPasskey();
    const browser = await browserAt(strict);
    const options = await app.raw('flowPasskeyOptions', {}, { headers: headersOf(browser) });
    expect([options.status, options.code]).toEqual([404, 'PROVIDER_NOT_CONFIGURED']);
    const elsewhere = await answerIn(await browserAt(open), device);
    expect((await send(browser, elsewhere)).statusCode).toBe(404);
    expect((await browser.page()).body).not.toContain('passkey');
  });

  it('skips the second factor by a password, of a user with a passkey and an authenticator app', async () => {
    const { person, device } = await withPasskey();
    await enrol(person.token);
    const browser = await browserAt(open);
    const { email, password } = person;
    expect(pageAfter(await browser.post(paths.password, { email, password }))).toBe('second-factor');
    expect((await browser.answer('approve')).statusCode).toBe(400);
    // The first step is over, so a passkey that starts another one is refused too.
    expect((await send(browser, await answerIn(browser, device))).statusCode).toBe(400);
  });

  it('works without the flow cookie, from another origin, or with the token of another page', async () => {
    const { device } = await withPasskey();
    const browser = await browserAt(open);
    const sent = await answerIn(browser, device);
    const own = headersOf(browser);
    const foreign = headersOf(browser, 'https://evil.example');
    for (const [name, input] of [
      ['flowPasskeyOptions', {}],
      ['giveFlowPasskey', sent],
    ] as const) {
      expect((await app.raw(name, input, { headers: foreign })).code, name).toBe('ORIGIN_NOT_ALLOWED');
      expect((await app.raw(name, input)).code, name).toBe('INVALID_TOKEN');
      const other = { ...input, form_token: 'x'.repeat(43) };
      expect((await app.raw(name, other, { headers: own })).code, name).toBe('INVALID_TOKEN');
    }
    const done = await app.raw('giveFlowPasskey', sent, { headers: own });
    expect([done.status, pageAfter({ headers: { location: String(done.headers.location) } })]).toEqual([
      303,
      'consent',
    ]);
  });

  it('answers JSON with its error, and a form without sense as a whole', async () => {
    const browser = await browserAt(open);
    const headers = headersOf(browser);
    const sent = await answerIn(browser, (await withPasskey()).device, { userPresent: false });
    const wrong = await app.raw('giveFlowPasskey', sent, { headers });
    expect([wrong.status, wrong.code]).toEqual([401, 'UNAUTHENTICATED']);
    for (const credential of ['', '{', 'null', '[]', '"x"', JSON.stringify({ id: 'x' })]) {
      const answer = await browser.post(paths.passkey, { challengeId: sent.challengeId, credential });
      expect([answer.statusCode, pageAfter(answer)], credential).toEqual([303, 'sign-in']);
    }
    const both = { code: '123456', passkey: sent };
    const twice = await app.raw('giveFlowSecondFactor', both, { headers });
    expect([twice.code, twice.details[0]?.path]).toEqual(['VALIDATION_ERROR', 'passkey']);
  });
});

describe('nothing tells whether an address has a passkey:', () => {
  it('neither the options nor a page differ between addresses', async () => {
    const { person } = await withPasskey();
    const pages = [];
    for (const email of [person.email, (await app.person()).email, `nobody-${unique()}@example.test`]) {
      const browser = await browserAt(open);
      await browser.post('/api/auth/flow/identifier', { email });
      const { publicKey } = await optionsIn(browser);
      const body = withoutFlow((await browser.page()).body).replaceAll(/value="[^"]*"|<bdi>[^<]*/g, '');
      pages.push([{ ...publicKey, challenge: '' }, body]);
    }
    expect(pages[0]?.[0]).toMatchObject({ allowCredentials: [], rpId: 'localhost' });
    for (const page of pages) expect(page).toEqual(pages[0]);
  });
});

describe('the pages', () => {
  it('offer passkeys where the browser has them, and the other ways without script', async () => {
    const browser = await browserAt(open);
    const first = await browser.page();
    expect(first.body).toMatch(/<div id="passkey" hidden>/);
    expect(first.body).toContain('autocomplete="username webauthn"');
    expect(first.body).toContain('<script src="/api/auth/project/sign-in.js"></script>');
    expect(first.headers['content-security-policy']).toContain("script-src 'self'; connect-src 'self'");
    expect((await browser.get('/api/auth/project/sign-in.js')).body).toContain('navigator.credentials.get');
    const alone = await (await browserAt(closed)).page();
    expect(alone.body).toContain('your browser does not support passkeys here');
    expect(alone.body).not.toContain('type="email"');
  });

  it('know no passkeys where the service has an IP address as its name', async () => {
    const numbered = await startApp({ APP_URL: 'http://127.0.0.1:4000' });
    try {
      const there = await appInProject(numbered, { enabledProviders: ['email', 'passkey'] });
      const browser = signInBrowser(numbered, there);
      await browser.authorize();
      expect((await browser.page()).body).not.toContain('passkey');
    } finally {
      await numbered.close();
    }
  });
});
