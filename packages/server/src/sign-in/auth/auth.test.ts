import { hash as argon2 } from '@node-rs/argon2';
import { and, eq, isNull, sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import { transports, unique, type Answer, type Person, type Via } from '../../../test/support/app/client.ts';
import { auditLog } from '../../schema/events/audit-log-entry.ts';
import { events } from '../../schema/events/event.ts';
import { authenticationMethods, passwords } from '../../schema/sign-in/authentication-method.ts';
import { sessions } from '../../schema/sign-in/session.ts';
import { accounts } from '../../schema/people/account.ts';
import { users } from '../../schema/people/user.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;
const ORIGIN = 'http://localhost:4000';
const COOKIE = 'doorward_refresh';
const password = 'a long enough secret';

interface SignInData {
  accessToken: string;
  refreshToken: string;
  expiresIn: number;
  mfaRequired: boolean;
  emailVerified: boolean;
  emailVerificationDeadline: string | null;
  user: { id: string; name: string; email: string; locale: string | null };
  accounts: { id: string; type: string; ownerId: string }[];
}
interface Tokens {
  accessToken: string;
  refreshToken: string;
  expiresIn: number;
}

let app: TestApp;
beforeAll(async () => {
  app = await startOwnApp();
});
afterAll(() => app.close());

const address = () => `${unique()}@example.test`;
const registration = (providerId: string, more: object = {}) => ({
  provider: 'email',
  providerId,
  providerData: { password },
  ...more,
});

/** The same sign-in, wherever the transport puts it. */
const signInOf = ({ data }: Answer, via: Via) =>
  (via === 'rest' ? data : (data as { signIn: unknown }).signIn) as SignInData;

const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;

const cookieOf = ({ cookies }: Answer) => cookies.find(({ name }) => name === COOKIE);
const withCookie = (value: string, origin: string | null = ORIGIN) => ({
  headers: { cookie: `${COOKIE}=${value}`, ...(origin === null ? {} : { origin }) },
});

const login = (person: { email: string; password: string }, via: Via = 'rest') =>
  app.raw(
    'login',
    { provider: 'email', providerId: person.email, providerData: { password: person.password } },
    { via },
  );
const signedIn = async (person: Person): Promise<SignInData> => {
  const answer = await login(person);
  expect(answer.status).toBe(200);
  return answer.data as SignInData;
};
const refreshed = (tokens: { accessToken: string; refreshToken: string }, via: Via = 'rest') =>
  app.raw('refreshSession', { accessToken: tokens.accessToken, refreshToken: tokens.refreshToken }, { via });
const me = async (token: string, via: Via = 'rest') => app.raw('me', {}, { token, via });

const eventsOf = async (accountId: string) =>
  (
    await app.database.pool
      .select()
      .from(events)
      .where(eq(events.tenantId, accountId))
      .orderBy(events.sequence)
  ).map(({ type }) => type);
const auditOf = (accountId: string) =>
  app.database.pool
    .select()
    .from(auditLog)
    .where(eq(auditLog.tenantId, accountId))
    .orderBy(auditLog.sequence);
const withoutRequestId = (body: string) => body.replace(/"requestId":"[^"]+"/, '');

describe.each(storyTransports(import.meta))('registration over %s', (via) => {
  test('opens a session, sets the cookie and mails a link', async () => {
    const email = address();
    const answer = await app.raw('register', registration(email.toUpperCase(), { locale: 'de' }), { via });
    expect(answer.status).toBe(via === 'rest' ? 201 : 200);
    const signIn = signInOf(answer, via);
    expect(signIn).toMatchObject({
      expiresIn: 900,
      mfaRequired: false,
      emailVerified: false,
      user: { name: email.split('@')[0], email, locale: 'de', pictureUrl: null },
      accounts: [{ type: 'personal', ownerId: signIn.user.id }],
    });
    expect(Date.parse(signIn.emailVerificationDeadline ?? '') - app.clock.now().getTime()).toBeGreaterThan(
      6.9 * DAY,
    );
    expect(cookieOf(answer)).toMatchObject({
      value: signIn.refreshToken,
      httpOnly: true,
      sameSite: 'Lax',
      path: '/',
    });
    expect(cookieOf(answer)?.maxAge).toBeGreaterThan(29 * 86_400);
    expect(await app.mailedToken(email)).toHaveLength(43);
    expect(app.mails.findLast(({ to }) => to === email)).toMatchObject({
      subject: 'Bestätigen Sie Ihre E-Mail-Adresse',
      text: expect.stringContaining(`${ORIGIN}/hosted/verify-email?token=`) as string,
    });
    const accountId = signIn.accounts[0]?.id ?? '';
    expect(await eventsOf(accountId)).toEqual(['user.created', 'session.created']);
    expect((await auditOf(accountId))[0]?.actor).toMatchObject({ type: 'user', userId: signIn.user.id });
  });

  test('writes the claims of a session token', async () => {
    const { accessToken, user } = signInOf(await app.raw('register', registration(address()), { via }), via);
    const claims = claimsOf(accessToken);
    expect(claims).toMatchObject({
      sub: user.id,
      iss: ORIGIN,
      aud: ORIGIN,
      type: 'session',
      acr: 'aal1',
      amr: ['pwd'],
      email_verified: false,
    });
    expect((claims['exp'] as number) - (claims['iat'] as number)).toBe(900);
    expect(Object.keys(claims).sort()).toEqual(
      ['acr', 'amr', 'aud', 'auth_time', 'email_verified', 'exp', 'iat', 'iss', 'jti', 'sub', 'type'].sort(),
    );
  });

  test('takes the name, the type of the account, and ignores what else a provider might send', async () => {
    const input = registration(address(), { type: 'organization', name: '  Ada <b>Lovelace</b> ' });
    const answer = await app.raw('register', input, { via });
    expect(signInOf(answer, via)).toMatchObject({
      user: { name: 'Ada <b>Lovelace</b>' },
      accounts: [{ type: 'organization' }],
    });
    const more = registration(address(), { providerData: { password, nonce: 1, isVerified: true } });
    expect(signInOf(await app.raw('register', more, { via }), via).emailVerified).toBe(false);
  });

  test('tells that an address is taken, however it is written', async () => {
    const { email } = await app.person();
    const answer = await app.raw('register', registration(email.toUpperCase()), { via });
    expect(answer.code).toBe('CONFLICT');
    expect(answer.details).toMatchObject([{ path: 'providerId', code: 'taken' }]);
    expect(cookieOf(answer)).toBeUndefined();
  });

  test.each([
    ['q7#Zp', 'too_short'],
    ['password1234', 'password_too_common'],
    ['doorward doorward', 'password_contains_identity'],
    ['nul in\0the middle', 'not_allowed'],
    ['x'.repeat(129), 'too_long'],
  ])('refuses the password %j', async (bad, code) => {
    const input = registration(address(), { providerData: { password: bad } });
    const answer = await app.raw('register', input, { via });
    expect(answer.code).toBe('VALIDATION_ERROR');
    expect(answer.details).toMatchObject([{ path: 'providerData.password', code }]);
  });

  test('knows no other provider', async () => {
    const input = { ...registration(address()), provider: 'github' };
    for (const name of ['register', 'login']) {
      const answer = await app.raw(name, input, { via });
      expect(answer).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'provider' }] });
    }
  });
});

