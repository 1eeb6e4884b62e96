import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changesBetween } from '@doorward/decision/changes-between';
import type { ChangesClaims, SnapshotClaims } from '@doorward/decision/snapshot-claims';
import { roleIdOf } from '../../schema/rights/built-in-ids.ts';
import type { ScopeRef } from '../../kernel/scope.ts';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { appToken } from '../../../test/support/sign-in/app-token.ts';
import { unique, type Answer } from '../../../test/support/app/client.ts';
import { firmOf, type Firm } from '../../../test/support/tenants/firm.ts';
import { policyOf, snapshotReader, type Reader } from '../../../test/support/tenants/snapshots.ts';

/** Changes of a policy snapshot: what they say, when a poll is answered, and who may wait (packages §8.1). */
let app: TestApp;
let firm: Firm;
let scope: ScopeRef;
let as: { token: string };
let reader: Reader;

beforeAll(async () => {
  app = await startApp();
  firm = await firmOf(app);
  scope = firm.project;
  as = { token: firm.owner.token };
  reader = snapshotReader(app, scope, firm.owner.token);
  await app.must('createResource', { scope, name: 'Orders', slug: 'orders', createPermissions: true }, as);
});
afterAll(() => app.close());

const viewer = roleIdOf('Project Viewer');
const newUser = () =>
  app.must('createUser', { scope, name: `User ${unique()}`, roleIds: [viewer] }, as).then(({ id }) => id);

/** Far below the 30 seconds of a poll that nothing wakes. A busy machine exceeds shorter limits. */
const limitMs = 10_000;

/** The time of a piece of work in milliseconds, with its result. */
async function timed<T>(work: Promise<T>): Promise<{ readonly ms: number; readonly result: T }> {
  const begin = performance.now();
  const result = await work;
  return { ms: performance.now() - begin, result };
}

const applied = (snapshot: SnapshotClaims, changes: ChangesClaims) => policyOf(snapshot, changes).version;

describe('a difference', () => {
  it('has the rows that changed, whole, and the ids of those that are gone', async () => {
    const [kept, removed] = [await newUser(), await newUser()];
    const before = (await reader.snapshot()).claims;
    await app.must('updateUser', { scope, id: kept, roleIds: [roleIdOf('Project Admin')] }, as);
    await app.must('deleteUser', { scope, id: removed }, as);
    const { header, claims } = await reader.changes(before.version);
    expect(header).toEqual({ alg: 'RS256', typ: 'doorward-changes+jwt', kid: expect.any(String) as string });
    const after = (await reader.snapshot()).claims;
    expect(claims).toMatchObject({
      aud: 'doorward-snapshot',
      sub: before.sub,
      iss: before.iss,
      format: 1,
      from: before.version,
      to: after.version,
      full: false,
      drop: { users: [removed] },
      ended: after.ended,
    });
    expect(claims.put.users).toEqual([{ id: kept, roleIds: [roleIdOf('Project Admin')] }]);
    expect(claims.sequence).toBeGreaterThan(before.sequence);
    expect(claims.asOf).toBeGreaterThanOrEqual(before.asOf);
    expect(applied(before, claims)).toBe(after.version);
  });

  it('covers several versions, however a row changed meanwhile', async () => {
    const before = (await reader.snapshot()).claims;
    const id = await newUser();
    await reader.snapshot();
    await app.must('updateUser', { scope, id, roleIds: [] }, as);
    await reader.snapshot();
    const gone = await newUser();
    await reader.snapshot();
    await app.must('deleteUser', { scope, id: gone }, as);
    const after = (await reader.snapshot()).claims;
    const { claims } = await reader.changes(before.version, { timeoutSeconds: 0 });
    expect([claims.full, claims.to]).toEqual([false, after.version]);
    expect(claims.put.users).toEqual([{ id, roleIds: [] }]);
    expect(policyOf(before, claims).version).toBe(policyOf(after).version);
    expect(changesBetween(before, after).put.users).toEqual(claims.put.users);
  });

  it('is full for a version that the service does not have', async () => {
    const { claims } = await reader.changes('unknown', { timeoutSeconds: 5 });
    expect(claims).toMatchObject({ from: 'unknown', full: true, put: {}, drop: {} });
    expect(claims.to).toBe((await reader.snapshot()).claims.version);
  });

  it('is of the listed users only', async () => {
    const [a, b] = [await newUser(), await newUser()];
    const before = (await reader.snapshot({ users: a })).claims;
    await app.must('updateUser', { scope, id: b, roleIds: [] }, as);
    const same = (await reader.changes(before.version, { users: a, timeoutSeconds: 0 })).claims;
    expect(same.to).toBe(before.version);
    await app.must('updateUser', { scope, id: a, roleIds: [] }, as);
    const other = (await reader.changes(before.version, { users: a, timeoutSeconds: 0 })).claims;
    expect(other.put.users).toEqual([{ id: a, roleIds: [] }]);
  });
});

