import { and, eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import { unique, type Person, type Via } from '../../../test/support/app/client.ts';
import { auditLog } from '../../schema/events/audit-log-entry.ts';
import { events } from '../../schema/events/event.ts';
import { oneTimeTokens } from '../../schema/sign-in/one-time-token.ts';
import { authenticationMethods, passwords } from '../../schema/sign-in/authentication-method.ts';
import { users } from '../../schema/people/user.ts';

const MINUTE = 60_000;
let app: TestApp;
beforeAll(async () => {
  // Of its own: a test searches every row and line that the service has written.
  app = await startOwnApp();
});
afterAll(() => app.close());

const address = () => `${unique()}@example.test`;
const fresh = () => `another horse ${unique()}`;
const login = (email: string, password: string) =>
  app.raw('login', { provider: 'email', providerId: email, providerData: { password } });
const signedIn = async ({ email, password }: Person) =>
  (await login(email, password)).data as { accessToken: string; refreshToken: string };
const ask = (email: string, via: Via = 'rest') => app.raw('requestPasswordReset', { email }, { via });
const requested = async ({ email }: Person) => {
  await ask(email);
  return app.mailedToken(email);
};
const reset = (token: string, newPassword: string, via: Via = 'rest') =>
  app.raw('resetPassword', { token, newPassword }, { via });
const change = (token: string, input: object, via: Via = 'rest') =>
  app.raw('changeMyPassword', input, { token, via });
const me = async (token: string) => (await app.raw('me', {}, { token })).status;
const refreshed = (tokens: { accessToken: string; refreshToken: string }) =>
  app.raw('refreshSession', { accessToken: tokens.accessToken, refreshToken: tokens.refreshToken });
const mailsTo = async (email: string) => {
  await app.app.flushMails();
  return app.mails.filter(({ to }) => to === email).map(({ subject }) => subject);
};
const eventsOf = async ({ account }: Person) =>
  (
    await app.database.pool
      .select()
      .from(events)
      .where(eq(events.tenantId, account.id))
      .orderBy(events.sequence)
  ).map(({ type }) => type);
const withoutRequestId = (body: string) => body.replace(/"requestId":"[^"]+"/, '');

describe.each(storyTransports(import.meta))('a forgotten password over %s', (via) => {
  test('is replaced by mail, and every session ends', async () => {
    const person = await app.person();
    const other = await signedIn(person);
    const token = await requested(person);
    const chosen = fresh();
    const answer = await reset(token, chosen, via);
    expect(answer).toMatchObject({ status: 200, data: { reset: true } });
    expect(answer.cookies).toEqual([]);
    expect([await me(person.token), await me(other.accessToken)]).toEqual([401, 401]);
    expect((await refreshed(other)).code).toBe('UNAUTHENTICATED');
    expect((await login(person.email, person.password)).code).toBe('UNAUTHENTICATED');
    expect((await login(person.email, chosen)).ok).toBe(true);
    expect((await eventsOf(person)).slice(-4)).toEqual([
      'user.password_changed',
      'session.revoked',
      'session.revoked',
      'session.created',
    ]);
    expect((await mailsTo(person.email)).slice(-2)).toEqual([
      'Reset your password',
      'Your password was changed',
    ]);
    expect((await reset(token, fresh(), via)).code).toBe('INVALID_TOKEN');
  });

  test('is asked for with the same answer whosever the address is', async () => {
    const [person, unverified, disabled, gone] = [
      await app.person(),
      await app.person({ verified: false }),
      await app.person(),
      await app.person(),
    ];
    const { pool } = app.database;
    await pool.update(users).set({ status: 'disabled' }).where(eq(users.id, disabled.userId));
    await pool.update(users).set({ deletedAt: app.clock.now() }).where(eq(users.id, gone.userId));
    await app.app.flushMails();
    const before = app.mails.length;
    const bodies = new Set<string>();
    for (const email of [person, unverified, disabled, gone, { email: address() }].map(
      (item) => item.email,
    )) {
      const answer = await ask(email.toUpperCase(), via);
      expect(answer.status).toBe(via === 'rest' ? 202 : 200);
      expect(answer.data).toEqual({ accepted: true });
      bodies.add(withoutRequestId(answer.body).replace(/"revision":"[\w-]{22}"/, 'a revision'));
    }
    expect(bodies.size).toBe(1);
    await app.app.flushMails();
    // To the stored form of the address, not to what was typed.
    const mailed = app.mails.slice(before).map(({ to, subject }) => [to, subject]);
    expect(mailed).toEqual([
      [person.email, 'Reset your password'],
      [unverified.email, 'Verify your e-mail address'],
    ]);
  });

  test('keeps the link when the new password is refused', async () => {
    const person = await app.person({ name: 'Wilhelmina' });
    const token = await requested(person);
    const local = person.email.split('@')[0] ?? '';
    for (const [bad, code] of [
      ['q7#Zp', 'too_short'],
      ['password1234', 'password_too_common'],
      [`it is ${local}, surely`, 'password_contains_identity'],
      ['my name is wilhelmina', 'password_contains_identity'],
      ['x'.repeat(129), 'too_long'],
    ] as const) {
      const answer = await reset(token, bad, via);
      expect(answer.code).toBe('VALIDATION_ERROR');
      expect(answer.details).toMatchObject([{ path: 'newPassword', code }]);
    }
    expect(await me(person.token)).toBe(200);
    expect((await reset(token, fresh(), via)).ok).toBe(true);
  });

  test('takes a link of its own kind, and the newest one only', async () => {
    const person = await app.person();
    const first = await requested(person);
    const second = await requested(person);
    expect((await app.raw('verifyEmail', { token: second }, { via })).code).toBe('INVALID_TOKEN');
    for (const wrong of [first, 'x'.repeat(43)]) {
      expect((await reset(wrong, fresh(), via)).code).toBe('INVALID_TOKEN');
    }
    expect((await reset(second, fresh(), via)).ok).toBe(true);
    const newcomer = await app.person({ verified: false });
    const verification = await app.mailedToken(newcomer.email);
    expect((await reset(verification, fresh(), via)).code).toBe('INVALID_TOKEN');
  });
});

test('a reset link ends with its 60 minutes', async () => {
  const token = await requested(await app.person());
  app.clock.advance(61 * MINUTE);
  expect((await reset(token, fresh())).code).toBe('INVALID_TOKEN');
});

test(
  'of 20 resets with one link at once, one wins and its password is the one',
  { tags: 'race' },
  async () => {
    const person = await app.person();
    const token = await requested(person);
    const chosen = Array.from({ length: 20 }, fresh);
    const answers = await Promise.all(chosen.map((item) => reset(token, item)));
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
    expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([null, 'INVALID_TOKEN']));
    const winner = chosen[answers.findIndex(({ ok }) => ok)] ?? '';
    expect((await login(person.email, winner)).ok).toBe(true);
    expect((await mailsTo(person.email)).filter((item) => item === 'Your password was changed')).toHaveLength(
      1,
    );
  },
);

