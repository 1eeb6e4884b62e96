import type { ChangesClaims, SnapshotClaims } from '@doorward/decision';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { composeDoorward } from '../../src/doorward.ts';
import type { DecisionEvent, SnapshotEvent } from '../../src/contracts/hooks.ts';
import type { Doorward } from '../../src/client/doorward.ts';
import type { LocalOptions } from '../../src/contracts/types.ts';
import { failure, hangUp, silence, success, type Step } from '../support/faulty-server.ts';
import { keyId, projectId, signingServer, userId, type SigningServer } from '../support/signing-server.ts';

/** Packages §8.3: which documents a client believes, and for how long. */

const roleId = '00000000-0000-4000-8000-0000000000a1';
const groupId = '00000000-0000-4000-8000-0000000000a2';
const permissionId = '00000000-0000-4000-8000-0000000000a3';
const resourceId = '00000000-0000-4000-8000-0000000000a4';

let server: SigningServer;
let doorward: Doorward | undefined;
const clock = { ahead: 0, system: 0 };
const snapshots: SnapshotEvent[] = [];
const decisions: DecisionEvent[] = [];
const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown): void => void unhandled.push(reason);

/** Answers of the two operations; the answer to a poll is what a test says next. */
let snapshot: Step;
let changes: Step;

beforeEach(async () => {
  process.on('unhandledRejection', onUnhandled);
  server = await signingServer();
  Object.assign(clock, { ahead: 0, system: 0 });
  snapshots.length = 0;
  decisions.length = 0;
  snapshot = signed(() => snapshotClaims());
  changes = silence;
  server.routes.other = (request, response, message) => {
    if (request.path.startsWith('/api/policy-snapshot/changes')) return changes(request, response, message);
    if (request.path.startsWith('/api/policy-snapshot')) return snapshot(request, response, message);
    // Remote questions: an answer that no policy gives.
    return success({ authorized: false, reason: 'CONDITION_NOT_MET' })(request, response, message);
  };
});
afterEach(async () => {
  doorward?.close();
  doorward = undefined;
  await server.close();
  process.off('unhandledRejection', onUnhandled);
  expect(unhandled.splice(0)).toEqual([]);
});

const common = () => {
  const iat = Math.floor(Date.now() / 1000);
  return {
    ...{
      iss: server.issuer,
      aud: 'doorward-snapshot' as const,
      sub: projectId,
      iat,
      exp: iat + 86_400,
      format: 1 as const,
    },
    ...{ sequence: 10, revision: 'r', asOf: Date.now() },
  };
};

const snapshotClaims = (claims: Partial<SnapshotClaims> = {}): SnapshotClaims => ({
  ...common(),
  version: 'v1',
  scope: { ...server.scope, projectId },
  userFilter: 'all',
  nouns: ['Role'],
  resources: [{ id: resourceId, slug: 'order', isSystem: false }],
  permissions: [
    { id: permissionId, name: 'Read', resourceId, action: 'read', condition: null, createdAt: 1 },
  ],
  groups: [{ id: groupId, name: 'Group', permissionIds: [permissionId] }],
  roles: [{ id: roleId, name: 'Role', groupIds: [groupId] }],
  users: [{ id: userId, roleIds: [roleId] }],
  keys: [],
  apps: [],
  ended: { jti: [], issuedBefore: null, kids: [] },
  ...claims,
});

const changesClaims = (claims: Partial<ChangesClaims> = {}): ChangesClaims => ({
  ...common(),
  ...{ from: 'v1', to: 'v1', full: false, put: {}, drop: {} },
  ended: { jti: [], issuedBefore: null, kids: [] },
  ...claims,
});

type Header = NonNullable<Parameters<SigningServer['sign']>[1]>;

const answer = (response: ServerResponse, text: string) =>
  response.writeHead(200, { 'content-type': 'application/jwt' }).end(text);
const signed =
  (claims: () => object, header: Header = {}, key: 'own' | 'foreign' = 'own'): Step =>
  (_, response) =>
    void server
      .sign(claims(), { typ: 'doorward-snapshot+jwt', ...header }, key)
      .then((text) => answer(response, text));
const signedChanges = (claims: () => object, header: Header = {}, key: 'own' | 'foreign' = 'own'): Step =>
  signed(claims, { typ: 'doorward-changes+jwt', ...header }, key);

