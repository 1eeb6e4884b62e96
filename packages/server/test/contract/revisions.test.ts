import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSeenTransactions } from '../../src/db/cache/seen-transactions.ts';
import { createRevisions } from '../../src/db/cache/revisions.ts';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { startApp, type TestApp } from '../support/app/app.ts';
import { storyTransports } from '../support/cases/breadth.ts';
import { unique, type Answer, type Person } from '../support/app/client.ts';

/** Every mutation returns a revision, and a query with a revision is never answered from an older state. */
let app: TestApp;
let owner: Person;
let scope: ScopeRef;

beforeAll(async () => {
  app = await startApp();
  owner = await app.person();
  ({ scope } = await app.must('createProject', { scope: owner.account, name: 'P' }, { token: owner.token }));
});
afterAll(() => app.close());

const form = /^[\w-]{22}$/;
const headerOf = ({ headers }: Pick<Answer, 'headers'>) => headers['x-doorward-revision'];
const extensionOf = ({ body }: Pick<Answer, 'body'>) =>
  (JSON.parse(body) as { extensions?: { revision: string } }).extensions?.revision;

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const as = (headers = {}) => ({ token: owner.token, via, headers });
  const revisionOf = (answer: Answer) => {
    if (via === 'graphql') expect(extensionOf(answer)).toBe(headerOf(answer));
    return headerOf(answer);
  };
  const ask = (minRevision: unknown) =>
    app.raw(
      'isAuthorized',
      { scope, permission: { resource: 'Role', action: 'Query' }, minRevision },
      { token: owner.token, via },
    );

  it('a change returns one, also without an effect; a query or a refusal returns none', async () => {
    const created = await app.call('createRole', { scope, name: `R${unique()}` }, as());
    expect(revisionOf(created)).toMatch(form);
    const same = { scope, id: created.data.id, name: created.data.name };
    const unchanged = await app.call('updateRole', same, as());
    expect(revisionOf(unchanged)).toMatch(form);
    expect(revisionOf(unchanged)).not.toBe(revisionOf(created));
    const keeping = await app.call('createTag', { scope, name: unique() }, as());
    expect(revisionOf(keeping)).toMatch(form);
    const taken = `r-${unique()}`;
    await app.must('createResource', { scope, name: 'R', slug: taken }, as());
    for (const none of [
      await app.call('roles', { scope }, as()),
      await app.raw('createRole', { scope, name: '' }, as()),
      await app.call('createResource', { scope, name: 'Project', slug: taken }, as()),
    ])
      expect(revisionOf(none)).toBeUndefined();
  });

  it('a successful sign-in returns one; a refused sign-in returns none, whether or not something changed', async () => {
    const { email, password } = await app.person();
    const login = { provider: 'email', providerId: email, providerData: { password } } as const;
    const signedIn = await app.call('login', login, { via });
    expect(revisionOf(signedIn)).toMatch(form);
    const { accessToken, refreshToken } = signedIn.data;
    await app.must('refreshSession', { accessToken, refreshToken }, { via });
    app.clock.advance(11_000);
    // A token used twice is refused and ends the session. A wrong password is recorded where the address is known.
    const reused = await app.call('refreshSession', { accessToken, refreshToken }, { via });
    const wrong = { ...login, providerData: { password: `${password}x` } };
    for (const refused of [
      reused,
      await app.call('login', wrong, { via }),
      await app.call('login', { ...wrong, providerId: `${unique()}@example.test` }, { via }),
    ]) {
      expect(refused.code).toBe('UNAUTHENTICATED');
      expect(revisionOf(refused)).toBeUndefined();
    }
  });

  it('a replay returns a new one', async () => {
    const input = { scope, name: unique() };
    const key = as({ 'idempotency-key': unique() });
    const first = await app.call('createRole', input, key);
    const again = await app.call('createRole', input, key);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(revisionOf(again)).toMatch(form);
    expect(revisionOf(again)).not.toBe(revisionOf(first));
  });

  it('is accepted by a query', async () => {
    const revision = headerOf(await app.call('createRole', { scope, name: unique() }, as()));
    expect((await ask(revision)).data).toMatchObject({ authorized: true, reason: 'ALLOWED' });
  });

  it('is refused when malformed', async () => {
    for (const wrong of ['', 'x', '0'.repeat(23), `${'0'.repeat(21)}=`, '0'.repeat(100_000)]) {
      const answer = await ask(wrong);
      expect([answer.code, answer.details], wrong).toMatchObject([
        'VALIDATION_ERROR',
        [{ path: 'minRevision', code: 'format' }],
      ]);
    }
    for (const wrong of [7, {}, ['x']]) expect((await ask(wrong)).code).toMatch(/VALIDATION/);
  });

  it('of the future or of another installation is answered with the current state', async () => {
    const future = createRevisions(app.app.kek.deriveAll('revision')).seal(Number.MAX_SAFE_INTEGER);
    const foreign = createRevisions([Buffer.alloc(32, 1)]).seal(1);
    for (const revision of [future, foreign]) {
      expect((await ask(revision)).data).toMatchObject({ authorized: true });
    }
    // A restored database reaches that transaction later, and must be read then.
    expect((await ask(future)).data).toMatchObject({ authorized: true });
  });

  it('costs no statement once the transaction was seen', async () => {
    const revision = headerOf(await app.call('createRole', { scope, name: unique() }, as()));
    await ask(revision);
    const spent = await app.spent(async () => {
      for (let n = 0; n < 3; n++) await ask(revision);
    });
    expect(spent).toEqual([]);
  });
});