describe('a poll', () => {
  it('is answered after its time if nothing changed, and says so', async () => {
    const { claims: before } = await reader.snapshot();
    const { ms, result } = await timed(reader.changes(before.version, { timeoutSeconds: 1 }));
    expect(result.claims).toMatchObject({ from: before.version, to: before.version, full: false, put: {} });
    expect(ms).toBeGreaterThan(950);
    expect(ms).toBeLessThan(limitMs);
    expect(result.claims.asOf).toBeGreaterThan(before.asOf);
    expect(result.claims.sequence).toBe(before.sequence);
    expect((await timed(reader.changes(before.version, { timeoutSeconds: 0 }))).ms).toBeLessThan(limitMs);
  });

  it.each([
    ['a role', async () => void (await newUser())],
    [
      'a key',
      async () => {
        await app.must('createApiKey', { scope, roleId: viewer, name: unique() }, as);
      },
    ],
    [
      'an app',
      async () => {
        const redirectUris = ['https://app.example/callback'];
        await app.must('createProjectApp', { scope, name: 'App', redirectUris }, as);
      },
    ],
    [
      'a member of the organization',
      async () => {
        const { organization } = firm;
        const roleIds = [roleIdOf('Organization Viewer')];
        await app.must('createUser', { scope: organization, name: 'Member', roleIds }, as);
      },
    ],
  ])('is answered at once when %s changes', async (_, change) => {
    const { claims } = await reader.snapshot();
    const poll = timed(reader.changes(claims.version, { timeoutSeconds: 30 }));
    await app.call('roles', { scope }, as);
    await change();
    const { ms, result } = await poll;
    expect(result.claims.to).not.toBe(claims.version);
    expect(ms).toBeLessThan(limitMs);
  });

  it('is answered soon after a session of an app has ended', async () => {
    const redirectUri = 'https://app.example/callback';
    const shop = await app.must('createProjectApp', { scope, name: 'Shop', redirectUris: [redirectUri] }, as);
    const user = await firm.member('Organization Viewer');
    const token = await appToken(app, { app: { ...shop, redirectUri }, userId: user.userId });
    const { claims } = await reader.snapshot();
    const poll = reader.changes(claims.version, { timeoutSeconds: 30 });
    await app.call('roles', { scope }, as);
    const begin = performance.now();
    await app.must('revokeProjectToken', { client_id: shop.clientId, token });
    const ended = (await poll).claims;
    expect(performance.now() - begin).toBeLessThan(limitMs);
    const { jti } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
      jti: string;
    };
    expect(claims.ended.jti).not.toContain(jti);
    expect(ended.ended.jti).toContain(jti);
    expect([ended.put, ended.drop]).toEqual([{}, {}]);
  });

  it('is not answered by a change in another project', async () => {
    const { claims } = await reader.snapshot();
    const poll = reader.changes(claims.version, { timeoutSeconds: 1 });
    const other = await app.must('createProject', { scope: firm.organization, name: 'Other' }, as);
    await app.must('createUser', { scope: other.scope, name: 'X', roleIds: [viewer] }, as);
    expect((await poll).claims.to).toBe(claims.version);
  });

  it('contains the change of its minRevision', async () => {
    const { claims } = await reader.snapshot();
    const created = await app.call('createUser', { scope, name: 'R', roleIds: [viewer] }, as);
    const minRevision = String(created.headers['x-doorward-revision']);
    const changed = (await reader.changes(claims.version, { minRevision, timeoutSeconds: 0 })).claims;
    expect(changed.put.users?.map(({ id }) => id)).toEqual([created.data.id]);
    const whole = (await reader.snapshot({ minRevision })).claims;
    expect(whole.users.map(({ id }) => id)).toContain(created.data.id);
  });

  it('takes no connection and no request slot while it waits', { tags: 'race' }, async () => {
    const { claims } = await reader.snapshot();
    const polls = Array.from({ length: 50 }, () => reader.changes(claims.version, { timeoutSeconds: 30 }));
    const { ms } = await timed(app.must('roles', { scope }, as));
    expect(ms).toBeLessThan(limitMs);
    const database = app.app.queues.find(({ name }) => name === 'database');
    expect(database).toMatchObject({ running: 0, waiting: 0 });
    await newUser();
    const versions = new Set((await Promise.all(polls)).map((poll) => poll.claims.to));
    expect([...versions]).toEqual([(await reader.snapshot()).claims.version]);
  });

  it('shares one read and one signature with the others', { tags: 'race' }, async () => {
    const { claims } = await reader.snapshot();
    const polls = Array.from({ length: 20 }, () => reader.changes(claims.version, { timeoutSeconds: 30 }));
    await app.must('roles', { scope }, as);
    const statements = await app.spent(async () => {
      await newUser();
      await Promise.all(polls);
    });
    const reads = statements.filter((text) => text.includes('repeatable read'));
    expect(reads).toHaveLength(1);
    expect(new Set((await Promise.all(polls)).map(({ text }) => text)).size).toBe(1);
  });
});

