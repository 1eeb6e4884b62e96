import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { codeShown } from '../../../test/support/sign-in/authenticator.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import type { Person } from '../../../test/support/app/client.ts';
import { appInProject } from '../../../test/support/sign-in/project-app.ts';
import { cookieNames, visitor, type Visitor } from '../../../test/support/app/visitor.ts';
import { deviceAuthorizations } from '../../schema/oauth/device-authorization.ts';
import { auditLog } from '../../schema/events/audit-log-entry.ts';
import { sessions } from '../../schema/sign-in/session.ts';
import { users } from '../../schema/people/user.ts';

/** Sign-in of a command line without a browser to this service itself (identity §9), and the attacks on it. */

const BASE = 'http://localhost:4000';
const PAGE = '/hosted/cli-sign-in';
let app: TestApp;
let ada: Person;

beforeAll(async () => {
  app = await startApp();
  ada = await app.person();
});
afterAll(() => app.close());

const begin = () => app.must('startDeviceSignIn', {});
const ask = async (deviceCode: string) => app.call('exchangeDeviceCode', { deviceCode });
const refusalOf = async (deviceCode: string) => {
  const { status, code } = await ask(deviceCode);
  return [status, code];
};
const refused = [400, 'INVALID_TOKEN'];

async function entered(userCode: string, browser = visitor(app.server)): Promise<Visitor> {
  const answer = await browser.post('/api/auth/project/device/enter', { user_code: userCode });
  expect(answer.headers.location).toBe(`${BASE}/api/auth/project/sign-in`);
  return browser;
}
/** A browser in which the person has entered the code and signed in. It shows the question. */
async function atQuestion(userCode: string, { email, password } = ada): Promise<Visitor> {
  const browser = await entered(userCode);
  const asked = await browser.post('/api/auth/flow/password', { email, password });
  expect(asked.headers.location).toBe(`${BASE}${PAGE}`);
  return browser;
}
async function decide(browser: Visitor, decision: 'approve' | 'deny') {
  const page = await browser.get(PAGE);
  const formToken = /name="formToken" value="([^"]+)"/.exec(page.body)?.[1] ?? '';
  const end = await browser.post('/api/auth/cli/confirm', { decision, formToken });
  return [end.statusCode, end.headers.location];
}
const approved = [303, `${BASE}/device?result=approved`];
const denied = [303, `${BASE}/device?result=denied`];