test('of 20 registrations of one address at once, one wins', { tags: 'race' }, async () => {
  const email = address();
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => app.raw('register', registration(email))),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(19).fill(409)]);
  expect(await app.database.pool.select().from(users).where(eq(users.email, email))).toHaveLength(1);
});

describe.each(storyTransports(import.meta))('verification over %s', (via) => {
  test('marks the address, once', async () => {
    const person = await app.person({ verified: false });
    const token = await app.mailedToken(person.email);
    expect((await app.raw('verifyEmail', { token }, { via })).data).toEqual({ verified: true });
    expect((await me(person.token, via)).data).toMatchObject({
      user: { email: person.email, emailVerified: true, metadata: {} },
      emailVerified: true,
      emailVerificationDeadline: null,
      memberships: [],
      mfa: { enabled: false, verified: false },
      accounts: [{ id: person.account.id }],
    });
    expect(await eventsOf(person.account.id)).toContain('user.email_verified');
    expect((await app.raw('verifyEmail', { token }, { via })).code).toBe('INVALID_TOKEN');
    expect((await app.raw('verifyEmail', { token: 'x'.repeat(43) }, { via })).code).toBe('INVALID_TOKEN');
  });

  test('answers a resend the same for everybody, and mails only whom it concerns', async () => {
    const [open, done] = [await app.person({ verified: false }), await app.person()];
    const first = await app.mailedToken(open.email);
    const before = app.mails.length;
    const answers = [];
    for (const email of [open.email, done.email, address()]) {
      answers.push(await app.raw('resendVerification', { email }, { via }));
    }
    for (const answer of answers) {
      expect(answer.status).toBe(via === 'rest' ? 202 : 200);
      expect(answer.data).toEqual({ accepted: true });
    }
    const second = await app.mailedToken(open.email);
    expect(app.mails.slice(before).map(({ to }) => to)).toEqual([open.email]);
    expect(second).not.toBe(first);
    expect((await app.raw('verifyEmail', { token: first }, { via })).code).toBe('INVALID_TOKEN');
    expect((await app.raw('verifyEmail', { token: second }, { via })).ok).toBe(true);
  });
});