async function client(local: LocalOptions = {}, isReady = true): Promise<Doorward> {
  doorward = composeDoorward(
    {
      ...{ url: server.url, scope: server.scope, token: await server.token(), retries: 0, deadlineMs: 5000 },
      local: { maxStalenessMs: 60_000, ...local },
      hooks: {
        onSnapshot: (event) => snapshots.push(event),
        onDecision: (event) => decisions.push(event),
      },
    },
    {
      env: {},
      clock: {
        now: () => Date.now() + clock.system,
        monotonic: () => performance.now() + clock.ahead,
        random: Math.random,
      },
    },
  );
  if (isReady) await doorward.ready();
  return doorward;
}

const isLocal = async (own: Doorward): Promise<boolean> => {
  await own.check({ userId }, 'order:read');
  return decisions.at(-1)?.local === true;
};

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
}

const revoked = { roles: [{ id: roleId, name: 'Role', groupIds: [] }] };

describe('a snapshot', () => {
  it('that is right decides, and nothing is sent for a question', async () => {
    const own = await client();
    const sent = server.received.length;
    expect(await own.check({ userId }, 'order:read')).toMatchObject({ authorized: true, reason: 'ALLOWED' });
    expect(await own.can({ userId: 'unknown' }, 'order:read')).toBe(false);
    expect(decisions.every(({ local }) => local)).toBe(true);
    expect(server.received.slice(sent).filter(({ method }) => method === 'POST')).toEqual([]);
    expect(own.local).toMatchObject({ status: 'fresh', version: 'v1', sequence: 10 });
  });

  it.each<[string, () => Step]>([
    ['SIGNATURE', () => signed(() => snapshotClaims(), {}, 'foreign')],
    ['TYP', () => signed(() => snapshotClaims(), { typ: 'JWT' })],
    ['TYP', () => signedChanges(() => snapshotClaims())],
    ['KID', () => signed(() => snapshotClaims(), { kid: 'unknown' })],
    ['HEADER', () => signed(() => snapshotClaims(), { jku: `${server.url}/evil` })],
    [
      'HEADER',
      () => (_, response) =>
        void answer(
          response,
          `${Buffer.from('{"alg":"none","typ":"doorward-snapshot+jwt","kid":"key-1"}').toString('base64url')}.e30.AAAA`,
        ),
    ],
    ['ISS', () => signed(() => snapshotClaims({ iss: 'https://evil.example' }))],
    ['AUD', () => signed(() => snapshotClaims({ aud: server.url as never }))],
    ['SUB', () => signed(() => snapshotClaims({ sub: userId }))],
    ['FORMAT', () => signed(() => snapshotClaims({ format: 2 as never }))],
    ['EXP', () => signed(() => snapshotClaims({ exp: Math.floor(Date.now() / 1000) - 1 }))],
    ['OLDER_AS_OF', () => signed(() => snapshotClaims({ asOf: Date.now() - 3_600_000 }))],
    ['SHAPE', () => signed(() => snapshotClaims({ users: [{ id: userId, roleIds: ['dangling'] }] }))],
    ['FORM', () => (_, response) => void answer(response, 'no document')],
    ['FORM', () => (_, response) => void answer(response, '')],
    [
      'SIGNATURE',
      () => (_, response) =>
        void server
          .sign(snapshotClaims(), { typ: 'doorward-snapshot+jwt' })
          .then((text) => answer(response, text.slice(0, -20))),
    ],
  ])('is refused: %s', async (why, step) => {
    snapshot = step();
    const own = await client({}, false);
    await until(() => snapshots.length > 0);
    expect(snapshots[0]).toMatchObject({ kind: 'refused', why });
    expect(await isLocal(own)).toBe(false);
    expect(decisions.at(-1)).toMatchObject({ fallback: 'loading', reason: 'CONDITION_NOT_MET' });
    snapshot = signed(() => snapshotClaims());
    await own.ready();
    expect(await isLocal(own)).toBe(true);
  });

  it('that the service refuses switches local decisions off', async () => {
    snapshot = failure(409, 'SNAPSHOT_TOO_LARGE');
    const own = await client({}, false);
    await expect(own.ready()).rejects.toMatchObject({ code: 'SNAPSHOT_TOO_LARGE' });
    expect(own.local?.status).toBe('off');
    expect(await isLocal(own)).toBe(false);
    expect(decisions.at(-1)).toMatchObject({ fallback: 'off' });
  });

  it('that does not fit into the memory switches local decisions off', async () => {
    const users = Array.from({ length: 6000 }, (_, i) => ({
      id: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
      roleIds: [roleId],
    }));
    snapshot = signed(() => snapshotClaims({ users }));
    const own = await client({ maxMemoryMb: 1 }, false);
    await expect(own.ready()).rejects.toMatchObject({ code: 'CONFIG' });
    expect(snapshots.at(-1)).toMatchObject({ kind: 'off', why: 'TOO_LARGE' });
    expect(own.local?.status).toBe('off');
  });

  it('that does not come leaves questions to the service', async () => {
    snapshot = hangUp;
    const own = await client({}, false);
    expect(await isLocal(own)).toBe(false);
    await until(() => snapshots.length > 1);
    expect(snapshots[0]).toMatchObject({ kind: 'failed', why: 'UNREACHABLE' });
    snapshot = signed(() => snapshotClaims());
    await own.ready();
    expect(await isLocal(own)).toBe(true);
  });
});