describe('GraphQL', () => {
  const post = (payload: object) =>
    app.server.inject({
      method: 'POST',
      url: '/graphql',
      headers: { authorization: `Bearer ${owner.token}` },
      payload,
    });
  const document = () => {
    const create = (as: string) => `${as}: createTag(input: $${as}) { id }`;
    return {
      query: `mutation($a: CreateTagInput!, $b: CreateTagInput!) { ${create('a')} ${create('b')} }`,
      variables: { a: { scope, name: unique() }, b: { scope, name: unique() } },
    };
  };
  const latest = async () => {
    const { rows } = (await app.database.pool.execute(sql`select pg_current_xact_id()::text as id`)) as {
      rows: { id: string }[];
    };
    return Number(rows[0]?.id);
  };

  it('returns one that covers all mutations of a document and of a batch', async () => {
    const opened = createRevisions(app.app.kek.deriveAll('revision'));
    const before = await latest();
    const single = await post(document());
    const item = extensionOf(single);
    expect(headerOf(single)).toBe(item);
    // Two transactions followed `before`; the revision has the second one.
    expect(opened.open(item as string)).toBeGreaterThanOrEqual(before + 2);
    const batch = await post([document(), { query: '{ eventTypes { type } }' }, document()]);
    const reported = batch
      .json<{ extensions: { revision: string } }[]>()
      .map((each) => each.extensions.revision);
    expect(new Set(reported).size).toBe(1);
    expect(opened.open(reported[0] as string)).toBeGreaterThanOrEqual(before + 6);
  });
});

it('is exposed to browsers of allowed origins', async () => {
  const answer = await app.server.inject({
    method: 'GET',
    url: '/api/me',
    headers: { origin: 'http://localhost:4000' },
  });
  expect(answer.headers['access-control-expose-headers']).toContain('X-Doorward-Revision');
});

describe('seen transactions', () => {
  it('are known by number, and below the oldest one that was open', () => {
    const seen = createSeenTransactions();
    seen.add(10);
    expect([9, 10, 11].map((n) => seen.has(n))).toEqual([false, true, false]);
    seen.addBelow(10);
    expect([9, 10, 11].map((n) => seen.has(n))).toEqual([true, true, false]);
    seen.addBelow(3);
    expect(seen.has(9)).toBe(true);
  });

  it('are bounded: a forgotten one counts as unseen', () => {
    const seen = createSeenTransactions();
    for (let n = 1; n <= 10_001; n++) seen.add(n);
    expect([seen.has(1), seen.has(2), seen.has(10_001)]).toEqual([false, true, true]);
  });
});

describe('a revision', () => {
  it('can be decrypted with a former key, and is opaque', () => {
    const [former, current] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const before = createRevisions([former]);
    const after = createRevisions([current, former]);
    expect(after.open(before.seal(77))).toBe(77);
    expect(after.open(after.seal(2 ** 40))).toBe(2 ** 40);
    expect(before.open(after.seal(77))).toBeNull();
    const [a, b] = [before.seal(1), before.seal(2)];
    expect([...a].filter((letter, at) => letter === b[at]).length).toBeLessThan(8);
    expect(before.open('short')).toBeNull();
  });
});