test('a verification link ends with its 24 hours', async () => {
  const { email } = await app.person({ verified: false });
  const token = await app.mailedToken(email);
  app.clock.advance(DAY + MINUTE);
  expect((await app.raw('verifyEmail', { token })).code).toBe('INVALID_TOKEN');
});

test('20 uses of one link at once verify once', { tags: 'race' }, async () => {
  const { email } = await app.person({ verified: false });
  const token = await app.mailedToken(email);
  const answers = await Promise.all(Array.from({ length: 20 }, () => app.raw('verifyEmail', { token })));
  expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
});

test('a claim that nobody verified lapses; whoever verifies the address owns it', async () => {
  const email = address();
  const first = signInOf(await app.raw('register', registration(email)), 'rest');
  app.clock.advance(7 * DAY + MINUTE);
  const overdue = await login({ email, password });
  expect(overdue.code).toBe('EMAIL_VERIFICATION_REQUIRED');
  expect((await login({ email, password: 'wrong' })).code).toBe('UNAUTHENTICATED');
  expect((await refreshed(first)).code).toBe('EMAIL_VERIFICATION_REQUIRED');

  const second = signInOf(await app.raw('register', registration(email)), 'rest');
  expect(second.user.id).not.toBe(first.user.id);
  expect((await app.raw('verifyEmail', { token: await app.mailedToken(email) })).ok).toBe(true);
  const [loser] = await app.database.pool.select().from(users).where(eq(users.id, first.user.id));
  expect(loser?.deletedAt).not.toBeNull();
  expect(await eventsOf(first.accounts[0]?.id ?? '')).toEqual(
    expect.arrayContaining(['user.deleted', 'session.revoked']),
  );
  expect((await refreshed(first)).code).toBe('UNAUTHENTICATED');
  expect(
    await app.database.pool
      .select()
      .from(authenticationMethods)
      .where(and(eq(authenticationMethods.providerId, email), eq(authenticationMethods.provider, 'email'))),
  ).toMatchObject([{ userId: second.user.id, isVerified: true, isPrimary: true }]);
});

test(
  'of several claims on one address that are verified at once, one wins and the others end',
  { tags: 'race' },
  async () => {
    // Without days of grace a claim lapses at once, so that the address can be claimed again.
    const eager = await startOwnApp({ AUTH_VERIFICATION_GRACE_DAYS: '0' });
    try {
      for (let round = 0; round < 5; round++) {
        const email = address();
        const tokens: string[] = [];
        for (let i = 0; i < 3; i++) {
          expect((await eager.raw('register', registration(email))).status).toBe(201);
          tokens.push(await eager.mailedToken(email));
        }
        const answers = await Promise.all([
          ...tokens.map((token) => eager.raw('verifyEmail', { token })),
          eager.raw('resendVerification', { email }),
          eager.raw('register', registration(email)),
        ]);
        const codes = answers.slice(0, 3).map(({ code }) => code);
        expect(codes.sort()).toEqual(['INVALID_TOKEN', 'INVALID_TOKEN', null]);
        const living = await eager.database.pool
          .select()
          .from(users)
          .where(and(eq(users.email, email), isNull(users.deletedAt)));
        expect(living.filter(({ emailVerified }) => emailVerified)).toHaveLength(1);
      }
    } finally {
      await eager.close();
    }
  },
);