test('sign-ins with the old password during a reset leave no session', { tags: 'race' }, async () => {
  const person = await app.person();
  const token = await requested(person);
  const [done, ...signIns] = await Promise.all([
    reset(token, fresh()),
    ...Array.from({ length: 5 }, () => login(person.email, person.password)),
  ]);
  expect(done.ok).toBe(true);
  for (const { ok, data } of signIns) {
    if (ok) expect(await me((data as { accessToken: string }).accessToken)).toBe(401);
  }
});

test('requests at once leave one link that works', { tags: 'race' }, async () => {
  const person = await app.person();
  await Promise.all(Array.from({ length: 5 }, () => ask(person.email)));
  const left = await app.database.pool
    .select()
    .from(oneTimeTokens)
    .where(and(eq(oneTimeTokens.userId, person.userId), eq(oneTimeTokens.purpose, 'resetPassword')));
  expect(left).toHaveLength(1);
});

test('a link is worth nothing once its address or its user is no longer what it was', async () => {
  const { pool } = app.database;
  const [disabled, moved] = [await app.person(), await app.person()];
  const tokens = [await requested(disabled), await requested(moved)];
  await pool.update(users).set({ status: 'disabled' }).where(eq(users.id, disabled.userId));
  await pool.delete(authenticationMethods).where(eq(authenticationMethods.userId, moved.userId));
  for (const token of tokens) expect((await reset(token, fresh())).code).toBe('INVALID_TOKEN');
});