it('a long Retry-After does not make a client poll without a pause', async () => {
  snapshot = failure(503, 'UNAVAILABLE', { 'retry-after': '2592000' });
  await client({}, false);
  await until(() => snapshots.length > 0);
  await new Promise((resolve) => setTimeout(resolve, 400));
  expect(server.received.filter(({ path }) => path.startsWith('/api/policy-snapshot'))).toHaveLength(1);
});

describe('changes', () => {
  it('take effect', async () => {
    const next = signedChanges(() => changesClaims({ to: 'v2', sequence: 11, put: revoked }));
    changes = (request, response, message) => {
      if (request.path.includes('since=v1')) next(request, response, message);
    };
    const own = await client();
    await until(() => own.local?.version === 'v2');
    expect(await own.check({ userId }, 'order:read')).toEqual({ authorized: false, reason: 'NO_PERMISSION' });
    expect(decisions.at(-1)?.local).toBe(true);
  });

  it.each<[string, (at: number) => Step]>([
    [
      'SIGNATURE',
      () => signedChanges(() => changesClaims({ to: 'v2', sequence: 11, put: revoked }), {}, 'foreign'),
    ],
    ['TYP', () => signed(() => changesClaims({ to: 'v2', sequence: 11, put: revoked }))],
    ['SUB', () => signedChanges(() => changesClaims({ to: 'v2', sequence: 11, put: revoked, sub: userId }))],
    ['NOT_NEXT', () => signedChanges(() => changesClaims({ to: 'v2', sequence: 9, put: revoked }))],
    [
      'NOT_NEXT',
      (at) => signedChanges(() => changesClaims({ to: 'v2', sequence: 11, asOf: at - 30_000, put: revoked })),
    ],
    [
      'NOT_NEXT',
      () => signedChanges(() => changesClaims({ from: 'v0', to: 'v2', sequence: 11, put: revoked })),
    ],
    [
      'SHAPE',
      () =>
        signedChanges(() =>
          changesClaims({
            to: 'v2',
            sequence: 11,
            put: { roles: [{ id: 5 as never, name: '', groupIds: [] }] },
          }),
        ),
    ],
  ])('are refused, and the policy stays: %s', async (why, step) => {
    changes = step(Date.now());
    const own = await client();
    await until(() => snapshots.some(({ kind }) => kind === 'refused'));
    expect(snapshots.find(({ kind }) => kind === 'refused')).toMatchObject({ why });
    expect(own.local?.version).toBe('v1');
    expect(await own.can({ userId }, 'order:read')).toBe(true);
    expect(decisions.at(-1)?.local).toBe(true);
  });

  it('that are full bring a whole snapshot', async () => {
    changes = signedChanges(() => changesClaims({ to: 'v2', sequence: 11, full: true }));
    const own = await client();
    snapshot = signed(() => snapshotClaims({ version: 'v2', sequence: 11, ...revoked }));
    await until(() => own.local?.version === 'v2');
    changes = silence;
    expect(await own.can({ userId }, 'order:read')).toBe(false);
  });
});

