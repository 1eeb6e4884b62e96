import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app.ts';
import { transports, unique, type Person, type Via } from '../../../test/support/client.ts';
import { failedAttempts } from '../me/failed-attempts.ts';

const MINUTE = 60_000;
const MAX = 10;
const here = '192.0.2.1';
const elsewhere = '192.0.2.2';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ SECURITY_TRUSTED_PROXIES: '127.0.0.1' });
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
const withoutRequestId = (body: string) => body.replace(/"requestId":"[^"]+"/, '');

describe.each(transports)('too many wrong passwords over %s', (via) => {
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

test('guesses at once are counted one by one', async () => {
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
});