describe('a command line', () => {
  it.each(storyTransports(import.meta))('gets a session when its user has approved, over %s', async (via) => {
    const codes = await app.must('startDeviceSignIn', {}, { via });
    expect(codes).toMatchObject({
      userCode: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/) as string,
      verificationUri: `${BASE}/device`,
      expiresIn: 600,
      interval: 5,
    });
    const { deviceCode, userCode } = codes;
    const poll = () => app.call('exchangeDeviceCode', { deviceCode }, { via });
    expect((await poll()).data).toEqual({ status: 'pending', signIn: null });
    const browser = await atQuestion(userCode.toLowerCase().replace('-', ' '));
    const page = await browser.get(PAGE);
    for (const shown of [userCode, '127.0.0.1', 'This is the network of this browser', ada.email])
      expect(page.body).toContain(shown);
    expect(page.body).not.toContain('<script');
    expect(await decide(browser, 'approve')).toEqual(approved);
    expect(cookieNames(browser)).toEqual([]);
    const { data, cookies } = await poll();
    expect([data.status, data.signIn?.user.id, cookies]).toEqual(['approved', ada.userId, []]);
    const { items } = await app.must('myUserSessions', {}, { token: data.signIn?.accessToken ?? '' });
    expect(items.find(({ isCurrent }) => isCurrent)?.kind).toBe('cli');
    expect((await poll()).code).toBe('INVALID_TOKEN');
    const stored = JSON.stringify(await app.database.pool.select().from(deviceAuthorizations));
    for (const secret of [deviceCode, userCode, userCode.replace('-', '')])
      expect(stored + app.logs.join('')).not.toContain(secret);
  });

  it('is recorded for its user: the decision and the session', async () => {
    const { deviceCode, userCode } = await begin();
    await decide(await atQuestion(userCode), 'approve');
    await ask(deviceCode);
    const rows = await app.database.pool
      .select()
      .from(auditLog)
      .where(eq(auditLog.tenantId, ada.account.id))
      .orderBy(auditLog.sequence);
    expect(rows.slice(-2).map(({ operation, event, outcome }) => [operation, event, outcome])).toEqual([
      ['confirmCliSignIn', null, 'success'],
      ['exchangeDeviceCode', 'session.created', 'success'],
    ]);
  });

  it('has the second factor that its user gave in the browser', async () => {
    const lin = await app.person();
    const as = { token: lin.token };
    const { factor, secret } = await app.must('createMfaFactor', {}, as);
    const code = (later: number) => codeShown(secret, app.clock.now(), later);
    await app.must('verifyMfaFactor', { id: factor.id, code: code(0) }, as);
    const { deviceCode, userCode } = await begin();
    const browser = await entered(userCode);
    await browser.post('/api/auth/flow/password', { email: lin.email, password: lin.password });
    await browser.post('/api/auth/flow/second-factor', { code: code(1) });
    expect(await decide(browser, 'approve')).toEqual(approved);
    expect((await ask(deviceCode)).data.signIn?.mfaRequired).toBe(false);
    const rows = await app.database.pool.select().from(sessions).where(eq(sessions.userId, lin.userId));
    expect(rows.find(({ kind }) => kind === 'cli')).toMatchObject({ acr: 'aal2', amr: ['pwd', 'otp'] });
  });

  it('that asks too often has to wait longer each time', async () => {
    const { deviceCode } = await begin();
    const answers: string[] = [];
    for (const seconds of [0, 5, 1, 5, 10, 20]) {
      app.clock.advance(seconds * 1000);
      answers.push((await ask(deviceCode)).data.status);
    }
    expect(answers).toEqual(['pending', 'pending', 'slowDown', 'slowDown', 'slowDown', 'pending']);
  });

  it('may ask for ten minutes without a limit of class auth', async () => {
    const limited = await startApp({ SECURITY_RATE_LIMIT_AUTH_MAX: '20' });
    try {
      const { deviceCode } = await limited.must('startDeviceSignIn', {});
      for (let asked = 0; asked < 110; asked += 1) {
        limited.clock.advance(5000);
        const { data } = await limited.call('exchangeDeviceCode', { deviceCode });
        expect(data.status).toBe('pending');
      }
      const guess = () => limited.call('exchangeDeviceCode', { deviceCode: 'x'.repeat(43) });
      for (let wrong = 0; wrong < 20; wrong += 1) expect((await guess()).code).toBe('INVALID_TOKEN');
      expect((await guess()).code).toBe('RATE_LIMITED');
      // A valid code does not count towards the limit, so it still works.
      expect((await limited.call('exchangeDeviceCode', { deviceCode })).ok).toBe(true);
      for (let begun = 1; begun < 20; begun += 1) await limited.must('startDeviceSignIn', {});
      expect((await limited.call('startDeviceSignIn', {})).code).toBe('RATE_LIMITED');
    } finally {
      await limited.close();
    }
  });
});

