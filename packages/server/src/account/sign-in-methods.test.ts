import { and, eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../test/support/app/app.ts';
import { storyTransports } from '../../test/support/cases/breadth.ts';
import { unique } from '../../test/support/app/client.ts';
import { events } from '../schema/events/event.ts';
import { passwords } from '../schema/sign-in/authentication-method.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const email = (providerId = `${unique()}@example.test`) => ({ provider: 'email' as const, providerId });
const HOUR = 3_600_000;

describe.each(storyTransports(import.meta))('sign-in methods over %s', (via) => {
  it('sign in once they are verified', async () => {
    const alice = await app.person();
    const options = { via, token: alice.token };
    const added = await app.must('addMyAuthenticationMethod', email(), options);
    expect(added).toMatchObject({ isVerified: false, isPrimary: false, lastUsedAt: null, provider: 'email' });
    const signIn = { provider: 'email' as const, providerId: added.providerId };
    const providerData = { password: alice.password };
    expect((await app.call('login', { ...signIn, providerData })).code).toBe('UNAUTHENTICATED');
    await app.must('verifyEmail', { token: await app.mailedToken(added.providerId) });
    expect((await app.must('login', { ...signIn, providerData })).user.id).toBe(alice.userId);
    const { items } = await app.must('myAuthenticationMethods', {}, options);
    expect(items.map((item) => [item.providerId, item.isVerified, item.isPrimary])).toEqual([
      [alice.email, true, true],
      [added.providerId, true, false],
    ]);
  });

  it('of others cannot be distinguished from free ones, except by their owner', async () => {
    const [alice, mallory] = [await app.person(), await app.person()];
    const options = { via, token: mallory.token };
    const foreign = await app.must('addMyAuthenticationMethod', email(alice.email), options);
    const free = await app.must('addMyAuthenticationMethod', email(), options);
    expect(Object.keys(foreign)).toEqual(Object.keys(free));
    expect([foreign.isVerified, foreign.isPrimary]).toEqual([free.isVerified, free.isPrimary]);
    await app.app.flushMails();
    const mail = app.mails.findLast(({ to }) => to === alice.email);
    expect(mail?.subject).toBe('Your e-mail address was entered for another account');
    expect(mail?.text).not.toMatch(/token=/);
    const { email: address, password } = alice;
    const signIn = { provider: 'email' as const, providerId: address, providerData: { password } };
    expect((await app.must('login', signIn)).user.id).toBe(alice.userId);
    const theirs = await app.must('myAuthenticationMethods', {}, { via, token: alice.token });
    expect(theirs.items).toHaveLength(1);
    const id = theirs.items[0]?.id ?? '';
    expect((await app.call('removeMyAuthenticationMethod', { id }, options)).code).toBe('NOT_FOUND');
  });

  it('are five at most, each once', { tags: 'race' }, async () => {
    const { token, email: own } = await app.person();
    const options = { via, token };
    const again = await app.call('addMyAuthenticationMethod', email(own), options);
    expect([again.code, again.details[0]?.path]).toEqual(['CONFLICT', 'providerId']);
    for (let count = 1; count < 4; count++) await app.must('addMyAuthenticationMethod', email(), options);
    // Two concurrent calls compete for the last free method.
    const both = await Promise.all([1, 2].map(() => app.call('addMyAuthenticationMethod', email(), options)));
    expect(both.map(({ code }) => code ?? 'ok').sort()).toEqual(['CONFLICT', 'ok']);
    expect((await app.must('myAuthenticationMethods', {}, options)).totalCount).toBe(5);
  });

  it('take a password from a user who has none, and only then', async () => {
    const alice = await app.person();
    const options = { via, token: alice.token };
    const password = `correct horse ${unique()}`;
    const more = { ...email(), providerData: { password } };
    const has = await app.call('addMyAuthenticationMethod', more, options);
    expect(has.details.map(({ path, code }) => [path, code])).toEqual([
      ['providerData.password', 'not_allowed'],
    ]);
    await app.database.pool.delete(passwords).where(eq(passwords.userId, alice.userId));
    const lacks = await app.call('addMyAuthenticationMethod', email(), options);
    expect(lacks.details.map(({ code }) => code)).toEqual(['required']);
    const { providerId } = await app.must('addMyAuthenticationMethod', more, options);
    await app.must('verifyEmail', { token: await app.mailedToken(providerId) });
    const signIn = { provider: 'email' as const, providerId, providerData: { password } };
    expect((await app.must('login', signIn)).user.id).toBe(alice.userId);
  });

  it('are removed, and the address of the user follows the oldest verified one', async () => {
    const alice = await app.person();
    const options = { via, token: alice.token };
    const [first] = (await app.must('myAuthenticationMethods', {}, options)).items;
    const id = first?.id ?? '';
    const [second, third] = [
      await app.must('addMyAuthenticationMethod', email(), options),
      await app.must('addMyAuthenticationMethod', email(), options),
    ];
    const last = await app.call('removeMyAuthenticationMethod', { id }, options);
    expect(last.code).toBe('LAST_SIGN_IN_METHOD');
    await app.must('verifyEmail', { token: await app.mailedToken(third.providerId) });
    expect(await app.must('removeMyAuthenticationMethod', { id }, options)).toMatchObject({ id });
    const { items } = await app.must('myAuthenticationMethods', {}, options);
    expect(items.map((item) => [item.id, item.isPrimary])).toEqual([
      [second.id, false],
      [third.id, true],
    ]);
    const { user } = await app.must('me', {}, options);
    expect([user.email, user.emailVerified]).toEqual([third.providerId, true]);
    const reported = await app.database.pool
      .select()
      .from(events)
      .where(and(eq(events.tenantId, alice.account.id), eq(events.type, 'user.updated')));
    expect(reported.map(({ body }) => body)).toMatchObject([
      { changes: { email: { from: alice.email, to: third.providerId } } },
    ]);
    // A link that was mailed before the removal proves nothing.
    const link = await app.mailedToken(second.providerId);
    await app.must('removeMyAuthenticationMethod', { id: second.id }, options);
    expect((await app.call('verifyEmail', { token: link })).code).toBe('INVALID_TOKEN');
  });

  it('stay with one when two are removed at once', { tags: 'race' }, async () => {
    const alice = await app.person();
    const options = { via, token: alice.token };
    const { providerId } = await app.must('addMyAuthenticationMethod', email(), options);
    await app.must('verifyEmail', { token: await app.mailedToken(providerId) });
    const { items } = await app.must('myAuthenticationMethods', {}, options);
    const answers = await Promise.all(
      items.map(({ id }) => app.call('removeMyAuthenticationMethod', { id }, options)),
    );
    expect(answers.map(({ code }) => code ?? 'ok').sort()).toEqual(['LAST_SIGN_IN_METHOD', 'ok']);
  });

  it('change only for who signed in recently', async () => {
    const { email: providerId, password, token, refreshToken } = await app.person();
    const { items } = await app.must('myAuthenticationMethods', {}, { via, token });
    app.clock.advance(HOUR / 4 + 1000);
    // A refreshed session is as old as its sign-in.
    const { accessToken } = await app.must('refreshSession', { accessToken: token, refreshToken });
    const options = { via, token: accessToken };
    const added = await app.call('addMyAuthenticationMethod', email(), options);
    const removed = await app.call('removeMyAuthenticationMethod', { id: items[0]?.id ?? '' }, options);
    expect([added.code, removed.code]).toEqual(['STEP_UP_REQUIRED', 'STEP_UP_REQUIRED']);
    const signIn = { provider: 'email' as const, providerId, providerData: { password } };
    const recent = await app.must('login', signIn);
    await app.must('addMyAuthenticationMethod', email(), { via, token: recent.accessToken });
  });
});
