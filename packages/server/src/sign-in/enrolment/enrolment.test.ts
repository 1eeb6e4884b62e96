import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import type { Person } from '../../../test/support/app/client.ts';
import {
  appInProject,
  redirectParameters,
  signInBrowser,
  type AppInProject,
  type SignInBrowser,
} from '../../../test/support/sign-in/project-app.ts';
import { stepAt, totpCode } from '../../crypto/tokens/totp.ts';
import { auditLog } from '../../schema/events/audit-log-entry.ts';
import { mfaFactors } from '../../schema/sign-in/mfa-factor.ts';

/** An app that asks for a second factor (`acr_values`) of a user who has none: they add it during the sign-in. */
let app: TestApp;
let owner: Person;
let host: AppInProject;
const asked = { scope: 'openid', acr_values: 'aal2' };
const MINUTE_MS = 60_000;

beforeAll(async () => {
  app = await startOwnApp();
});
afterAll(() => app.close());

/** A new user, who owns the project of a new app. */
async function newUser(): Promise<void> {
  host = await appInProject(app, { firstParty: true });
  ({ owner } = host);
}

async function toEnrolment(changes: Record<string, string> = asked): Promise<SignInBrowser> {
  const browser = signInBrowser(app, host);
  await browser.authorize(changes);
  const next = await browser.open(await browser.mail(owner.email));
  expect(String(next.headers.location)).toMatch(/\/api\/auth\/project\/enrolment$/);
  return browser;
}

const secretOn = (body: string): Buffer => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const text = /class="secret">([^<]*)</.exec(body)?.[1]?.replaceAll(' ', '') ?? '';
  const bits = [...text].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)));
};

const codeOf = (secret: Buffer): string => totpCode(secret, stepAt(app.clock.now()));
const codesOn = (body: string): string[] =>
  [...body.matchAll(/<li><code>([a-z2-9-]{11})<\/code>/g)].map(([, code = '']) => code);

const send = async (browser: SignInBrowser, fields: Record<string, string>, path = '') =>
  browser.post(`/api/auth/project/enrolment${path}`, { form_token: await browser.formToken(), ...fields });

const factors = () => app.database.pool.select().from(mfaFactors).where(eq(mfaFactors.userId, owner.userId));

async function tokensOf(browser: SignInBrowser, code: string) {
  const answer = await app.must('projectToken', {
    grant_type: 'authorization_code',
    code,
    redirect_uri: host.redirectUri,
    client_id: host.clientId,
    code_verifier: browser.verifier,
  });
  return decodeJwt(answer.idToken as string);
}

/** Adds the app; the browser is then at the recovery codes. */
async function add(browser: SignInBrowser): Promise<{ secret: Buffer; codes: string[]; usedCode: string }> {
  const secret = secretOn((await browser.page()).body);
  const usedCode = codeOf(secret);
  expect(String((await send(browser, { code: usedCode })).headers.location)).toMatch(/\/enrolment$/);
  return { secret, codes: codesOn((await browser.page()).body), usedCode };
}

const confirm = (browser: SignInBrowser, fields = { kept: 'yes' }) => send(browser, fields, '/confirm');

