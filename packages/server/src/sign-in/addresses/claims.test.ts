import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import { unique, type Person } from '../../../test/support/app/client.ts';
import { startGithub, type GithubDouble } from '../../../test/support/sign-in/github.ts';
import { visitor } from '../../../test/support/app/visitor.ts';

/** An unverified claim on an address gives no power over the owner of the address. */
let app: TestApp;
let github: GithubDouble;
beforeAll(async () => {
  github = await startGithub();
  app = await startApp(github.env);
});
afterAll(async () => {
  await app.close();
  await github.close();
});
beforeEach(() => void (github.account = github.newAccount()));

const newAddress = () => `${unique()}@example.test`;
const password = 'correct horse for anybody';
const registration = (providerId: string) => ({
  provider: 'email' as const,
  providerId,
  providerData: { password },
});
const mailsTo = async (address: string) => {
  await app.app.flushMails();
  return app.mails.filter(({ to }) => to === address);
};
/** A user who registered with an address that is not theirs, and then verified one of their own. */
async function squatter(): Promise<Person & { readonly own: string; readonly link: string }> {
  const person = await app.person({ verified: false });
  const link = await app.mailedToken(person.email);
  const own = newAddress();
  await app.must(
    'addMyAuthenticationMethod',
    { provider: 'email', providerId: own },
    { token: person.token },
  );
  await app.must('verifyEmail', { token: await app.mailedToken(own) });
  return { ...person, own, link };
}

describe.each(storyTransports(import.meta))('over %s', (via) => {
  test('a user who verifies one address loses the claim on another: others can register it, and it no longer signs in', async () => {
    const { email, own, link, ...mallory } = await squatter();
    const login = (providerId: string) =>
      app.raw(
        'login',
        { ...registration(providerId), providerData: { password: mallory.password } },
        { via },
      );
    expect((await login(email)).code).toBe('UNAUTHENTICATED');
    expect((await login(own)).ok).toBe(true);
    expect((await app.raw('verifyEmail', { token: link }, { via })).code).toBe('INVALID_TOKEN');
    const registered = await app.raw('register', registration(email), { via });
    expect(registered.ok).toBe(true);
    await app.must('verifyEmail', { token: await app.mailedToken(email) }, { via });
    const { items } = await app.must('myAuthenticationMethods', {}, { token: mallory.token });
    expect(items.map(({ providerId }) => providerId)).toEqual([own]);
  });

  test('a claim that has ended sends mail only to its user, and the mail names the account', async () => {
    const { email, own, token } = await squatter();
    const before = (await mailsTo(email)).length;
    const other = await app.person();
    for (const caller of [{}, { token: other.token }]) {
      const answer = await app.raw('resendVerification', { email }, { via, ...caller });
      expect(answer.data).toEqual({ accepted: true });
    }
    await app.raw('requestPasswordReset', { email }, { via });
    expect((await mailsTo(email)).length).toBe(before);
    await app.must('resendVerification', { email }, { token, via });
    const mail = (await mailsTo(email)).at(-1);
    expect(mail?.subject).toBe('Is this e-mail address yours?');
    expect(mail?.text.replaceAll('\u200B', '')).toContain(own);
    // The page reads the account from the fragment, in any browser.
    expect(mail?.text).toMatch(new RegExp(`\\?token=[\\w-]{43}#account=${encodeURIComponent(own)}`));
  });

  test('the link of a registration names no account', async () => {
    const { email } = await app.person({ verified: false });
    expect((await mailsTo(email)).at(-1)?.text).not.toContain('#account');
  });

  test('a reset ends addresses that were never proven, and says what else signs in', async () => {
    const person = await app.person();
    const [second, pending] = [newAddress(), newAddress()];
    for (const providerId of [second, pending]) {
      const method = { provider: 'email' as const, providerId };
      await app.must('addMyAuthenticationMethod', method, { token: person.token, via });
    }
    await app.must('verifyEmail', { token: await app.mailedToken(second) });
    const link = await app.mailedToken(pending);
    await app.must('requestPasswordReset', { email: person.email }, { via });
    const reset = { token: await app.mailedToken(person.email), newPassword: 'a password that is new 7' };
    await app.must('resetPassword', reset, { via });
    expect((await app.raw('verifyEmail', { token: link }, { via })).code).toBe('INVALID_TOKEN');
    const login = { ...registration(person.email), providerData: { password: reset.newPassword } };
    const { accessToken } = await app.must('login', login);
    const { items } = await app.must('myAuthenticationMethods', {}, { token: accessToken });
    expect(items.map(({ providerId }) => providerId).sort()).toEqual([person.email, second].sort());
    const mail = (await mailsTo(person.email)).at(-1);
    expect(mail?.subject).toBe('Your password was changed');
    expect(mail?.text.replaceAll('\u200B', '')).toContain(
      `still work for signing in to the account: ${second}.`,
    );
    expect(mail?.text).not.toContain(pending);
  });

  test('a reset of an unverified registration mails the link that verifies it', async () => {
    const { email } = await app.person({ verified: false });
    const before = (await mailsTo(email)).length;
    const answer = await app.raw('requestPasswordReset', { email }, { via });
    expect(answer.data).toEqual({ accepted: true });
    const mails = (await mailsTo(email)).slice(before);
    expect(mails.map(({ subject }) => subject)).toEqual(['Verify your e-mail address']);
    await app.must('verifyEmail', { token: await app.mailedToken(email) }, { via });
    await app.must('requestPasswordReset', { email }, { via });
    expect((await mailsTo(email)).at(-1)?.subject).toBe('Reset your password');
  });

  test('an address owned through GitHub cannot be verified by another user', async () => {
    const owner = visitor(app.server);
    await owner.signIn(github);
    const address = github.account?.emails.find(({ primary }) => primary)?.email ?? '';
    const mallory = await app.person();
    const method = { provider: 'email', providerId: address } as const;
    await app.must('addMyAuthenticationMethod', method, { token: mallory.token, via });
    expect((await app.raw('resendVerification', { email: address }, { via })).data).toEqual({
      accepted: true,
    });
    for (const { text } of await mailsTo(address)) expect(text).not.toContain('token=');
  });

  test('a link mailed before the address became owned through GitHub is rejected', async () => {
    const address = github.account?.emails.find(({ primary }) => primary)?.email ?? '';
    const mallory = await app.person();
    const method = { provider: 'email', providerId: address } as const;
    await app.must('addMyAuthenticationMethod', method, { token: mallory.token, via });
    const link = await app.mailedToken(address);
    const owner = visitor(app.server);
    await owner.signIn(github);
    expect((await app.raw('verifyEmail', { token: link }, { via })).code).toBe('INVALID_TOKEN');
  });
});

test('a user who proves an address through GitHub loses unverified claims too', async () => {
  const browser = visitor(app.server);
  const person = await app.person({ verified: false });
  browser.cookies.set('doorward_refresh', person.refreshToken);
  await browser.connect(github);
  const { user } = await app.must('me', {}, { token: person.token });
  expect(user.emailVerified).toBe(true);
  expect((await app.raw('register', registration(person.email))).ok).toBe(true);
});