test('a reset verifies nothing else, removes what is unproven, and tells the primary address too', async () => {
  const person = await app.person();
  const [second, third] = [address(), address()];
  const method = { userId: person.userId, provider: 'email' as const, isPrimary: false };
  await app.database.pool.insert(authenticationMethods).values(
    [second, third].map((item) => ({
      ...method,
      id: crypto.randomUUID(),
      providerId: item,
      label: item,
      isVerified: item === second,
      claims: item === second,
    })),
  );
  await ask(second);
  expect((await reset(await app.mailedToken(second), fresh())).ok).toBe(true);
  expect((await mailsTo(second)).at(-1)).toBe('Your password was changed');
  expect((await mailsTo(person.email)).at(-1)).toBe('Your password was changed');
  expect(await mailsTo(third)).toEqual([]);
  const [unproved] = await app.database.pool
    .select()
    .from(authenticationMethods)
    .where(eq(authenticationMethods.providerId, third));
  expect(unproved).toBeUndefined();
});

test('mails speak the language of the user, and lead to the frontend where there is one', async () => {
  const own = await startOwnApp({ SECURITY_FRONTEND_URL: 'https://app.example.test' });
  try {
    for (const [locale, subject] of [
      ['de', 'Setzen Sie Ihr Passwort zurück'],
      ['es', 'Restablezca su contraseña'],
      ['fr', 'Réinitialisez votre mot de passe'],
      ['en', 'Reset your password'],
    ] as const) {
      const { email, userId } = await own.person();
      await own.database.pool.update(users).set({ locale }).where(eq(users.id, userId));
      await own.raw('requestPasswordReset', { email });
      const token = await own.mailedToken(email);
      const mail = own.mails.findLast(({ to }) => to === email);
      expect(mail?.subject).toBe(subject);
      expect(mail?.text).toContain(`https://app.example.test/auth/reset-password?token=${token}`);
    }
  } finally {
    await own.close();
  }
});

test('beyond the limit of an address no mail is sent, and the answer does not reveal it', async () => {
  const limited = await startOwnApp({ SECURITY_RATE_LIMIT_MAIL_MAX: '3' });
  try {
    const { email } = await limited.person();
    const answers = [];
    for (let i = 0; i < 4; i++) answers.push(await limited.raw('requestPasswordReset', { email }));
    expect(new Set(answers.map(({ body }) => withoutRequestId(body))).size).toBe(1);
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202]);
    await limited.app.flushMails();
    expect(limited.mails.filter(({ subject }) => subject === 'Reset your password')).toHaveLength(3);
  } finally {
    await limited.close();
  }
});

