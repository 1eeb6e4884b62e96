import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import { codeShown } from '../../../test/support/sign-in/authenticator.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import { unique, type Person, type Via } from '../../../test/support/app/client.ts';
import { accountFailures, failedAttempts, knownNetworks } from '../../schema/sign-in/failed-attempt.ts';
import { mfaAttempts } from '../../schema/sign-in/mfa-factor.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const MAX = 10;
const MAX_A_DAY = 100;
const here = '192.0.2.1';
const elsewhere = '192.0.2.2';

let app: TestApp;
beforeAll(async () => {
  app = await startOwnApp({ SECURITY_TRUSTED_PROXIES: '127.0.0.1' });
});
afterAll(() => app.close());

const from = (ip: string, more: { via?: Via; token?: string } = {}) => ({
  ...more,
  headers: { 'x-forwarded-for': ip },
});
const login = ({ email }: Person, password: string, ip = here, via: Via = 'rest') =>
  app.raw('login', { provider: 'email', providerId: email, providerData: { password } }, from(ip, { via }));
const change = ({ token }: Person, currentPassword: string, ip = here, via: Via = 'rest') =>
  app.raw(
    'changeMyPassword',
    { currentPassword, newPassword: `another horse ${unique()}` },
    from(ip, { via, token }),
  );
const guess = () => `guess number ${unique()}`;
async function guesses(person: Person, times: number, via: Via = 'rest'): Promise<void> {
  for (let i = 0; i < times; i++) {
    expect((await login(person, guess(), here, via)).code).toBe('UNAUTHENTICATED');
  }
}
const failuresOf = async ({ userId }: Person) =>
  (await app.database.pool.select().from(failedAttempts).where(eq(failedAttempts.userId, userId))).map(
    ({ network, failures }) => [network, failures],
  );
/** Wrong secrets from all over the world, which left no network shut out. */
async function guessedElsewhere({ userId }: Person, times: number): Promise<void> {
  const failedAt = app.clock.now();
  const rows = Array.from({ length: times }, () => ({ id: randomUUID(), userId, failedAt }));
  await app.database.pool.insert(accountFailures).values(rows);
}
const failuresOfDay = ({ userId }: Person) =>
  app.database.pool.$count(accountFailures, eq(accountFailures.userId, userId));
const networksOf = async ({ userId }: Person) =>
  (await app.database.pool.select().from(knownNetworks).where(eq(knownNetworks.userId, userId))).map(
    ({ network }) => network,
  );
/** Enrolled for a second factor; what gives a fresh code, and a wrong one. */
async function enrol({ token }: Person) {
  const { factor, secret } = await app.must('createMfaFactor', {}, { token });
  const shown = () => {
    app.clock.advance(30_000);
    return codeShown(secret, app.clock.now());
  };
  const done = await app.must('verifyMfaFactor', { id: factor.id, code: shown() }, { token });
  const wrong = () => String((Number(shown()) + 1) % 1_000_000).padStart(6, '0');
  return { shown, wrong, recoveryCodes: done.recoveryCodes ?? [] };
}
const withoutRequestId = (body: string) => body.replace(/"requestId":"[^"]+"/, '');

describe.each(storyTransports(import.meta))('too many wrong passwords over %s', (via) => {
  test('shut their network out, and no other, until the window ends', async () => {
    const person = await app.person();
    await guesses(person, MAX - 1, via);
    expect((await login(person, person.password, here, via)).ok).toBe(true);
    await guesses(person, 1, via);
    const wrong = await login(person, guess(), elsewhere, via);
    const shut = await login(person, person.password, here, via);
    expect(shut.code).toBe('UNAUTHENTICATED');
    expect(withoutRequestId(shut.body)).toBe(withoutRequestId(wrong.body));
    expect(shut.status).toBe(wrong.status);
    expect(shut.cookies).toEqual([]);
    expect((await login(person, person.password, elsewhere, via)).ok).toBe(true);
    app.clock.advance(16 * MINUTE);
    expect((await login(person, person.password, here, via)).ok).toBe(true);
  });

  test('are counted across the doors', async () => {
    const person = await app.person();
    await guesses(person, MAX / 2, via);
    for (let i = 0; i < MAX / 2; i++) {
      expect((await change(person, guess(), here, via)).code).toBe('UNAUTHENTICATED');
    }
    expect(await failuresOf(person)).toEqual([[here, MAX]]);
    expect((await login(person, person.password, here, via)).code).toBe('UNAUTHENTICATED');
    expect((await change(person, person.password, here, via)).code).toBe('UNAUTHENTICATED');
    expect((await change(person, person.password, elsewhere, via)).ok).toBe(true);
  });

  test('are forgotten after a reset by mail, and not after a mere request', async () => {
    const person = await app.person();
    await guesses(person, MAX, via);
    await app.raw('requestPasswordReset', { email: person.email }, from(here, { via }));
    expect((await login(person, person.password, here, via)).code).toBe('UNAUTHENTICATED');
    const newPassword = `another horse ${unique()}`;
    const token = await app.mailedToken(person.email);
    expect((await app.raw('resetPassword', { token, newPassword }, from(here, { via }))).ok).toBe(true);
    expect(await failuresOf(person)).toEqual([]);
    expect((await login(person, newPassword, here, via)).ok).toBe(true);
  });
});