describe.each(storyTransports(import.meta))('login over %s', (via) => {
  test('answers a new session', async () => {
    const person = await app.person();
    const answer = await login({ ...person, email: ` ${person.email.toUpperCase()}` }, via);
    const signIn = answer.data as SignInData;
    expect(answer.status).toBe(200);
    expect(signIn).toMatchObject({
      emailVerified: true,
      emailVerificationDeadline: null,
      user: { id: person.userId },
    });
    expect(signIn.accessToken).not.toBe(person.token);
    expect(claimsOf(signIn.accessToken)).toMatchObject({ email_verified: true, sub: person.userId });
    expect(cookieOf(answer)?.value).toBe(signIn.refreshToken);
    expect((await me(signIn.accessToken, via)).ok).toBe(true);
  });

  test('says the same of a wrong password, an unknown address and a disabled user', async () => {
    const [person, disabled] = [await app.person(), await app.person()];
    await app.database.pool.update(users).set({ status: 'disabled' }).where(eq(users.id, disabled.userId));
    const answers = [
      await login({ ...person, password: 'not the password' }, via),
      await login({ email: address(), password: person.password }, via),
      await login({ email: 'no address at all', password: person.password }, via),
      await login(disabled, via),
    ];
    const [first] = answers;
    for (const answer of answers) {
      expect(answer.code).toBe('UNAUTHENTICATED');
      expect(answer.body).toContain('The address or the password is wrong.');
      expect(withoutRequestId(answer.body)).toBe(withoutRequestId(first?.body ?? ''));
      expect(cookieOf(answer)).toBeUndefined();
    }
    expect(await auditOf(person.account.id)).toContainEqual(
      expect.objectContaining({
        operation: 'login',
        outcome: 'failed',
        code: 'UNAUTHENTICATED',
        target: { type: 'User', id: person.userId },
      }),
    );
  });
});

test('a hash made with weaker parameters is replaced at the next sign-in', async () => {
  const person = await app.person();
  const mine = eq(passwords.userId, person.userId);
  const weak = await argon2(person.password, { memoryCost: 1024, timeCost: 1, parallelism: 1 });
  await app.database.pool.update(passwords).set({ hash: weak }).where(mine);
  await signedIn(person);
  const [stored] = await app.database.pool.select().from(passwords).where(mine);
  expect(stored?.hash).toMatch(/m=2048,t=1,p=1/);
  await signedIn(person);
});

test('what fails rolls back as a whole and sets no cookie', async () => {
  const session = await signedIn(await app.person());
  const id = claimsOf(session.accessToken)['jti'] as string;
  await app.owner.execute(sql`alter table audit_log rename to audit_log_away`);
  let failed: Awaited<ReturnType<typeof refreshed>>;
  try {
    failed = await refreshed(session);
  } finally {
    await app.owner.execute(sql`alter table audit_log_away rename to audit_log`);
  }
  expect(failed.status).toBeGreaterThanOrEqual(500);
  expect(cookieOf(failed)).toBeUndefined();
  const [row] = await app.database.pool.select().from(sessions).where(eq(sessions.id, id));
  expect(row?.generation).toBe(0);
  expect((await refreshed(session)).ok).toBe(true);
});

test('at most AUTH_MAX_SESSIONS_PER_USER sessions live; the least recently used one ends', async () => {
  const small = await startOwnApp({ AUTH_MAX_SESSIONS_PER_USER: '2' });
  try {
    const person = await small.person();
    const again = () =>
      small.must('login', {
        provider: 'email',
        providerId: person.email,
        providerData: { password: person.password },
      });
    small.clock.advance(SECOND);
    const second = await again();
    small.clock.advance(SECOND);
    const kept = { accessToken: person.token, refreshToken: person.refreshToken };
    await small.must('refreshSession', kept);
    const third = await again();
    expect((await small.call('me', {}, { token: second.accessToken })).status).toBe(401);
    for (const token of [person.token, third.accessToken]) {
      expect((await small.call('me', {}, { token })).status).toBe(200);
    }
  } finally {
    await small.close();
  }
});