describe('a user without a second factor', () => {
  it('is not asked to add one for an app that does not admit them', async () => {
    await newUser();
    const browser = signInBrowser(app, host);
    await browser.authorize({ ...asked, organization: randomUUID() });
    const answer = await browser.open(await browser.mail(owner.email));
    expect(redirectParameters(answer)['error']).toBe('access_denied');
  });

  it('adds an authenticator app, keeps the recovery codes, and signs in with two factors', async () => {
    await newUser();
    const browser = await toEnrolment();
    const { body } = await browser.page();
    expect(body).toContain('<svg class="qr"');
    expect(body).toContain(encodeURIComponent(owner.email));
    expect(await factors()).toEqual([]);
    const { secret, codes, usedCode } = await add(browser);
    expect(secret).toHaveLength(20);
    expect(codes).toHaveLength(10);
    const [factor] = await factors();
    expect(factor).toMatchObject({ isEnabled: true, name: 'Authenticator' });
    const { code = '' } = redirectParameters(await confirm(browser));
    expect(await tokensOf(browser, code)).toMatchObject({ acr: 'aal2', amr: ['mail', 'otp'] });
    const log = await app.database.pool.select().from(auditLog);
    const entry = log.find(({ operation }) => operation === 'addProjectSecondFactor');
    expect(entry).toMatchObject({ outcome: 'success' });
    const written = JSON.stringify(log);
    for (const kept of [secret.toString('base64url'), ...codes, ...codes.map((c) => c.replace('-', ''))])
      expect(written).not.toContain(kept);

    // The next sign-in asks for it, the code of the enrolment does not work again, and a recovery code does.
    const again = signInBrowser(app, host);
    await again.authorize({ scope: 'openid' });
    const next = await again.open(await again.mail(owner.email));
    expect(String(next.headers.location)).toMatch(/\/second-factor$/);
    const give = async (fields: Record<string, string>) =>
      again.post('/api/auth/project/second-factor', { form_token: await again.formToken(), ...fields });
    expect(String((await give({ code: usedCode })).headers.location)).toMatch(/\/second-factor$/);
    expect(redirectParameters(await give({ recovery_code: codes[0] ?? '' }))).toHaveProperty('code');
    // While they are signed in with both, nothing is asked.
    const silent = await signInBrowser(app, host, again).authorize({ ...asked, prompt: 'none' });
    expect(redirectParameters(silent)).toHaveProperty('code');
  });

  it('sees what was wrong, and nothing is added before a correct code', async () => {
    await newUser();
    const browser = await toEnrolment();
    const secret = secretOn((await browser.page()).body);
    for (const code of ['000000', 'abc', '', '12345678901234567890']) {
      await send(browser, { code });
      const { body } = await browser.page();
      expect(body, code).toContain('This code is wrong.');
      expect(secretOn(body)).toEqual(secret);
    }
    expect(await factors()).toEqual([]);
    expect((await app.must('myMfa', {}, { token: owner.token })).enabled).toBe(false);
    // Wrong codes here lock nothing.
    await send(browser, { code: codeOf(secret) });
    expect(codesOn((await browser.page()).body)).toHaveLength(10);
  });

  it('goes on only after they have confirmed the recovery codes', async () => {
    await newUser();
    const browser = await toEnrolment();
    expect((await confirm(browser)).statusCode).toBe(400);
    const { codes } = await add(browser);
    const { statusCode } = await browser.post('/api/auth/project/consent/approve', {
      consent_token: await browser.formToken(),
    });
    expect(statusCode).toBe(400);
    for (const kept of ['', 'no']) {
      expect(String((await confirm(browser, { kept })).headers.location)).toMatch(/\/enrolment$/);
      const { body } = await browser.page();
      expect(body).toContain('Confirm that you have kept the codes.');
      expect(codesOn(body)).toEqual(codes);
    }
    const before = await browser.formToken();
    expect(redirectParameters(await confirm(browser))).toHaveProperty('code');
    app.clock.advance(31_000);
    const twice = await browser.post('/api/auth/project/enrolment/confirm', {
      form_token: before,
      kept: 'yes',
    });
    expect(twice.statusCode).toBe(400);
  });

  it('may cancel, and has added nothing', async () => {
    await newUser();
    const browser = await toEnrolment();
    const left = await browser.post('/api/auth/project/consent/deny', {
      consent_token: await browser.formToken(),
    });
    expect(redirectParameters(left)).toMatchObject({ error: 'access_denied' });
    expect(await factors()).toEqual([]);
  });

  it('adds one, also in two browsers at once', { tags: 'race' }, async () => {
    await newUser();
    const browsers = [await toEnrolment(), await toEnrolment()];
    const fields = await Promise.all(
      browsers.map(async (browser) => ({
        form_token: await browser.formToken(),
        code: codeOf(secretOn((await browser.page()).body)),
      })),
    );
    const answers = await Promise.all(
      browsers.map((browser, index) => browser.post('/api/auth/project/enrolment', fields[index] ?? {})),
    );
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([303, 400]);
    expect(await factors()).toHaveLength(1);
  });
});

describe('enrolment is refused', () => {
  it('to another browser, another page and another site', async () => {
    await newUser();
    const browser = await toEnrolment();
    const secret = secretOn((await browser.page()).body);
    const form_token = await browser.formToken();
    const stranger = signInBrowser(app, host);
    await stranger.authorize(asked);
    const fields = { form_token, code: codeOf(secret) };
    expect((await stranger.post('/api/auth/project/enrolment', fields)).statusCode).toBe(400);
    const wrongPage = { ...fields, form_token: 'x'.repeat(43) };
    expect((await browser.post('/api/auth/project/enrolment', wrongPage)).statusCode).toBe(400);
    const origin = { origin: 'https://evil.example' };
    const crossSite = await browser.post('/api/auth/project/enrolment', fields, origin);
    expect(crossSite.statusCode).toBe(403);
    expect(await factors()).toEqual([]);
  });

  it('to a browser that was left open: who adds a factor has signed in a moment ago', async () => {
    await newUser();
    const browser = signInBrowser(app, host);
    await browser.authorize({ scope: 'openid' });
    await browser.finish(owner.email);
    const recent = await signInBrowser(app, host, browser).authorize(asked);
    expect(String(recent.headers.location)).toMatch(/\/enrolment$/);
    const silent = await signInBrowser(app, host, browser).authorize({ ...asked, prompt: 'none' });
    expect(redirectParameters(silent)).toMatchObject({ error: 'login_required' });
    app.clock.advance(60 * MINUTE_MS);
    try {
      const late = await signInBrowser(app, host, browser).authorize(asked);
      expect(String(late.headers.location)).toMatch(/\/sign-in$/);
    } finally {
      app.clock.advance(-60 * MINUTE_MS);
    }
  });

  it('when the app prefers one factor, or names what is not known', async () => {
    await newUser();
    for (const acr_values of ['aal1 aal2', 'urn:other', '']) {
      const browser = signInBrowser(app, host);
      await browser.authorize({ scope: 'openid', acr_values });
      const next = await browser.open(await browser.mail(owner.email));
      expect(redirectParameters(next), acr_values).toHaveProperty('code');
    }
    await toEnrolment({ scope: 'openid', acr_values: 'urn:other aal2 aal1' });
  });
});