describe.each(storyTransports(import.meta))('more than a hundred wrong secrets in a day over %s', (via) => {
  test('leave only networks from which the user signed in', async () => {
    const person = await app.person();
    expect((await login(person, person.password, here, via)).ok).toBe(true);
    await guessedElsewhere(person, MAX_A_DAY - 1);
    await login(person, guess(), '198.51.100.1', via);
    // A hundred are not more than a hundred.
    expect((await login(person, person.password, elsewhere, via)).ok).toBe(true);
    const wrong = await login(person, guess(), '198.51.100.1', via);
    const shut = await login(person, person.password, '198.51.100.2', via);
    expect(shut.code).toBe('UNAUTHENTICATED');
    expect(withoutRequestId(shut.body)).toBe(withoutRequestId(wrong.body));
    expect([shut.status, shut.cookies]).toEqual([wrong.status, []]);
    expect((await change(person, person.password, '198.51.100.2', via)).code).toBe('UNAUTHENTICATED');
    expect(await failuresOfDay(person)).toBe(MAX_A_DAY + 1);
    for (const ip of [here, elsewhere]) expect((await login(person, person.password, ip, via)).ok).toBe(true);
    // Known networks go on counting, and the first rule is as hard with them.
    await guesses(person, MAX, via);
    expect((await login(person, person.password, here, via)).code).toBe('UNAUTHENTICATED');
    app.clock.advance(DAY);
    expect((await login(person, person.password, '198.51.100.2', via)).ok).toBe(true);
  });

  test('are forgotten after a reset by mail', async () => {
    const person = await app.person();
    await guessedElsewhere(person, MAX_A_DAY + 1);
    expect((await login(person, person.password, elsewhere, via)).code).toBe('UNAUTHENTICATED');
    await app.raw('requestPasswordReset', { email: person.email }, from(elsewhere, { via }));
    const newPassword = `another horse ${unique()}`;
    const token = await app.mailedToken(person.email);
    expect((await app.raw('resetPassword', { token, newPassword }, from(elsewhere, { via }))).ok).toBe(true);
    expect(await failuresOfDay(person)).toBe(0);
    expect((await login(person, newPassword, elsewhere, via)).ok).toBe(true);
  });
});

test('wrong codes and wrong passwords are one count', async () => {
  const person = await app.person();
  const { wrong, shown, recoveryCodes } = await enrol(person);
  const as = from(here, { token: person.token });
  await guesses(person, MAX / 2);
  for (let i = 0; i < MAX / 2 - 1; i++) {
    expect((await app.raw('verifyMfa', { code: wrong() }, as)).code).toBe('UNAUTHENTICATED');
  }
  expect((await login(person, person.password)).ok).toBe(true);
  expect((await app.raw('verifyMfa', { recoveryCode: 'aaaaaaaaaa' }, as)).code).toBe('UNAUTHENTICATED');
  expect(await failuresOf(person)).toEqual([[here, MAX]]);
  expect((await login(person, person.password)).code).toBe('UNAUTHENTICATED');
  expect((await login(person, person.password, elsewhere)).ok).toBe(true);
  // The five of the second factor are over sooner than the window of the network that the passwords began.
  await app.database.pool.delete(mfaAttempts).where(eq(mfaAttempts.userId, person.userId));
  for (const input of [{ code: shown() }, { recoveryCode: recoveryCodes[0] }]) {
    expect((await app.raw('verifyMfa', input, as)).code).toBe('UNAUTHENTICATED');
  }
  const asElsewhere = from(elsewhere, { token: person.token });
  expect((await app.raw('verifyMfa', { recoveryCode: recoveryCodes[0] }, asElsewhere)).ok).toBe(true);
});

