import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import { unique } from '../../../test/support/app/client.ts';
import { appInProject, projectViewer, signInBrowser } from '../../../test/support/sign-in/project-app.ts';

const MOST = 2;
let app: TestApp;
beforeAll(async () => {
  app = await startApp({ SECURITY_RATE_LIMIT_MAIL_MAX: String(MOST) });
});
afterAll(() => app.close());

const mailsTo = async (address: string) => {
  await app.app.flushMails();
  return app.mails.filter(({ to }) => to === address).map(({ subject }) => subject);
};
const times = async (count: number, work: () => Promise<{ readonly status: number }>) => {
  const statuses = new Set<number>();
  for (let i = 0; i < count; i += 1) statuses.add((await work()).status);
  return [...statuses];
};

describe.each(storyTransports(import.meta))('mails to one address, requested over %s,', (via) => {
  const accepted = via === 'rest' ? 202 : 200;

  test('count only when sent: requests that send none do not block a reset', async () => {
    const { email } = await app.person();
    const before = await mailsTo(email);
    expect(await times(MOST * 3, () => app.raw('resendVerification', { email }, { via }))).toEqual([
      accepted,
    ]);
    expect(await mailsTo(email)).toEqual(before);
    await app.must('requestPasswordReset', { email }, { via });
    expect(await mailsTo(email)).toEqual([...before, 'Reset your password']);
  });

  test('are counted by purpose', async () => {
    const { email } = await app.person({ verified: false });
    await times(MOST * 3, () => app.raw('resendVerification', { email }, { via }));
    expect(await mailsTo(email)).toHaveLength(MOST);
    // The owner has the address now, and its quota of verifications is used up.
    await app.must('verifyEmail', { token: await app.mailedToken(email) });
    await times(MOST * 3, () => app.raw('requestPasswordReset', { email }, { via }));
    expect((await mailsTo(email)).filter((subject) => subject === 'Reset your password')).toHaveLength(MOST);
  });

  test('beyond the quota leave the earlier link valid', async () => {
    const person = await app.person({ verified: false });
    const { email } = person;
    await times(MOST - 1, () => app.raw('resendVerification', { email }, { via }));
    const verification = await app.mailedToken(email);
    expect(await times(1, () => app.raw('resendVerification', { email }, { via }))).toEqual([accepted]);
    expect((await app.raw('verifyEmail', { token: verification })).ok).toBe(true);
    await times(MOST, () => app.raw('requestPasswordReset', { email }, { via }));
    const token = await app.mailedToken(email);
    expect(await times(1, () => app.raw('requestPasswordReset', { email }, { via }))).toEqual([accepted]);
    const newPassword = `another horse ${unique()}`;
    expect((await app.raw('resetPassword', { token, newPassword })).ok).toBe(true);
  });
});

describe('mails of an app to addresses without a user', () => {
  /**
   * Requests a mail for each of so many strangers, from browsers in the network of the address, and returns how many
   * were sent.
   */
  const reached = async (service: TestApp, count: number, networkOf: (place: number) => string) => {
    const to = await appInProject(service, { allowSignUp: true, signUpRoleId: projectViewer });
    const strangers = Array.from({ length: count }, () => `${unique()}@example.test`);
    for (const [place, email] of strangers.entries()) {
      const browser = signInBrowser(service, to);
      await browser.authorize();
      const headers = { 'x-forwarded-for': networkOf(place) };
      const requested = await browser.post('/api/auth/project/email/request', { email }, headers);
      expect(requested.statusCode).toBe(303);
      expect((await browser.page()).body).toContain(email);
    }
    await service.app.flushMails();
    return { to, count: service.mails.filter((mail) => strangers.includes(mail.to)).length };
  };
  const proxied = { SECURITY_TRUSTED_PROXIES: '127.0.0.0/8' };

  test('count by requesting network, and the address of a user gets its link anyway', async () => {
    const tight = await startApp({ ...proxied, SECURITY_RATE_LIMIT_AUTH_MAX: '3' });
    try {
      const { to, count } = await reached(tight, 5, () => '203.0.113.7');
      expect(count).toBe(3);
      const browser = signInBrowser(tight, to);
      await browser.authorize();
      const headers = { 'x-forwarded-for': '203.0.113.7' };
      await browser.post('/api/auth/project/email/request', { email: to.owner.email }, headers);
      expect(await tight.mailedToken(to.owner.email)).toMatch(/^[\w-]{43}$/);
      expect(tight.mails.at(-1)).toMatchObject({ to: to.owner.email, subject: 'Sign in to Acme Boards' });
    } finally {
      await tight.close();
    }
  });

  test('count by app, across all networks', async () => {
    const tight = await startApp({ ...proxied, SECURITY_RATE_LIMIT_GENERAL_MAX: '150' });
    try {
      const { count } = await reached(tight, 5, (place) => `203.0.113.${place + 1}`);
      expect(count).toBe(3);
    } finally {
      await tight.close();
    }
  });
});

test('a link to sign in to an app is counted only for a browser that is signing in, and for its own purpose', async () => {
  const { email } = await app.person();
  const to = await appInProject(app, { allowSignUp: true, signUpRoleId: projectViewer });
  const elsewhere = { method: 'POST', url: '/api/auth/project/email/request', payload: { email } } as const;
  for (let i = 0; i < MOST * 2; i += 1) {
    expect((await app.server.inject(elsewhere)).json<{ code: string }>().code).toBe('INVALID_TOKEN');
  }
  const browser = signInBrowser(app, to);
  await browser.authorize();
  const ask = (origin: string) =>
    browser.post('/api/auth/project/email/request', { email }, { origin, accept: 'application/json' });
  for (let i = 0; i < MOST * 2; i += 1) expect((await ask('https://evil.example')).statusCode).toBe(403);
  const own = async () => (await mailsTo(email)).filter((subject) => subject.startsWith('Sign in to')).length;
  expect(await own()).toBe(0);
  for (let i = 0; i < MOST * 2; i += 1) await ask('http://localhost:4000');
  expect(await own()).toBe(MOST);
  await app.must('requestPasswordReset', { email });
  expect((await mailsTo(email)).at(-1)).toBe('Reset your password');
});