test('a user whose account is gone gets a personal one when he signs in', async () => {
  const person = await app.person({ type: 'organization' });
  await app.database.pool
    .update(accounts)
    .set({ deletedAt: new Date() })
    .where(eq(accounts.ownerId, person.userId));
  expect((await signedIn(person)).accounts).toMatchObject([{ type: 'personal', ownerId: person.userId }]);
});

describe.each(storyTransports(import.meta))('refresh over %s', (via) => {
  test('rotates both tokens and keeps the session', async () => {
    const session = await signedIn(await app.person());
    const answer = await refreshed(session, via);
    const next = answer.data as Tokens;
    expect(answer.status).toBe(200);
    expect(next.refreshToken).not.toBe(session.refreshToken);
    expect(claimsOf(next.accessToken)['jti']).toBe(claimsOf(session.accessToken)['jti']);
    expect(cookieOf(answer)?.value).toBe(next.refreshToken);
    expect((await refreshed(next, via)).ok).toBe(true);
  });

  test('takes an expired access token, which nothing else takes', async () => {
    const session = await signedIn(await app.person());
    app.clock.advance(16 * MINUTE);
    const refused = await me(session.accessToken, via);
    expect(refused.code).toBe('UNAUTHENTICATED');
    expect((await refreshed(session, via)).ok).toBe(true);
  });

  test('answers the same successor for ten seconds', async () => {
    const session = await signedIn(await app.person());
    const first = (await refreshed(session, via)).data as Tokens;
    app.clock.advance(5 * SECOND);
    const retry = (await refreshed(session, via)).data as Tokens;
    expect(retry.refreshToken).toBe(first.refreshToken);
    expect((await me(retry.accessToken, via)).ok).toBe(true);
    expect((await refreshed(first, via)).ok).toBe(true);
  });

  test('ends the family when a replaced token comes back later', async () => {
    const person = await app.person();
    const session = await signedIn(person);
    const next = (await refreshed(session, via)).data as Tokens;
    app.clock.advance(11 * SECOND);
    expect((await refreshed(session, via)).code).toBe('UNAUTHENTICATED');
    expect((await refreshed(next, via)).code).toBe('UNAUTHENTICATED');
    expect((await me(next.accessToken, via)).code).toBe('UNAUTHENTICATED');
    expect(await eventsOf(person.account.id)).toContain('session.reuse_detected');
    // Other sessions of the user are other families.
    expect((await me(person.token, via)).code).toBeNull();
  });

  test('ends the family at once for a token older than the last', async () => {
    const session = await signedIn(await app.person());
    const second = (await refreshed(session, via)).data as Tokens;
    const third = (await refreshed(second, via)).data as Tokens;
    expect((await refreshed(session, via)).code).toBe('UNAUTHENTICATED');
    expect((await refreshed(third, via)).code).toBe('UNAUTHENTICATED');
  });

  test('needs both tokens, of one session', async () => {
    const person = await app.person();
    const [signInData, other] = [await signedIn(person), await signedIn(person)];
    for (const missing of ['accessToken', 'refreshToken'] as const) {
      const { [missing]: _, ...rest } = {
        accessToken: signInData.accessToken,
        refreshToken: signInData.refreshToken,
      };
      const answer = await app.raw('refreshSession', rest, { via });
      expect(answer).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: [{ path: missing, code: 'required' }],
      });
    }
    const mixed = { accessToken: other.accessToken, refreshToken: signInData.refreshToken };
    expect((await refreshed(mixed, via)).code).toBe('UNAUTHENTICATED');
    const { accessToken } = signInData;
    const forged = {
      accessToken: accessToken.slice(0, -3) + (accessToken.endsWith('AAA') ? 'BBA' : 'AAA'),
      refreshToken: signInData.refreshToken,
    };
    expect((await refreshed(forged, via)).code).toBe('UNAUTHENTICATED');
    expect((await refreshed(signInData, via)).ok).toBe(true);
  });

  test('works by cookie alone, from an allowed origin only', async () => {
    const session = await signedIn(await app.person());
    const call = (origin: string | null) =>
      app.raw('refreshSession', {}, { via, ...withCookie(session.refreshToken, origin) });
    expect((await call(null)).code).toBe('ORIGIN_NOT_ALLOWED');
    expect((await call('https://evil.example')).code).toBe('ORIGIN_NOT_ALLOWED');
    const answer = await call(ORIGIN);
    expect(answer.ok).toBe(true);
    expect(cookieOf(answer)?.value).toBe((answer.data as Tokens).refreshToken);
    expect((await app.raw('refreshSession', {}, { via })).code).toBe('UNAUTHENTICATED');
  });

  test('refuses cookie and body of different sessions, and changes neither', async () => {
    const person = await app.person();
    const [signInData, other] = [await signedIn(person), await signedIn(person)];
    const both = { accessToken: signInData.accessToken, refreshToken: signInData.refreshToken };
    const answer = await app.raw('refreshSession', both, { via, ...withCookie(other.refreshToken) });
    expect(answer.code).toBe('VALIDATION_ERROR');
    for (const session of [signInData, other]) {
      const [row] = await app.database.pool
        .select()
        .from(sessions)
        .where(eq(sessions.id, claimsOf(session.accessToken)['jti'] as string));
      expect(row?.generation).toBe(0);
    }
  });

  test('a refusal takes away the cookie of a dead session, not that of a living one', async () => {
    const person = await app.person();
    const [dead, alive] = [await signedIn(person), await signedIn(person)];
    await app.must('logout', {}, { token: dead.accessToken });
    const cleared = await app.raw('refreshSession', {}, { via, ...withCookie(dead.refreshToken) });
    expect(cleared.code).toBe('UNAUTHENTICATED');
    expect(cookieOf(cleared)).toMatchObject({ value: '' });
    const forged = { accessToken: 'a.b.c', refreshToken: alive.refreshToken };
    const kept = await app.raw('refreshSession', forged, { via, ...withCookie(alive.refreshToken) });
    expect(kept.code).toBe('UNAUTHENTICATED');
    expect(cookieOf(kept)).toBeUndefined();
  });
});

