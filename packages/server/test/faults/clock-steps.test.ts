/**
 * The clock of a process jumps by an hour or a day, forward or back, while the clock of the database does not: nothing
 * becomes allowed, no request gets a 500, and what a jump delays continues without waiting for its length.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mails } from '../../src/schema/events/mail.ts';
import { startOwnApp, type TestApp } from '../support/app/app.ts';
import type { Person } from '../support/app/client.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const steps = [
  ['a day ahead', DAY],
  ['a day back', -DAY],
  ...(process.env['CLOCK_STEPS']
    ? ([
        ['an hour ahead', HOUR],
        ['an hour back', -HOUR],
      ] as const)
    : []),
] as const;

let app: TestApp;
beforeAll(async () => {
  app = await startOwnApp({ SECURITY_RATE_LIMIT_EXPORT_MAX: '2', AUTH_LOCKOUT_MAX_FAILURES: '3' });
});
afterAll(() => app.close());

const credentials = ({ email, password }: Person) => ({
  provider: 'email' as const,
  providerId: email,
  providerData: { password },
});
const signIn = async (person: Person) =>
  (await app.must('login', credentials(person))) as { accessToken: string; refreshToken: string };
const guess = (person: Person) =>
  app.raw('login', { ...credentials(person), providerData: { password: 'wrong' } });
const statuses = new Map<number, number>();
const seen = <A extends { status: number; body: string }>(answer: A): A => {
  statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
  expect(answer.status, answer.body).toBeLessThan(500);
  return answer;
};

describe.each(steps)('%s', (_, step) => {
  test('ended sessions and keys stay ended, valid ones work after a new sign-in, and no response is a 500', async () => {
    const ada = await app.person();
    const [kept, ended] = [await signIn(ada), await signIn(ada)];
    const { scope } = await app.must(
      'createProject',
      { scope: ada.account, name: 'P' },
      { token: kept.accessToken },
    );
    const as = { token: kept.accessToken };
    const [live, revoked] = [
      await app.must('createApiKey', { scope, name: 'live' }, as),
      await app.must('createApiKey', { scope, name: 'revoked' }, as),
    ];
    const exchange = async ({ clientId, clientSecret, scope: own }: typeof live) =>
      seen(await app.raw('exchangeApiKey', { clientId, clientSecret: clientSecret ?? '', scope: own }));
    expect((await exchange(live)).status).toBe(200);
    expect((await exchange(revoked)).status).toBe(200);
    await app.must('revokeApiKey', { scope, id: revoked.id }, as);
    await app.must('logout', {}, { token: ended.accessToken });
    const headers = { 'idempotency-key': `step-${step}` };
    const tag = { scope: ada.account, name: 'once' };
    expect((await app.raw('createTag', tag, { ...as, headers })).status).toBe(201);

    app.clock.advance(step);
    expect(seen(await app.raw('me', {}, { token: ended.accessToken })).status).toBe(401);
    expect((await exchange(revoked)).status).toBe(401);
    expect((await exchange(live)).status).toBe(200);
    if (step > 15 * MINUTE) expect(seen(await app.raw('me', {}, as)).status).toBe(401);
    seen(
      await app.raw('refreshSession', { accessToken: ended.accessToken, refreshToken: ended.refreshToken }),
    );
    const { accessToken: token } = await signIn(ada);
    expect(seen(await app.raw('tags', { scope: ada.account }, { token })).status).toBe(200);
    // The same key again: the stored response or a conflict with another tag, but never a second tag.
    seen(await app.raw('createTag', tag, { token, headers }));
    const tags = (await app.must('tags', { scope: ada.account }, { token })).items;
    expect(tags.map(({ name }) => name)).toEqual(['once']);
    const question = { scope: ada.account, permission: { resource: 'Tag', action: 'Create' } };
    expect(await app.must('isAuthorized', question, { token })).toMatchObject({ authorized: true });
    for (const job of [
      app.app.flushMails,
      app.app.flushWebhooks,
      app.app.signAuditLogs,
      app.app.warnOfExpiry,
    ])
      await job();
    await app.purge();
    expect(seen(await app.raw('me', {}, { token })).status).toBe(200);
  });

  test('a used refresh token is not accepted again as a retry', async () => {
    const { refreshToken } = await signIn(await app.person());
    const headers = { cookie: `doorward_refresh=${refreshToken}`, origin: 'http://localhost:4000' };
    const refresh = () => app.raw('refreshSession', {}, { headers });
    expect(seen(await refresh()).status).toBe(200);
    app.clock.advance(step);
    expect(seen(await refresh()).status).toBe(401);
  });

  test('a sign-in before the jump does not count as recent in either process', async () => {
    const { token } = await app.person();
    const attempt = () => app.raw('createMfaFactor', { name: 'phone' }, { token });
    // From now on the token is cached, and its times are not read again.
    expect((await app.raw('me', {}, { token })).status).toBe(200);
    app.clock.advance(step);
    expect(seen(await attempt()).code).toBe(step > 0 ? 'UNAUTHENTICATED' : 'STEP_UP_REQUIRED');
  });

  test('a mail queued before the jump is sent at once', async () => {
    const [id, to] = [randomUUID(), `${step}@example.test`];
    const sealed = app.app.kek.seal(
      JSON.stringify({ to, subject: 's', text: 't', html: 'h' }),
      `mails:${id}`,
    );
    const queued = app.clock.now();
    await app.database.pool.insert(mails).values({ id, sealed, nextAttemptAt: queued, createdAt: queued });
    app.clock.advance(step);
    await app.app.flushMails();
    // The wait is shorter than the longest retry delay of a mail.
    expect(app.mails.filter((mail) => mail.to === to)).toHaveLength(step === -HOUR ? 0 : 1);
  });
});

test('a lock-out written by a fast clock lasts its own length, and rate limits do not follow the jump', async () => {
  const ada = await app.person();
  app.clock.advance(DAY);
  for (let turn = 0; turn < 3; turn++) expect(seen(await guess(ada)).status).toBe(401);
  expect(seen(await app.raw('login', credentials(ada))).status).toBe(401);
  app.clock.advance(-DAY);
  expect(seen(await app.raw('login', credentials(ada))).status).toBe(200);
  for (let turn = 0; turn < 3; turn++) seen(await guess(ada));
  expect(seen(await app.raw('login', credentials(ada))).status).toBe(401);

  const { token } = await app.person();
  const ask = async () => seen(await app.raw('exportMe', {}, { token })).status;
  const first = [await ask(), await ask(), await ask()];
  app.clock.advance(-DAY);
  expect([...first, await ask()]).toEqual([200, 200, 429, 429]);
  process.stdout.write(
    `clock steps (${steps.map(([name]) => name).join(', ')}): nothing allowed that was not, ${[...statuses].map(([status, times]) => `${times} × ${status}`).join(', ')}\n`,
  );
});
