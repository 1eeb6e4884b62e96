import { eq, sql } from 'drizzle-orm';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import { unique, type Answer } from '../../../test/support/app/client.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import { events } from '../../schema/events/event.ts';

const MINUTE = 60_000;

interface SignInData {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly emailVerified: boolean;
  readonly user: { readonly id: string; readonly email: string };
  readonly accounts: readonly { readonly id: string; readonly type: string }[];
}

const withoutRequestId = (body: string) => body.replace(/"requestId":"[^"]+"/, '');
const ada = (token: string, more: object = {}) => ({
  token,
  email: 'Ada@Example.test',
  password: 'three lanterns in the harbour',
  name: 'Ada Lovelace',
  ...more,
});

describe.each(storyTransports(import.meta))('the first user over %s', (via) => {
  let app: TestApp;
  beforeEach(async () => {
    app = await startOwnApp();
  });
  afterEach(() => app.close());

  const issued = async (issuer = 'here:4000'): Promise<string> => {
    const token = await app.app.issueFirstUserToken(issuer);
    if (token === null) throw new Error('no token was issued');
    return token;
  };
  const create = (input: object): Promise<Answer> => app.raw('createFirstUser', input, { via });

  test('is verified and signed in, and gets no mail', async () => {
    const token = await issued();
    expect(token).toMatch(/^[\w-]{43}$/);
    const answer = await create(ada(token, { locale: 'fr', type: 'organization' }));
    expect(answer.status).toBe(via === 'rest' ? 201 : 200);
    const signIn = answer.data as SignInData;
    expect(signIn).toMatchObject({
      mfaRequired: false,
      emailVerified: true,
      emailVerificationDeadline: null,
      user: { name: 'Ada Lovelace', email: 'ada@example.test', locale: 'fr' },
      accounts: [{ type: 'organization', ownerId: signIn.user.id }],
    });
    expect(answer.cookies.find(({ name }) => name === 'doorward_refresh')?.value).toBe(signIn.refreshToken);
    await app.app.flushMails();
    expect(app.mails).toEqual([]);

    const me = await app.must('me', {}, { token: signIn.accessToken, via });
    expect(me.user).toMatchObject({ email: 'ada@example.test', emailVerified: true });
    const account = signIn.accounts[0]?.id ?? '';
    const types = await app.database.pool
      .select({ type: events.type })
      .from(events)
      .where(eq(events.tenantId, account))
      .orderBy(events.sequence);
    expect(types.map(({ type }) => type)).toEqual(['user.created', 'session.created']);
    // A verified address may do what an unverified one may not.
    const scope = { tenant: 'account', id: account } as const;
    const made = await app.raw('createOrganization', { scope, name: 'Acme' }, { token: signIn.accessToken });
    expect(made.status).toBe(201);
    const login = {
      provider: 'email',
      providerId: 'ada@example.test',
      providerData: { password: 'three lanterns in the harbour' },
    };
    expect((await app.raw('login', login, { via })).status).toBe(200);
  });

  test('is created once, by default with a personal account', async () => {
    const token = await issued();
    const { accounts } = (await create(ada(token))).data as SignInData;
    expect(accounts).toMatchObject([{ type: 'personal' }]);
    expect((await create(ada(token, { email: 'eve@example.test' }))).code).toBe('INVALID_TOKEN');
    expect(await app.app.issueFirstUserToken('here:4000')).toBeNull();
  });

  test('needs the token: a wrong one is answered alike with and without users', async () => {
    const wrong = () => create(ada('A'.repeat(43)));
    await issued();
    const fresh = await wrong();
    expect(fresh).toMatchObject({ ok: false, code: 'INVALID_TOKEN' });
    await app.person();
    const populated = await wrong();
    expect(withoutRequestId(populated.body)).toBe(withoutRequestId(fresh.body));
    expect(populated.status).toBe(fresh.status);
  });

  test('cannot be created after a registration, and only the holder of the token learns why', async () => {
    const token = await issued();
    await app.person();
    const answer = await create(ada(token));
    expect(answer).toMatchObject({ ok: false, code: 'CONFLICT' });
    expect(answer.body).toContain('has a user already');
    expect(await app.app.issueFirstUserToken('here:4000')).toBeNull();
    // With the start, the token is gone.
    expect((await create(ada(token))).code).toBe('INVALID_TOKEN');
  });

  test('is created although registration is closed', async () => {
    await app.close();
    app = await startOwnApp({ AUTH_REGISTRATION_MODE: 'closed' });
    expect((await create(ada(await issued()))).ok).toBe(true);
  });

  test('may correct a refused password, address and name with the same token', async () => {
    const token = await issued();
    const refused = async (more: object) => {
      const { code, details } = await create(ada(token, more));
      expect(code).toBe('VALIDATION_ERROR');
      return details.map((detail) => [detail.path, detail.code]);
    };
    expect(await refused({ password: 'kqzwvx' })).toEqual([['password', 'too_short']]);
    expect(await refused({ password: 'my ada lovelace 1815' })).toEqual([
      ['password', 'password_contains_identity'],
    ]);
    expect(await refused({ email: 'nowhere' })).toEqual([['email', 'format']]);
    expect(await refused({ name: ' ' })).toEqual([['name', 'too_short']]);
    expect((await create(ada(token))).ok).toBe(true);
  });

  test('has an hour', async () => {
    const token = await issued();
    app.clock.advance(61 * MINUTE);
    expect((await create(ada(token))).code).toBe('INVALID_TOKEN');
  });

  test('needs the token of the last start of a process', async () => {
    const former = await issued();
    const current = await issued();
    expect((await create(ada(former))).code).toBe('INVALID_TOKEN');
    expect((await create(ada(current))).ok).toBe(true);
  });

  test('is created with the token of any process, which ends those of the others', async () => {
    const [here, there] = [await issued('here:4000'), await issued('there:4000')];
    expect((await create(ada(there))).ok).toBe(true);
    expect((await create(ada(here))).code).toBe('INVALID_TOKEN');
  });

  test('leaves the token in no table and no log', async () => {
    const token = await issued();
    const stored = await rowsOf<{ said: string }>(
      app.database.pool,
      sql`select t::text as said from first_user_tokens t`,
    );
    expect(stored).toHaveLength(1);
    expect(stored[0]?.said).toContain('here:4000');
    expect(stored[0]?.said).not.toContain(token);
    const email = `${unique()}@example.test`;
    expect((await create(ada(token, { email }))).ok).toBe(true);
    const audited = await rowsOf<{ said: string }>(
      app.database.pool,
      sql`select (select coalesce(string_agg(a::text, ' '), '') from audit_log a)
        || (select coalesce(string_agg(e::text, ' '), '') from events e) as said`,
    );
    expect(audited[0]?.said).toContain(email);
    expect(audited[0]?.said).not.toContain(token);
    expect(app.logs.join('')).toContain(via === 'rest' ? '/api/auth/first-user' : '/graphql');
    expect(app.logs.join('')).not.toContain(token);
  });
});