describe('staleness', () => {
  it('ends local decisions at its bound, also if the system clock is set back', async () => {
    const own = await client({ maxStalenessMs: 60_000 });
    clock.system = -86_400_000;
    expect(await isLocal(own)).toBe(true);
    clock.ahead = 45_000;
    expect(await isLocal(own)).toBe(true);
    clock.ahead = 60_500;
    expect(await isLocal(own)).toBe(false);
    expect(decisions.at(-1)).toMatchObject({ fallback: 'stale' });
    expect(own.local?.status).toBe('stale');
  });

  it('counts the time in which the machine slept, which the monotonic clock does not', async () => {
    const own = await client();
    clock.system = 3_600_000;
    expect(await isLocal(own)).toBe(false);
    expect(decisions.at(-1)).toMatchObject({ fallback: 'stale' });
    expect(own.local?.ageMs).toBeGreaterThanOrEqual(3_600_000);
  });

  it('ends with an answer to a request that was sent after the sleep, and not before', async () => {
    const waiting: (() => void)[] = [];
    changes = (...call) => void waiting.push(() => signedChanges(() => changesClaims())(...call));
    const own = await client();
    await until(() => waiting.length === 1);
    clock.system = 3_600_000;
    waiting[0]?.();
    await until(() => waiting.length === 2);
    expect(await isLocal(own)).toBe(false);
    waiting[1]?.();
    await until(() => waiting.length === 3);
    expect(await isLocal(own)).toBe(true);
  });

  it('that is short after a sleep does not prolong the life of a key', async () => {
    const expiresAt = Date.now() + 20_000;
    const key = { id: keyId, userId, ofUser: false, roleId: null, expiresAt, allowedCidrs: [] };
    snapshot = signed(() => snapshotClaims({ keys: [key] }));
    const own = await client();
    const token = await server.token();
    expect(await own.verifyToken(token)).toMatchObject({ liveness: 'list' });
    clock.system = 30_000;
    expect(own.local?.status).toBe('fresh');
    expect(await own.verifyToken(token)).toMatchObject({ liveness: 'none' });
  });

  it('is denied if the options say so', async () => {
    const own = await client({ onStale: 'deny' });
    clock.ahead = 61_000;
    expect(await own.check({ userId }, 'order:read')).toEqual({ authorized: false, reason: 'STALE' });
    expect(decisions.at(-1)).toMatchObject({ local: true, reason: 'STALE' });
  });

  it('is not prolonged by an answer that is repeated', async () => {
    let text = '';
    changes = (_, response) => {
      const send = async () => (text ||= await server.sign(changesClaims(), { typ: 'doorward-changes+jwt' }));
      void send().then((repeated) => answer(response, repeated));
    };
    const own = await client();
    await until(() => snapshots.filter(({ kind }) => kind === 'unchanged').length >= 2);
    const before = own.local?.ageMs ?? 0;
    await until(() => snapshots.filter(({ kind }) => kind === 'unchanged').length >= 5);
    expect(own.local?.ageMs).toBeGreaterThan(before);
  });

  it('ends a silent channel, and one that is cut', async () => {
    const own = await client({ maxStalenessMs: 1000 });
    changes = silence;
    await until(async () => !(await isLocal(own)));
    changes = signedChanges(() => changesClaims());
    await until(() => isLocal(own));
    changes = hangUp;
    await until(async () => !(await isLocal(own)));
    changes = signedChanges(() => changesClaims());
    await until(() => isLocal(own));
  });
});

describe('a verified token', () => {
  const key = { id: keyId, userId, ofUser: false, roleId: null, expiresAt: null, allowedCidrs: [] };
  const clientId = 'app';
  const ofApp = () => server.token({ type: 'projectApp', client_id: clientId });

  it('counts as live only while the policy is fresh, and as ended after that too', async () => {
    const ends = { jti: ['ended'], issuedBefore: null, kids: [] };
    snapshot = signed(() => snapshotClaims({ keys: [key], ended: ends }));
    const own = await client();
    const token = await server.token();
    const ended = await server.token({ jti: 'ended' });
    expect(await own.verifyToken(token)).toMatchObject({ liveness: 'list' });
    clock.ahead = 61_000;
    expect(await own.verifyToken(token)).toMatchObject({ liveness: 'none' });
    await expect(own.verifyToken(ended)).rejects.toMatchObject({ code: 'TOKEN_REVOKED' });
  });

  it.each<[string, Partial<SnapshotClaims>, 'key' | 'app', string]>([
    ['a key that has expired', { keys: [{ ...key, expiresAt: 1 }] }, 'key', 'none'],
    ['an app', { apps: [{ clientId, scopes: null, updatedAt: 1 }] }, 'app', 'list'],
    ['a user who is gone', { apps: [{ clientId, scopes: null, updatedAt: 1 }], users: [] }, 'app', 'none'],
  ])('of %s', async (_, claims, type, liveness) => {
    snapshot = signed(() => snapshotClaims(claims));
    const own = await client();
    const token = type === 'key' ? await server.token() : await ofApp();
    expect(await own.verifyToken(token)).toMatchObject({ liveness });
  });
});