describe('a caller', () => {
  it.each([
    [
      'lost the right',
      403,
      async (userId: string) => {
        await app.must('updateUser', { scope, id: userId, roleIds: [viewer] }, as);
      },
    ],
    [
      'left',
      403,
      async (userId: string) => {
        await app.must('removeOrganizationMember', { scope: firm.organization, userId }, as);
      },
    ],
  ] as const)('who %s gets %i soon', async (why, status, change) => {
    const person =
      why === 'left'
        ? await firm.member('Organization Developer')
        : await firm.user({}, 'PolicySnapshot:Read');
    const mine = snapshotReader(app, scope, person.token);
    const { claims } = await mine.snapshot({ users: 'none' });
    const poll = mine.raw('/changes', { since: claims.version, users: 'none', timeoutSeconds: '30' });
    await app.must('roles', { scope }, as);
    const { ms } = await timed(change(person.userId));
    const begin = performance.now();
    const answer = await poll;
    expect([answer.status, performance.now() - begin + ms < limitMs]).toEqual([status, true]);
  });

  it('whose key was revoked gets 401 soon', async () => {
    const key = await app.must('createApiKey', { scope, roleId: roleIdOf('Project Admin') }, as);
    const { clientId, clientSecret } = key;
    const { accessToken } = await app.must('exchangeApiKey', {
      clientId,
      clientSecret,
      scope: key.scope,
    } as never);
    const machine = snapshotReader(app, scope, accessToken);
    const { claims } = await machine.snapshot({ users: 'none' });
    const poll = machine.raw('/changes', { since: claims.version, users: 'none', timeoutSeconds: '30' });
    await app.must('roles', { scope }, as);
    await app.must('revokeApiKey', { scope, id: key.id }, as);
    const begin = performance.now();
    const answer = await poll;
    expect([answer.status, answer.code]).toEqual([401, 'UNAUTHENTICATED']);
    expect(performance.now() - begin).toBeLessThan(limitMs);
  });

  it('that is an app gets SESSION_REQUIRED, whatever it holds', async () => {
    const redirectUri = 'https://app.example/callback';
    const scopes = ['PolicySnapshot:Read'];
    const fields = { scope, name: 'Server', redirectUris: [redirectUri] };
    for (const restricted of [scopes, null]) {
      const made = await app.must('createProjectApp', { ...fields, scopes: restricted }, as);
      const target = { app: { ...made, redirectUri }, userId: firm.owner.userId };
      const token = await appToken(app, { ...target, scopes: restricted });
      const asApp = snapshotReader(app, scope, token);
      for (const answer of [await asApp.raw(''), await asApp.raw('/changes', { since: 'v0' })]) {
        expect([answer.status, answer.code]).toEqual([403, 'SESSION_REQUIRED']);
        expect(answer.body).toContain('Use an API key of the project');
      }
    }
  });

  it('has at most 200 waiting polls', { tags: 'independent' }, async () => {
    const person = await firm.member('Organization Admin');
    const other = snapshotReader(app, scope, person.token);
    const { claims } = await reader.snapshot();
    const query = { since: claims.version, timeoutSeconds: '30' };
    const polls = Array.from({ length: 200 }, () => reader.raw('/changes', query));
    await app.must('roles', { scope }, as);
    const refused = await reader.raw('/changes', query);
    expect([refused.status, refused.code, refused.headers['retry-after']]).toEqual([
      429,
      'RATE_LIMITED',
      '1',
    ]);
    const allowed = other.raw('/changes', query);
    expect((await reader.raw('/changes', { ...query, timeoutSeconds: '0' })).status).toBe(200);
    await newUser();
    const statuses = new Set((await Promise.all([...polls, allowed])).map(({ status }) => status));
    expect([...statuses]).toEqual([200]);
    expect((await reader.raw('/changes', { since: 'unknown' })).status).toBe(200);
  });
});