describe.each(storyTransports(import.meta))('changing the password over %s', (via) => {
  test('ends the other sessions, and not this one', async () => {
    const person = await app.person();
    const other = await signedIn(person);
    const link = await requested(person);
    const chosen = fresh();
    const input = { currentPassword: person.password, newPassword: chosen, confirmPassword: chosen };
    const answer = await change(person.token, input, via);
    expect(answer).toMatchObject({ status: 200, data: { changed: true } });
    expect([await me(person.token), await me(other.accessToken)]).toEqual([200, 401]);
    expect((await refreshed(other)).code).toBe('UNAUTHENTICATED');
    expect((await eventsOf(person)).slice(-2)).toEqual(['user.password_changed', 'session.revoked']);
    expect((await mailsTo(person.email)).at(-1)).toBe('Your password was changed');
    expect((await login(person.email, person.password)).ok).toBe(false);
    expect((await login(person.email, chosen)).ok).toBe(true);
    // A link that was asked for before is part of what the old password may have opened.
    expect((await reset(link, fresh(), via)).code).toBe('INVALID_TOKEN');
  });

  test('refuses a wrong current password, with a record, and leaves the session', async () => {
    const person = await app.person();
    const input = { currentPassword: 'not the password', newPassword: fresh() };
    expect((await change(person.token, input, via)).code).toBe('UNAUTHENTICATED');
    expect(await me(person.token)).toBe(200);
    const entries = await app.database.pool
      .select()
      .from(auditLog)
      .where(and(eq(auditLog.tenantId, person.account.id), eq(auditLog.operation, 'changeMyPassword')));
    expect(entries).toMatchObject([{ outcome: 'failed' }]);
  });

  test('says of a user without a password what it says of a wrong one', async () => {
    const [person, without] = [await app.person(), await app.person()];
    await app.database.pool.delete(passwords).where(eq(passwords.userId, without.userId));
    const answers = [];
    for (const { token } of [person, without]) {
      answers.push(await change(token, { currentPassword: 'what ever it is', newPassword: fresh() }, via));
    }
    expect(new Set(answers.map(({ body }) => withoutRequestId(body))).size).toBe(1);
    expect(answers[0]?.code).toBe('UNAUTHENTICATED');
  });

  test('refuses a new password that is none', async () => {
    const { token, password: currentPassword } = await app.person();
    for (const [input, path, code] of [
      [{ newPassword: currentPassword }, 'newPassword', 'password_unchanged'],
      [{ newPassword: 'q7#Zp' }, 'newPassword', 'too_short'],
      [{ newPassword: 'doorward doorward' }, 'newPassword', 'password_contains_identity'],
      [{ newPassword: fresh(), confirmPassword: fresh() }, 'confirmPassword', 'not_allowed'],
    ] as const) {
      const answer = await change(token, { currentPassword, ...input }, via);
      expect(answer.code).toBe('VALIDATION_ERROR');
      expect(answer.details).toMatchObject([{ path, code }]);
    }
  });
});

test('of several changes at once, one wins', { tags: 'race' }, async () => {
  const { token, password: currentPassword } = await app.person();
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => change(token, { currentPassword, newPassword: fresh() })),
  );
  expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
  expect(answers.filter(({ code }) => code === 'UNAUTHENTICATED')).toHaveLength(9);
});

test('a stolen session does not guess the password for long, nor keep its user from changing it', async () => {
  const limited = await startOwnApp({
    SECURITY_RATE_LIMIT_AUTH_MAX: '3',
    SECURITY_TRUSTED_PROXIES: '127.0.0.1',
  });
  try {
    const { token, password: currentPassword } = await limited.person();
    const from = (ip: string, current: string) =>
      limited.raw(
        'changeMyPassword',
        { currentPassword: current, newPassword: fresh() },
        { token, headers: { 'x-forwarded-for': ip } },
      );
    const codes = [];
    for (let i = 0; i < 4; i++) codes.push((await from('192.0.2.1', `guess number ${i}`)).code);
    expect(codes).toEqual(['UNAUTHENTICATED', 'UNAUTHENTICATED', 'UNAUTHENTICATED', 'RATE_LIMITED']);
    expect((await from('192.0.2.2', currentPassword)).ok).toBe(true);
  } finally {
    await limited.close();
  }
});

test('tokens and passwords of a reset or change stand in no answer, event, audit entry or log line', async () => {
  const person = await app.person();
  const token = await requested(person);
  const [first, second] = [fresh(), fresh()];
  const done = await reset(token, first);
  const session = await signedIn({ ...person, password: first });
  const changed = await change(session.accessToken, { currentPassword: first, newPassword: second });
  expect([done.ok, changed.ok]).toEqual([true, true]);
  const { pool } = app.database;
  const written = JSON.stringify([
    await pool.select().from(events),
    (await pool.select().from(auditLog)).map(
      ({ hash: _, previousHash: __, personalDigest: ___, salt: ____, ...entry }) => entry,
    ),
    app.logs,
    done.body,
    changed.body,
  ]);
  for (const secret of [token, first, second, person.password]) expect(written).not.toContain(secret);
  expect(written).not.toMatch(/argon2|[0-9a-f]{64}/);
});