describe('a key with networks', () => {
  const allowedCidrs = ['10.0.0.0/8', '2001:db8::/32'];
  const key = { id: keyId, userId, ofUser: false, roleId: null, expiresAt: null, allowedCidrs };
  const [inside, outside] = ['10.1.2.3', '192.0.2.1'];
  const minRevision = 'A'.repeat(22);
  const questions = () => server.received.filter(({ path }) => path.startsWith('/api/auth/')).length;
  const open = async () => {
    snapshot = signed(() => snapshotClaims({ keys: [key] }));
    return { own: await client(), token: await server.token() };
  };

  it('is refused outside of them although the service must decide', async () => {
    const { own, token } = await open();
    const who = [token, await own.verifyToken(token)];
    for (const ahead of [0, 61_000]) {
      clock.ahead = ahead;
      for (const subject of who) {
        for (const address of [outside, '2001:db9::1', '::ffff:192.0.2.1']) {
          const options = { address, minRevision };
          const elsewhere = { address, scope: { tenant: 'account', id: userId } } as const;
          for (const attempt of [
            () => own.check(subject, 'order:read', undefined, options),
            () => own.checkMany(subject, [{ permission: 'order:read' }], options),
            () => own.explain(subject, 'order:read', undefined, options),
            () => own.permissions(subject, options),
            () => own.check(subject, 'order:read', undefined, elsewhere),
          ])
            await expect(attempt()).rejects.toMatchObject({ name: 'TokenError', code: 'TOKEN_REVOKED' });
        }
      }
    }
    expect(questions()).toBe(0);
  });

  it('is left to the service inside of them, and when nothing is known', async () => {
    const { own, token } = await open();
    const ask = (address?: string, who: string = token) =>
      own.check(who, 'order:read', undefined, { address, minRevision });
    await ask(inside);
    await ask('2001:db8::1');
    await ask();
    await ask(outside, await server.token({ jti: 'another' }));
    await ask(outside, await server.token({ iss: server.url }));
    clock.ahead = 86_500_000;
    await ask(outside);
    expect(questions()).toBe(6);
  });
});

describe('a client', () => {
  it('sees its own change although a request names an earlier one', async () => {
    const [earlier, later] = ['A'.repeat(22), 'B'.repeat(22)];
    let revision = earlier;
    const own = await client();
    const { other } = server.routes;
    server.routes.other = (request, response, message) =>
      request.path.startsWith('/api/tags')
        ? success({ id: 'x' }, { 'x-doorward-revision': revision })(request, response, message)
        : other(request, response, message);
    changes = (request, response, message) => {
      if (request.path.includes(earlier)) signedChanges(() => changesClaims())(request, response, message);
    };
    const ask = () => own.check({ userId }, 'order:read', undefined, { minRevision: earlier });
    await own.api.createTag({ name: 'x' });
    await until(async () => (await ask()) && decisions.at(-1)?.local === true);
    revision = later;
    await own.api.createTag({ name: 'y' });
    await ask();
    expect(decisions.at(-1)).toMatchObject({ local: false, fallback: 'ownWrite' });
  });

  it('asks the service after its own change until a poll has answered', async () => {
    const revision = 'A'.repeat(22);
    const own = await client();
    const { other } = server.routes;
    server.routes.other = (request, response, message) =>
      request.path.startsWith('/api/tags')
        ? success({ id: 'x' }, { 'x-doorward-revision': revision })(request, response, message)
        : other(request, response, message);
    await own.api.createTag({ name: 'x' });
    expect(await isLocal(own)).toBe(false);
    expect(decisions.at(-1)).toMatchObject({ fallback: 'ownWrite' });
    const question = server.received.findLast(({ path }) => path === '/api/auth/is-authorized');
    expect(JSON.parse(question?.body ?? '{}')).toMatchObject({ minRevision: revision });
    changes = signedChanges(() => changesClaims());
    await until(() => server.received.some(({ path }) => path.includes(`minRevision=${revision}`)));
    await until(() => snapshots.some(({ kind }) => kind === 'failed' || kind === 'unchanged'));
    await until(() => isLocal(own));
  });

  it('that is closed polls no more', async () => {
    const own = await client();
    own.close();
    const sent = server.received.length;
    await expect(own.check({ userId }, 'order:read')).rejects.toMatchObject({ code: 'ABORTED' });
    expect(server.received.length).toBe(sent);
  });

  it('does not keep a server busy that never waits', async () => {
    changes = signedChanges(() => changesClaims());
    await client();
    const count = () => server.received.filter(({ path }) => path.includes('/changes')).length;
    const startedAt = performance.now();
    await until(() => count() >= 5);
    expect(performance.now() - startedAt).toBeGreaterThan(350);
  });
});