test('20 refreshes of one token at once are one lineage', { tags: 'race' }, async () => {
  const session = await signedIn(await app.person());
  const answers = await Promise.all(Array.from({ length: 20 }, () => refreshed(session)));
  expect(answers.map(({ status }) => status)).toEqual(Array<number>(20).fill(200));
  const successors = new Set(answers.map(({ data }) => (data as Tokens).refreshToken));
  expect(successors.size).toBe(1);
  const [row] = await app.database.pool
    .select()
    .from(sessions)
    .where(eq(sessions.id, claimsOf(session.accessToken)['jti'] as string));
  expect(row?.generation).toBe(1);
});

test('a session ends 30 days after sign-in, refreshed or not', async () => {
  let tokens: Tokens = await signedIn(await app.person());
  for (let day = 0; day < 30; day += 10) {
    const answer = await refreshed(tokens);
    expect(answer.status).toBe(200);
    tokens = answer.data as Tokens;
    app.clock.advance(10 * DAY);
  }
  expect((await refreshed(tokens)).code).toBe('UNAUTHENTICATED');
});

test('a session that is not used for AUTH_SESSION_IDLE_DAYS ends', async () => {
  const idle = await startOwnApp({ AUTH_SESSION_IDLE_DAYS: '2' });
  try {
    const { token: accessToken, refreshToken } = await idle.person();
    idle.clock.advance(2 * DAY + SECOND);
    expect((await idle.call('refreshSession', { accessToken, refreshToken })).status).toBe(401);
  } finally {
    await idle.close();
  }
});

test('a disabled user is refused everywhere', async () => {
  const person = await app.person();
  const session = await signedIn(person);
  await app.database.pool.update(users).set({ status: 'disabled' }).where(eq(users.id, person.userId));
  expect((await refreshed(session)).code).toBe('UNAUTHENTICATED');
});