describe('no session', () => {
  it('when its user denies, or cancels before they have signed in', async () => {
    const first = await begin();
    expect(await decide(await atQuestion(first.userCode), 'deny')).toEqual(denied);
    const second = await begin();
    const browser = await entered(second.userCode);
    const { body } = await browser.get('/api/auth/project/sign-in');
    const consent_token = /name="consent_token" value="([^"]+)"/.exec(body)?.[1] ?? '';
    const end = await browser.post('/api/auth/project/consent/deny', { consent_token });
    expect([end.statusCode, end.headers.location]).toEqual(denied);
    for (const { deviceCode } of [first, second]) expect(await refusalOf(deviceCode)).toEqual(refused);
  });

  it('twice for one code, also at the same time', { tags: 'race' }, async () => {
    const { deviceCode, userCode } = await begin();
    await decide(await atQuestion(userCode), 'approve');
    const answers = await Promise.all([1, 2, 3].map(() => ask(deviceCode)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
  });

  it('for another user than the first who decided', async () => {
    const { deviceCode, userCode } = await begin();
    const second = await app.person();
    const [approving, denying] = [await atQuestion(userCode, second), await atQuestion(userCode, second)];
    expect(await decide(await atQuestion(userCode), 'approve')).toEqual(approved);
    expect((await decide(approving, 'approve'))[0]).toBe(400);
    await decide(denying, 'deny');
    expect((await ask(deviceCode)).data.signIn?.user.id).toBe(ada.userId);
  });

  it('after ten minutes, whatever its user decided', async () => {
    const [pending, decided] = [await begin(), await begin()];
    await decide(await atQuestion(decided.userCode), 'approve');
    app.clock.advance(601_000);
    for (const { deviceCode } of [pending, decided]) expect(await refusalOf(deviceCode)).toEqual(refused);
  });

  it('after its user changed the password, or was disabled', async () => {
    const lin = await app.person();
    const first = await begin();
    await decide(await atQuestion(first.userCode, lin), 'approve');
    const newPassword = `another horse ${crypto.randomUUID()}`;
    const change = { currentPassword: lin.password, newPassword };
    await app.must('changeMyPassword', change, { token: lin.token });
    expect(await refusalOf(first.deviceCode)).toEqual(refused);
    const second = await begin();
    await decide(await atQuestion(second.userCode, { ...lin, password: newPassword }), 'approve');
    await app.database.pool.update(users).set({ status: 'disabled' }).where(eq(users.id, lin.userId));
    expect(await refusalOf(second.deviceCode)).toEqual(refused);
  });

  it('for codes of apps, nor tokens of an app for the code of a command line', async () => {
    const to = await appInProject(app, {}, ada);
    const { data } = await app.call('authorizeProjectDevice', { client_id: to.clientId });
    expect(await refusalOf(data.device_code)).toEqual(refused);
    const { deviceCode, userCode } = await begin();
    await decide(await atQuestion(userCode), 'approve');
    const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
    const sent = { grant_type, client_id: to.clientId, device_code: deviceCode } as const;
    expect((await app.call('projectToken', sent)).code).toBe('INVALID_TOKEN');
    expect((await ask(deviceCode)).data.status).toBe('approved');
  });

  it('for the user code, and for what is no code', async () => {
    const { userCode } = await begin();
    for (const guess of [userCode, userCode.replace('-', ''), 'x', "'\0"])
      expect(await refusalOf(guess)).toEqual(refused);
  });

  it('by the question of another browser or site', async () => {
    const { deviceCode, userCode } = await begin();
    const browser = await atQuestion(userCode);
    const { body } = await browser.get(PAGE);
    const formToken = /name="formToken" value="([^"]+)"/.exec(body)?.[1] ?? '';
    const approve = { decision: 'approve', formToken };
    expect((await visitor(app.server).post('/api/auth/cli/confirm', approve)).statusCode).toBe(400);
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    expect((await browser.post('/api/auth/cli/confirm', approve, headers)).statusCode).toBe(403);
    expect((await ask(deviceCode)).data.status).toBe('pending');
  });
});

it.each(['de', 'es', 'fr'])(
  'the question is asked in %s, and differs from that of a browser',
  async (lang) => {
    const browser = await atQuestion((await begin()).userCode);
    const titleOf = async (language: string) =>
      /<h1>([^<]+)</.exec((await browser.get(PAGE, { 'accept-language': language })).body)?.[1];
    const [translated, english] = [await titleOf(lang), await titleOf('en')];
    expect(english).toBe('Sign in to a command line?');
    expect(translated).toBeTruthy();
    expect(translated).not.toBe(english);
  },
);

it('a user code that five wrong ones came before is not taken from that network', async () => {
  const strict = await startApp({ SECURITY_TRUSTED_PROXIES: '127.0.0.1/32' });
  try {
    const { userCode } = await strict.must('startDeviceSignIn', {});
    const guess = (user_code: string, address: string) =>
      visitor(strict.server).post(
        '/api/auth/project/device/enter',
        { user_code },
        { 'x-forwarded-for': address },
      );
    for (let wrong = 0; wrong < 5; wrong += 1) await guess('BCDF-GHJK', '203.0.113.7');
    expect((await guess(userCode, '203.0.113.7')).headers.location).toBe('/device?result=closed');
    const elsewhere = await guess(userCode, '203.0.113.8');
    expect(elsewhere.headers.location).toBe(`${BASE}/api/auth/project/sign-in`);
  } finally {
    await strict.close();
  }
});
