import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHeard } from '../../src/db/heard.ts';
import { createRevisions } from '../../src/db/revisions.ts';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { transports, unique, type Answer, type Person } from '../support/client.ts';

/** Every mutation answers a revision, and a question that names one is never answered from an older state. */
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

describe.each(transports)('over %s', (via) => {
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

  it('answers one to a change, also to one that changed nothing, and none to a question or a refusal', async () => {
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

  it('answers one to who signs in, and none to who is refused, whether or not something changed', async () => {
    const { email, password } = await app.person();
    const login = { provider: 'email', providerId: email, providerData: { password } } as const;
    const signedIn = await app.call('login', login, { via });
    expect(revisionOf(signedIn)).toMatch(form);
    const { accessToken, refreshToken } = signedIn.data;
    await app.must('refreshSession', { accessToken, refreshToken }, { via });
    app.clock.advance(11_000);
    // Used twice: refused, and the session is ended. A wrong password is written down where the address is known.
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

  it('answers another one to a replay', async () => {
    const input = { scope, name: unique() };
    const key = as({ 'idempotency-key': unique() });
    const first = await app.call('createRole', input, key);
    const again = await app.call('createRole', input, key);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(revisionOf(again)).toMatch(form);
    expect(revisionOf(again)).not.toBe(revisionOf(first));
  });

  it('is taken by a question', async () => {
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

  it('of the future or of another installation is answered as of now', async () => {
    const future = createRevisions(app.app.kek.deriveAll('revision')).seal(Number.MAX_SAFE_INTEGER);
    const foreign = createRevisions([Buffer.alloc(32, 1)]).seal(1);
    for (const revision of [future, foreign]) {
      expect((await ask(revision)).data).toMatchObject({ authorized: true });
    }
    // A database that was restored comes to that transaction one day, and then has to be asked for it.
    expect((await ask(future)).data).toMatchObject({ authorized: true });
  });

  it('costs no statement once it has been heard', async () => {
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

  it('answers one that covers all mutations of a document and of a batch', async () => {
    const opened = createRevisions(app.app.kek.deriveAll('revision'));
    const before = await latest();
    const single = await post(document());
    const one = extensionOf(single);
    expect(headerOf(single)).toBe(one);
    // Two transactions came after `before`; that of the second is told.
    expect(opened.open(one as string)).toBeGreaterThanOrEqual(before + 2);
    const batch = await post([document(), { query: '{ eventTypes { type } }' }, document()]);
    const told = batch.json<{ extensions: { revision: string } }[]>().map((each) => each.extensions.revision);
    expect(new Set(told).size).toBe(1);
    expect(opened.open(told[0] as string)).toBeGreaterThanOrEqual(before + 6);
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

describe('what was heard', () => {
  it('is told by number, and below the oldest that was open then', () => {
    const heard = createHeard();
    heard.add(10);
    expect([9, 10, 11].map((n) => heard.has(n))).toEqual([false, true, false]);
    heard.addBelow(10);
    expect([9, 10, 11].map((n) => heard.has(n))).toEqual([true, true, false]);
    heard.addBelow(3);
    expect(heard.has(9)).toBe(true);
  });

  it('is bounded: what is forgotten counts as not heard', () => {
    const heard = createHeard();
    for (let n = 1; n <= 10_001; n++) heard.add(n);
    expect([heard.has(1), heard.has(2), heard.has(10_001)]).toEqual([false, true, true]);
  });
});

describe('a revision', () => {
  it('opens under a former key, and tells nothing by its look', () => {
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