describe('waiting polls', () => {
  const common = { timeoutSeconds: '30', users: 'none' };

  it('of all projects of an owner are at most 1,000', { tags: 'independent' }, async () => {
    const own = await firmOf(app);
    const by = { token: own.owner.token };
    const other = await app.must('createProject', { scope: own.organization, name: 'Other' }, by);
    const readers = await Promise.all(
      Array.from({ length: 6 }, async (_, index) => {
        const at = index % 2 === 0 ? own.project : other.scope;
        const key = await app.must('createApiKey', { scope: at, roleId: roleIdOf('Project Admin') }, by);
        const { clientId, clientSecret } = key;
        const { accessToken } = await app.must('exchangeApiKey', {
          ...{ clientId, clientSecret, scope: key.scope },
        } as never);
        return snapshotReader(app, at, accessToken);
      }),
    );
    const [last, ...others] = await Promise.all(
      readers.map(async (mine) => {
        const query = { ...common, since: (await mine.snapshot({ users: 'none' })).claims.version };
        return () => mine.raw('/changes', query);
      }),
    );
    const polls = others.flatMap((poll) => Array.from({ length: 200 }, poll));
    await app.must('roles', { scope: own.project }, by);
    const refused = await last?.();
    expect([refused?.status, refused?.code, refused?.headers['retry-after']]).toEqual([
      429,
      'RATE_LIMITED',
      '1',
    ]);
    expect(refused?.body).toContain('the projects of an owner have at most 1000 waiting polls');
    const { claims } = await reader.snapshot({ users: 'none' });
    const allowed = reader.raw('/changes', { ...common, timeoutSeconds: '1', since: claims.version });
    expect((await allowed).status).toBe(200);
    for (const at of [own.project, other.scope])
      await app.must('createApiKey', { scope: at, roleId: roleIdOf('Project Viewer') }, by);
    expect(new Set((await Promise.all(polls)).map(({ status }) => status))).toEqual(new Set([200]));
  });

  it('in a process are at most half of its connections', { tags: 'independent' }, async () => {
    const small = await startApp({ MAX_CONNECTIONS: '10' });
    try {
      const own = await small.person();
      const by = { token: own.token };
      const project = await small.must('createProject', { scope: own.account, name: 'P' }, by);
      const mine = snapshotReader(small, project.scope, own.token);
      const query = { since: (await mine.snapshot()).claims.version, timeoutSeconds: '30' };
      const polls = Array.from({ length: 5 }, () => mine.raw('/changes', query));
      await small.must('roles', { scope: project.scope }, by);
      const refused = await mine.raw('/changes', query);
      expect([refused.status, refused.code]).toEqual([429, 'RATE_LIMITED']);
      expect(refused.body).toContain('a process of the service has at most 5 waiting polls');
      await small.must('createApiKey', { scope: project.scope, roleId: viewer }, by);
      expect((await Promise.all(polls)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    } finally {
      await small.close();
    }
  });
});

describe('the limits', () => {
  it('count a snapshot as a hundred checks', async () => {
    const limited = await startApp({ SECURITY_RATE_LIMIT_CHECK_MAX: '250' });
    try {
      const own = await limited.person();
      const project = await limited.must(
        'createProject',
        { scope: own.account, name: 'P' },
        { token: own.token },
      );
      const mine = snapshotReader(limited, project.scope, own.token);
      const statuses: number[] = [];
      for (let count = 0; count < 3; count++) statuses.push((await mine.raw('')).status);
      expect(statuses).toEqual([200, 200, 429]);
    } finally {
      await limited.close();
    }
  });

  it.each([
    [{ since: 'v', timeoutSeconds: '31' }],
    [{ since: 'v', timeoutSeconds: '-1' }],
    [{ since: '' }],
    [{ since: 'a b' }],
    [{}],
    [{ since: 'v'.repeat(65) }],
  ])('refuse %j', async (query) => {
    const answer: Answer = await reader.raw('/changes', query);
    expect([answer.status, answer.code]).toEqual([400, 'VALIDATION_ERROR']);
  });
});
