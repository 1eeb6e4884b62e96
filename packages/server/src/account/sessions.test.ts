import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOwnApp, type TestApp } from '../../test/support/app/app.ts';
import { storyTransports } from '../../test/support/cases/breadth.ts';
import type { Person } from '../../test/support/app/client.ts';
import { auditLog } from '../schema/events/audit-log-entry.ts';
import { events } from '../schema/events/event.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startOwnApp();
});
afterAll(() => app.close());

const signIn = ({ email, password }: Person) =>
  app.must('login', { provider: 'email', providerId: email, providerData: { password } });

describe.each(storyTransports(import.meta))('sessions over %s', (via) => {
  it('are listed for their user alone, the last used first', async () => {
    const [alice, mallory] = [await app.person(), await app.person()];
    app.clock.advance(1000);
    const second = await signIn(alice);
    const options = { via, token: alice.token };
    const page = await app.must('myUserSessions', {}, options);
    expect([page.totalCount, page.hasNextPage, page.nextCursor]).toEqual([2, false, null]);
    expect(page.items.map(({ isCurrent, kind, acr }) => [isCurrent, kind, acr])).toEqual([
      [false, 'browser', 'aal1'],
      [true, 'browser', 'aal1'],
    ]);
    expect(Object.keys(page.items[0] ?? {}).sort()).toEqual(
      'acr authenticatedAt createdAt expiresAt id ipAddress isCurrent kind lastUsedAt organizationId projectAppId ssoProjectId ssoSessionId userAgent'.split(
        ' ',
      ),
    );
    const other = await app.must('myUserSessions', {}, { via, token: second.accessToken });
    expect(other.items.map(({ isCurrent }) => isCurrent)).toEqual([true, false]);
    const none = await app.must('myUserSessions', { kind: 'cli' }, options);
    expect([none.items, none.totalCount]).toEqual([[], 0]);
    const foreign = await app.must('myUserSessions', {}, { via, token: mallory.token });
    const [id = ''] = foreign.items.map((session) => session.id);
    expect((await app.must('myUserSessions', { ids: [id] }, options)).items).toEqual([]);
  });

  it('are paged by a cursor that is good for their user alone', async () => {
    const [alice, mallory] = [await app.person(), await app.person()];
    for (let sign = 0; sign < 2; sign++) {
      app.clock.advance(1000);
      await signIn(alice);
    }
    const options = { via, token: alice.token };
    const all = (await app.must('myUserSessions', {}, options)).items.map(({ id }) => id);
    const first = await app.must('myUserSessions', { limit: 2 }, options);
    const cursor = first.nextCursor ?? '';
    const last = await app.must('myUserSessions', { limit: 2, cursor }, options);
    expect([...first.items, ...last.items].map(({ id }) => id)).toEqual(all);
    const stolen = await app.call('myUserSessions', { limit: 2, cursor }, { via, token: mallory.token });
    expect(stolen.code).toBe('INVALID_CURSOR');
    const both = await app.call('myUserSessions', { page: 1, cursor }, options);
    expect(both.code).toBe('VALIDATION_ERROR');
    const oldest = await app.must('myUserSessions', { sortField: 'createdAt', sortOrder: 'ASC' }, options);
    expect(oldest.items.map(({ id }) => id)).toEqual([...all].reverse());
  });

  it('end at once, with both of their tokens', async () => {
    const alice = await app.person();
    app.clock.advance(1000);
    const second = await signIn(alice);
    const options = { via, token: alice.token };
    const [other] = (await app.must('myUserSessions', {}, options)).items;
    const id = other?.id ?? '';
    const ended = await app.must('revokeMyUserSession', { id }, options);
    expect(ended).toEqual(other);
    expect((await app.call('me', {}, { via, token: second.accessToken })).code).toBe('UNAUTHENTICATED');
    const { accessToken, refreshToken } = second;
    const refreshed = await app.call('refreshSession', { accessToken, refreshToken }, { via });
    expect(refreshed.code).toBe('UNAUTHENTICATED');
    expect((await app.must('myUserSessions', {}, options)).totalCount).toBe(1);
    expect((await app.call('revokeMyUserSession', { id }, options)).code).toBe('NOT_FOUND');

    const reported = await app.database.pool
      .select()
      .from(events)
      .where(eq(events.tenantId, alice.account.id));
    const revoked = reported.filter(({ type }) => type === 'session.revoked').map(({ body }) => body);
    expect(revoked).toMatchObject([{ data: { id }, actor: { id: alice.userId } }]);
    const entries = await app.database.pool
      .select()
      .from(auditLog)
      .where(eq(auditLog.operation, 'revokeMyUserSession'));
    expect(entries.filter(({ tenantId }) => tenantId === alice.account.id)).toHaveLength(1);
  });

  it('of others, ended ones and unknown ones are not found', async () => {
    const [alice, mallory] = [await app.person(), await app.person()];
    const foreign = await app.must('myUserSessions', {}, { via, token: mallory.token });
    const ids = [foreign.items[0]?.id ?? '', '00000000-0000-4000-8000-000000000000'];
    const answers = [];
    for (const id of ids) {
      answers.push(await app.call('revokeMyUserSession', { id }, { via, token: alice.token }));
    }
    expect(answers.map(({ code }) => code)).toEqual(['NOT_FOUND', 'NOT_FOUND']);
    await app.must('me', {}, { via, token: mallory.token });
  });

  it('that expired or idled are not listed', async () => {
    const alice = await app.person();
    const before = await app.must('myUserSessions', {}, { via, token: alice.token });
    app.clock.advance(31 * 24 * 3_600_000);
    const later = await signIn(alice);
    const after = await app.must('myUserSessions', {}, { via, token: later.accessToken });
    expect(after.items.map(({ id }) => id)).not.toContain(before.items[0]?.id);
    expect(after.totalCount).toBe(1);
  });

  it('that end themselves are refused from then on', async () => {
    const alice = await app.person();
    const options = { via, token: alice.token };
    const [own] = (await app.must('myUserSessions', {}, options)).items;
    const ended = await app.must('revokeMyUserSession', { id: own?.id ?? '' }, options);
    expect(ended.isCurrent).toBe(true);
    expect((await app.call('me', {}, options)).code).toBe('UNAUTHENTICATED');
  });
});
