import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../test/support/app/app.ts';
import { storyTransports } from '../../test/support/cases/breadth.ts';
import { auditLog } from '../schema/events/audit-log-entry.ts';
import { events } from '../schema/events/event.ts';
import { users } from '../schema/people/user.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const reported = async (tenantId: string, type: string) =>
  (await app.database.pool.select().from(events).where(eq(events.tenantId, tenantId)))
    .filter((event) => event.type === type)
    .map(({ body }) => body);
const entries = async (tenantId: string, operation: string) =>
  (await app.database.pool.select().from(auditLog).where(eq(auditLog.tenantId, tenantId))).filter(
    (entry) => entry.operation === operation,
  );

describe.each(storyTransports(import.meta))('updateMe over %s', (via) => {
  it('changes the named fields, and records the changes', async () => {
    const { token, userId, account } = await app.person({ name: 'Ada' });
    const options = { via, token };
    const named = await app.must('updateMe', { name: ' Ada L. ', locale: 'de' }, options);
    expect(named).toMatchObject({ id: userId, name: 'Ada L.', locale: 'de', pictureUrl: null, metadata: {} });
    expect((await app.must('me', {}, options)).user).toEqual(named);
    expect(await reported(account.id, 'user.updated')).toMatchObject([
      {
        data: { id: userId, name: 'Ada L.' },
        changes: { name: { from: 'Ada', to: 'Ada L.' }, locale: { from: null, to: 'de' } },
      },
    ]);
    const cleared = await app.must('updateMe', { locale: null }, options);
    expect([cleared.name, cleared.locale]).toEqual(['Ada L.', null]);
  });

  it('writes nothing when nothing changes', async () => {
    const { token, account } = await app.person({ name: 'Ada' });
    const options = { via, token };
    const before = (await app.must('me', {}, options)).user;
    for (const patch of [{}, { name: 'Ada' }, { locale: null, pictureUrl: null }]) {
      expect(await app.must('updateMe', patch, options)).toEqual(before);
    }
    expect(await reported(account.id, 'user.updated')).toEqual([]);
    expect(await entries(account.id, 'updateMe')).toEqual([]);
  });

  it('removes a picture, and takes none', async () => {
    const { token, userId } = await app.person();
    const pictureUrl = 'https://example.test/ada.png';
    await app.database.pool.update(users).set({ pictureUrl }).where(eq(users.id, userId));
    const refused = await app.call('updateMe', { pictureUrl }, { via, token });
    expect(refused.details.map(({ path, code }) => [path, code])).toEqual([['pictureUrl', 'not_allowed']]);
    expect((await app.must('updateMe', { pictureUrl: null }, { via, token })).pictureUrl).toBeNull();
  });
});

describe.each(storyTransports(import.meta))('createMyAccount over %s', (via) => {
  it('creates the missing account, once', async () => {
    const { token, userId } = await app.person();
    const options = { via, token };
    const { account, accounts } = await app.must('createMyAccount', {}, options);
    expect(account).toMatchObject({ type: 'organization', ownerId: userId });
    expect(accounts.map(({ type }) => type)).toEqual(['personal', 'organization']);
    expect((await app.must('me', {}, options)).accounts).toEqual(accounts);
    for (const input of [{}, { type: 'personal' as const }, { type: 'organization' as const }]) {
      const refused = await app.call('createMyAccount', input, options);
      expect([refused.code, refused.details[0]?.path]).toEqual(['CONFLICT', 'type']);
    }
    const [entry] = await entries(account.id, 'createMyAccount');
    expect(entry).toMatchObject({ event: null, target: { type: 'Account', id: account.id } });
    const scope = { tenant: 'account' as const, id: account.id };
    await app.must('createOrganization', { scope, name: 'Acme' }, options);
  });

  it('creates one of two that are asked for at once', { tags: 'race' }, async () => {
    const { token } = await app.person({ type: 'organization' });
    const answers = await Promise.all([1, 2].map(() => app.call('createMyAccount', {}, { via, token })));
    expect(answers.map(({ code }) => code ?? 'ok').sort()).toEqual(['CONFLICT', 'ok']);
  });
});