describe.each(storyTransports(import.meta))('logout over %s', (via) => {
  const logout = (input: object, options: object = {}) => app.raw('logout', input, { via, ...options });

  test('by access token: both tokens are refused at once', async () => {
    const person = await app.person();
    const session = await signedIn(person);
    expect((await me(session.accessToken, via)).code).toBeNull();
    const answer = await logout({}, { token: session.accessToken });
    expect(answer.data).toEqual({ revoked: 1 });
    expect(cookieOf(answer)).toMatchObject({ value: '' });
    expect((await me(session.accessToken, via)).code).toBe('UNAUTHENTICATED');
    expect((await refreshed(session, via)).code).toBe('UNAUTHENTICATED');
    expect((await me(person.token, via)).code).toBeNull();
    expect(await eventsOf(person.account.id)).toContain('session.revoked');
  });

  test('by refresh token, and again: nothing is left to end', async () => {
    const session = await signedIn(await app.person());
    expect((await logout({ refreshToken: session.refreshToken })).data).toEqual({ revoked: 1 });
    expect((await logout({ refreshToken: session.refreshToken })).data).toEqual({ revoked: 0 });
    expect((await me(session.accessToken, via)).code).toBe('UNAUTHENTICATED');
  });

  test('by cookie, from an allowed origin only', async () => {
    const session = await signedIn(await app.person());
    const refused = await logout({}, withCookie(session.refreshToken, null));
    expect(refused.code).toBe('ORIGIN_NOT_ALLOWED');
    expect((await me(session.accessToken, via)).code).toBeNull();
    expect((await logout({}, withCookie(session.refreshToken))).data).toEqual({ revoked: 1 });
  });

  test('of all sessions', async () => {
    const person = await app.person();
    const session = await signedIn(person);
    const answer = await logout({ allSessions: true }, { token: session.accessToken });
    expect(answer.data).toEqual({ revoked: 2 });
    expect((await me(person.token, via)).code).toBe('UNAUTHENTICATED');
  });

  test('of nobody is fine', async () => {
    for (const options of [{}, { token: 'nonsense' }]) {
      const answer = await logout({}, options);
      expect(answer).toMatchObject({ status: 200, data: { revoked: 0 } });
    }
  });
});

describe('registration that needs a verified address first', () => {
  let strict: TestApp;
  beforeAll(async () => {
    strict = await startOwnApp({ AUTH_REGISTRATION_MODE: 'verifyFirst' });
  });
  afterAll(() => strict.close());

  test.each(storyTransports(import.meta))(
    'answers the same whether the address is taken or not, over %s',
    async (via) => {
      const email = address();
      const answers = [
        await strict.raw('register', registration(email), { via }),
        await strict.raw('register', registration(email), { via }),
      ];
      await strict.mailedToken(email).catch(() => undefined);
      for (const answer of answers) {
        expect(answer.status).toBe(via === 'rest' ? 202 : 200);
        expect(answer.data).toMatchObject({ verificationRequired: true });
        expect(answer.data).not.toHaveProperty('accessToken');
        expect(answer.cookies).toEqual([]);
      }
      expect(strict.mails.filter(({ to }) => to === email).map(({ subject }) => subject)).toEqual([
        'Verify your e-mail address',
        'You already have an account',
      ]);
    },
  );
});

test('closed registration is refused', async () => {
  const closed = await startOwnApp({ AUTH_REGISTRATION_MODE: 'closed' });
  try {
    for (const via of transports) {
      expect((await closed.raw('register', registration(address()), { via })).code).toBe('FORBIDDEN');
    }
  } finally {
    await closed.close();
  }
});

test('GitHub is not there while it is not configured', async () => {
  for (const input of ['github', 'github/callback?state=x&code=y']) {
    const answer = await app.server.inject(`/api/auth/${input}`);
    expect([answer.statusCode, answer.json<{ code: string }>().code]).toEqual([
      404,
      'PROVIDER_NOT_CONFIGURED',
    ]);
  }
});