test('a network is known by whole sign-ins, for thirty days', async () => {
  const person = await app.person();
  const { shown, recoveryCodes } = await enrol(person);
  const [unknown, late] = ['198.51.100.1', '198.51.100.2'];
  const half = await login(person, person.password, unknown);
  const token = (half.data as { accessToken: string }).accessToken;
  expect(await networksOf(person)).toEqual(['127.0.0.1']);
  expect((await app.raw('verifyMfa', { code: shown() }, from(here, { token }))).ok).toBe(true);
  expect(await networksOf(person)).toEqual(['127.0.0.1', here]);
  await guessedElsewhere(person, MAX_A_DAY + 1);
  expect((await login(person, person.password, unknown)).code).toBe('UNAUTHENTICATED');
  const asUnknown = from(unknown, { token });
  const recoveryCode = recoveryCodes[0];
  expect((await app.raw('verifyMfa', { recoveryCode }, asUnknown)).code).toBe('UNAUTHENTICATED');
  expect((await login(person, person.password, here)).ok).toBe(true);
  expect((await app.raw('verifyMfa', { recoveryCode }, from(here, { token }))).ok).toBe(true);

  app.clock.advance(29 * DAY);
  await guessedElsewhere(person, MAX_A_DAY + 1);
  expect((await login(person, person.password, here)).ok).toBe(true);
  app.clock.advance(DAY);
  await guessedElsewhere(person, MAX_A_DAY + 1);
  expect((await login(person, person.password, here)).code).toBe('UNAUTHENTICATED');
  expect((await login(person, person.password, late)).code).toBe('UNAUTHENTICATED');
  await app.purge();
  expect(await networksOf(person)).toEqual([]);
});

test(
  'fifty guesses at once from fifty networks stop at the hundred and first',
  { tags: 'race' },
  async () => {
    const person = await app.person();
    await guessedElsewhere(person, MAX_A_DAY - 20);
    const network = (i: number) => `203.0.113.${i}`;
    const doors = Array.from({ length: 50 }, (_, i) => (i % 2 ? login : change)(person, guess(), network(i)));
    const codes = (await Promise.all(doors)).map(({ code }) => code);
    expect(codes).toEqual(Array(50).fill('UNAUTHENTICATED'));
    expect(await failuresOfDay(person)).toBe(MAX_A_DAY + 1);
    expect(await failuresOf(person)).toHaveLength(21);
  },
);

test('addresses of one IPv6 network are one guesser', { tags: 'race' }, async () => {
  const person = await app.person();
  const inOne = Array.from({ length: MAX }, (_, i) => login(person, guess(), `2001:db8:0:1::${i + 1}`));
  await Promise.all(inOne);
  expect(await failuresOf(person)).toEqual([['2001:db8:0:1::/64', MAX]]);
  expect((await login(person, person.password, '2001:db8:0:1:ffff::1')).code).toBe('UNAUTHENTICATED');
  expect((await login(person, person.password, '2001:db8:0:2::1')).ok).toBe(true);
});

test('guesses at once are counted one by one', { tags: 'race' }, async () => {
  const person = await app.person();
  await Promise.all(Array.from({ length: 8 }, () => login(person, guess())));
  expect(await failuresOf(person)).toEqual([[here, 8]]);
  const doors = Array.from({ length: 20 }, (_, i) => (i % 2 ? login : change)(person, guess()));
  await Promise.all(doors);
  expect(await failuresOf(person)).toEqual([[here, MAX]]);
  expect((await login(person, person.password)).code).toBe('UNAUTHENTICATED');
});

test('the window begins with the first failure, and a new one starts from nothing', async () => {
  const person = await app.person();
  await guesses(person, MAX - 1);
  app.clock.advance(14 * MINUTE);
  await guesses(person, 1);
  expect((await login(person, person.password)).ok).toBe(false);
  app.clock.advance(2 * MINUTE);
  await guesses(person, 1);
  expect(await failuresOf(person)).toEqual([[here, 1]]);
  expect((await login(person, person.password)).ok).toBe(true);
});

test('a new password that is refused tells nothing of the current one, and counts nothing', async () => {
  const person = await app.person();
  const { email: _, token } = person;
  const bodies = [];
  for (const currentPassword of [person.password, guess()]) {
    const input = { currentPassword, newPassword: 'q7#Zp' };
    bodies.push(withoutRequestId((await app.raw('changeMyPassword', input, from(here, { token }))).body));
  }
  expect(bodies[0]).toBe(bodies[1]);
  expect(await failuresOf(person)).toEqual([]);
});

test('what is over is removed', async () => {
  const person = await app.person();
  await guesses(person, 1);
  await app.purge();
  expect(await failuresOf(person)).toEqual([[here, 1]]);
  app.clock.advance(16 * MINUTE);
  await app.purge();
  expect(await failuresOf(person)).toEqual([]);
  expect(await failuresOfDay(person)).toBe(1);
  app.clock.advance(DAY);
  await app.purge();
  expect(await failuresOfDay(person)).toBe(0);
});