describe('limits', () => {
  let limited: TestApp;
  beforeAll(async () => {
    limited = await startOwnApp({
      SECURITY_RATE_LIMIT_AUTH_MAX: '3',
      SECURITY_RATE_LIMIT_MAIL_MAX: '1',
      SECURITY_RATE_LIMIT_REFRESH_MAX: '2',
    });
  });
  afterAll(() => limited.close());

  test('guesses of one account are counted over both transports', async () => {
    const guess = (providerId: string, via: Via) =>
      limited.raw('login', { provider: 'email', providerId, providerData: { password } }, { via });
    const email = address();
    const codes = [];
    for (const via of ['rest', 'graphql', 'rest', 'graphql'] as const)
      codes.push((await guess(email, via)).code);
    expect(codes).toEqual(['UNAUTHENTICATED', 'UNAUTHENTICATED', 'UNAUTHENTICATED', 'RATE_LIMITED']);
    expect((await guess(email.toUpperCase(), 'rest')).code).toBe('RATE_LIMITED');
    expect((await guess(address(), 'rest')).code).toBe('UNAUTHENTICATED');
  });

  test("forged refresh tokens use up nobody else's limit", async () => {
    const [person, other] = [await limited.person(), await limited.person()];
    const forged = `dwr_${'A'.repeat(91)}`;
    const sessionOf = ({ refreshToken }: Person) =>
      Buffer.from(refreshToken.slice(4), 'base64url').subarray(0, 16);
    const named = Buffer.concat([sessionOf(person), Buffer.from(forged.slice(4), 'base64url').subarray(16)]);
    const refresh = (accessToken: string, refreshToken: string) =>
      limited.raw('refreshSession', { accessToken, refreshToken });
    const codes = [];
    for (let i = 0; i < 4; i++) {
      codes.push((await refresh(person.token, `dwr_${named.toString('base64url')}`)).code);
    }
    expect(codes).toEqual(['UNAUTHENTICATED', 'UNAUTHENTICATED', 'RATE_LIMITED', 'RATE_LIMITED']);
    expect((await refresh(person.token, person.refreshToken)).ok).toBe(true);
    expect((await refresh(other.token, other.refreshToken)).ok).toBe(true);
  });

  test(
    'one network may ask only so often whether addresses are taken, and goes on registering',
    { tags: 'independent' },
    async () => {
      const existing = await Promise.all(
        Array.from({ length: 4 }, async () => {
          const email = address();
          await limited.raw('register', registration(email));
          return email;
        }),
      );
      const codes = [];
      for (const email of existing) codes.push((await limited.raw('register', registration(email))).code);
      expect(codes).toEqual(['CONFLICT', 'CONFLICT', 'CONFLICT', null]);
      // From here the answer is the same for a taken and a free address: the mail tells.
      const free = address();
      for (const email of [existing[3] ?? '', free]) {
        const answer = await limited.raw('register', registration(email));
        expect([answer.status, answer.data]).toEqual([202, { verificationRequired: true }]);
      }
      await limited.must('verifyEmail', { token: await limited.mailedToken(free) });
      const { providerData, provider } = registration(free);
      expect((await limited.raw('login', { provider, providerId: free, providerData })).ok).toBe(true);
    },
  );

  test('a resend beyond the limit of the address looks like any other', async () => {
    const email = address();
    const answers = [];
    for (let i = 0; i < 3; i++) answers.push(await limited.raw('resendVerification', { email }));
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
  });
});

test('tokens, hashes and passwords appear in no event, audit entry or log line', async () => {
  const person = await app.person();
  const session = await signedIn(person);
  await refreshed(session);
  await app.must('logout', { allSessions: true }, { token: session.accessToken });
  const written = JSON.stringify([
    await app.database.pool.select().from(events),
    (await app.database.pool.select().from(auditLog)).map(
      ({ hash: _, previousHash: __, personalDigest: ___, salt: ____, ...entry }) => entry,
    ),
    app.logs,
  ]);
  expect(written).not.toMatch(/dwr_|eyJ|argon2|[0-9a-f]{64}/);
  for (const secret of [person.password, password, session.refreshToken])
    expect(written).not.toContain(secret);
});
