import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDoorward } from '../src/node.ts';
import type { DoorwardOptions } from '../src/contracts/types.ts';
import {
  cut,
  failure,
  faultyServer,
  hangUp,
  json,
  silence,
  stall,
  success,
  type FaultyServer,
  type Step,
} from './support/faulty-server.ts';

/** Packages §4: which calls are repeated after which failures, and how long they wait. */

let server: FaultyServer;
const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
beforeEach(async () => {
  process.on('unhandledRejection', onUnhandled);
  server = await faultyServer();
});
afterEach(async () => {
  await server.close();
  process.off('unhandledRejection', onUnhandled);
  expect(unhandled.splice(0)).toEqual([]);
});

const scope = { tenant: 'organizationProject', id: `${crypto.randomUUID()}:${crypto.randomUUID()}` } as const;
const token = 'eyJhbGciOiJSUzI1NiJ9.e30.c2lnbmF0dXJl';
const client = (options: Partial<DoorwardOptions> = {}) =>
  createDoorward({ url: server.url, token, scope, timeoutMs: 5000, ...options });

const yes = success({ authorized: true, reason: 'ALLOWED' });
const row = success({ id: 'x' });

const calls = {
  'a GET': {
    call: (d) => d.api.roles(),
    answer: success({ items: [], totalCount: 0, hasNextPage: false, nextCursor: null }),
  },
  'a check': { call: (d) => d.check(undefined, 'order:read'), answer: yes },
  'a POST with Idempotency-Key': { call: (d) => d.api.createRole({ name: 'Clerk' }), answer: row },
  'a PATCH': { call: (d) => d.api.updateRole({ id: 'x', name: 'Clerk' }), answer: row },
  'a DELETE': { call: (d) => d.api.deleteRole({ id: 'x' }), answer: row },
  'another POST': { call: (d) => d.api.revokeApiKey({ id: 'x', reason: 'test' }), answer: row },
} satisfies Record<string, { call: (d: ReturnType<typeof client>) => Promise<unknown>; answer: Step }>;

const faults = {
  'a closed connection': hangUp,
  'a body that ends too early': cut,
  silence,
  'a body that stops': stall,
  '429': failure(429, 'RATE_LIMITED', { 'retry-after': '0' }),
  '502 of a proxy': (_, response) =>
    void response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway'),
  '503': failure(503, 'UNAVAILABLE', { 'retry-after': '0' }),
  '504': failure(504, 'UNAVAILABLE', { 'retry-after': '0' }),
} satisfies Record<string, Step>;

describe.each(Object.entries(calls))('%s', (name, { call, answer }) => {
  it.each(Object.entries(faults))('after %s', async (fault, step) => {
    server.script(step, answer);
    const isRepeated = name !== 'another POST' || fault === '429';
    const bounds = step === silence || step === stall ? { timeoutMs: 700 } : {};
    const result = await call(client(bounds)).then(
      () => 'answered',
      () => 'failed',
    );
    expect(result).toBe(isRepeated ? 'answered' : 'failed');
    expect(server.received.length).toBe(isRepeated ? 2 : 1);
  });

  it('after a refused connection', async () => {
    const { url } = server;
    await server.close();
    const retries: unknown[] = [];
    const failed = await call(client({ url, hooks: { onRetry: (event) => retries.push(event) } })).catch(
      (error: unknown) => error,
    );
    expect(failed).toMatchObject({
      name: 'ConnectionError',
      code: 'UNREACHABLE',
      attempts: 3,
      retryable: true,
    });
    expect((failed as Error).message).toContain('ECONNREFUSED');
    expect(retries).toMatchObject([{ attempt: 1, code: 'UNREACHABLE' }, { attempt: 2 }]);
  });

  it.each([400, 401, 403, 404, 409, 500])('not after %i', async (status) => {
    server.script(failure(status, status === 409 ? 'CONFLICT' : 'A_CODE'), answer);
    const failed = await call(client()).catch((error: unknown) => error);
    expect(failed).toMatchObject({ status, attempts: 1, retryable: false, requestId: 'request-1' });
    expect(server.received.length).toBe(1);
  });
});

describe('a repeated call', () => {
  it('has one Idempotency-Key in all attempts, and another one in the next call', async () => {
    server.script(hangUp, row, row);
    const { api } = client();
    await api.createRole({ name: 'Clerk' });
    await api.createRole({ name: 'Clerk' });
    const [first, second, third] = server.received.map(({ headers }) => headers['idempotency-key']);
    expect(first).toMatch(/^[\w-]{36}$/);
    expect(second).toBe(first);
    expect(third).toMatch(/^[\w-]{36}$/);
    expect(third).not.toBe(first);
  });

  it('waits while its first attempt still runs', async () => {
    server.script(silence, failure(409, 'IDEMPOTENCY_IN_PROGRESS', { 'retry-after': '0' }), row);
    expect(await client({ timeoutMs: 700 }).api.createRole({ name: 'Clerk' })).toEqual({ id: 'x' });
    expect(server.received.length).toBe(3);
  });

  it('throws SECRET_LOST if the replay has no secret', async () => {
    const replay = success({ id: 'key-1', clientSecret: null }, { 'idempotency-replayed': 'true' });
    server.script(hangUp, replay);
    const failed = await client()
      .api.createApiKey({ name: 'ci' })
      .catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: 'SECRET_LOST', attempts: 2, entityId: 'key-1', retryable: false });
    expect((failed as { fix: string }).fix).toContain('Rotate');
  });

  it('of DELETE may end in NOT_FOUND, and its attempts tell', async () => {
    server.script(hangUp, failure(404, 'NOT_FOUND'));
    await expect(client().api.deleteRole({ id: 'x' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      attempts: 2,
    });
  });

  it('is not repeated with retries: 0', async () => {
    server.script(hangUp, yes);
    await expect(client({ retries: 0 }).can(undefined, 'order:read')).rejects.toMatchObject({ attempts: 1 });
  });
});

describe('Retry-After', () => {
  it('is waited for, in seconds or as a date', async () => {
    const waits: number[] = [];
    const own = client({ deadlineMs: 5000, hooks: { onRetry: ({ waitMs }) => waits.push(waitMs) } });
    server.script(failure(503, 'UNAVAILABLE', { 'retry-after': '1' }), yes);
    const startedAt = performance.now();
    await own.can(undefined, 'order:read');
    expect(performance.now() - startedAt).toBeGreaterThan(950);
    const date = new Date(Date.now() + 1000).toUTCString();
    server.script(failure(429, 'RATE_LIMITED', { 'retry-after': date }), yes);
    await own.can(undefined, 'order:read');
    expect(waits[0]).toBe(1000);
    expect(waits[1]).toBeLessThanOrEqual(1000);
  });

  it('that is long is thrown at once', async () => {
    server.script(failure(429, 'RATE_LIMITED', { 'retry-after': '60' }));
    const failed = await client()
      .check(undefined, 'order:read')
      .catch((error: unknown) => error);
    expect(failed).toMatchObject({
      code: 'RATE_LIMITED',
      retryAfterMs: 60_000,
      retryable: true,
      attempts: 1,
    });
  });

  it('of weeks does not make a followed feed ask without a pause', async () => {
    const ended = new AbortController();
    const refused = failure(503, 'UNAVAILABLE', { 'retry-after': '2592000' });
    server.script((request, response, message) => {
      refused(request, response, message);
      setTimeout(() => ended.abort(), 300);
    });
    const next = client({ retries: 0 }).api.events.follow({}, { signal: ended.signal }).next();
    await expect(next).rejects.toMatchObject({ code: 'ABORTED' });
    expect(server.received).toHaveLength(1);
  });

  it('beyond the deadline is thrown at once', async () => {
    server.script(failure(503, 'UNAVAILABLE', { 'retry-after': '3' }));
    const failed = await client({ deadlineMs: 1000 })
      .check(undefined, 'order:read')
      .catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: 'UNAVAILABLE', retryAfterMs: 3000, attempts: 1 });
  });
});

it('repetitions are at most a fifth of the calls of ten seconds, but ten', async () => {
  server.script(failure(503, 'UNAVAILABLE', { 'retry-after': '0' }));
  const own = client({ retries: 10 });
  await Promise.allSettled(Array.from({ length: 100 }, () => own.check(undefined, 'order:read')));
  expect(server.received.length).toBe(100 + 20);
});

describe('bounds', () => {
  it('of one attempt and of the whole call', async () => {
    server.script(silence);
    const startedAt = performance.now();
    const failed = await client({ timeoutMs: 150, deadlineMs: 2000, retries: 10 })
      .check(undefined, 'order:read')
      .catch((error: unknown) => error);
    expect(failed).toMatchObject({ name: 'ConnectionError', code: 'TIMEOUT' });
    // Ten repetitions would pause for a quarter of a minute.
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(server.received.length).toBeGreaterThanOrEqual(2);
  });

  it('hold for a fetch that ignores its signal, and for a token that never comes', async () => {
    const deaf = client({ fetch: () => new Promise(() => undefined), deadlineMs: 300 });
    await expect(deaf.check(undefined, 'order:read')).rejects.toMatchObject({ code: 'TIMEOUT' });
    const waiting = client({ token: () => new Promise<string>(() => undefined), deadlineMs: 300 });
    await expect(waiting.check(undefined, 'order:read')).rejects.toMatchObject({
      code: 'TIMEOUT',
      attempts: 0,
    });
  });

  it('of a caller: a signal ends a call before, during and between attempts', async () => {
    server.script(silence);
    const aborted = { name: 'ConnectionError', code: 'ABORTED', retryable: false };
    await expect(
      client().check(undefined, 'order:read', undefined, { signal: AbortSignal.abort() }),
    ).rejects.toMatchObject(aborted);
    const during = AbortSignal.timeout(50);
    await expect(
      client().check(undefined, 'order:read', undefined, { signal: during }),
    ).rejects.toMatchObject(aborted);
    server.script(failure(503, 'UNAVAILABLE', { 'retry-after': '5' }));
    const between = new AbortController();
    const own = client({ hooks: { onRetry: () => between.abort() } });
    await expect(own.api.roles({}, { signal: between.signal })).rejects.toMatchObject(aborted);
  });

  it('of one call: its own timeoutMs', async () => {
    server.script(silence);
    const startedAt = performance.now();
    const own = client({ timeoutMs: 60_000, deadlineMs: 60_000, retries: 0 });
    await expect(own.api.roles({}, { timeoutMs: 100 })).rejects.toMatchObject({ code: 'TIMEOUT' });
    expect(performance.now() - startedAt).toBeLessThan(30_000);
  });
});

describe('answers that are none', () => {
  it.each([
    [
      'a page of a proxy',
      (_: unknown, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
    ],
    ['JSON without an envelope', json(200, { authorized: true })],
    ['an envelope without a decision', success({})],
    ['a decision that is no boolean', success({ authorized: 'yes', reason: 'ALLOWED' })],
    [
      'a redirect',
      (_: unknown, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    ],
    ['an error of something else', json(418, { message: 'teapot' })],
  ] satisfies [string, Step][])('%s', async (_, step) => {
    server.script(step);
    const failed = await client()
      .check(undefined, 'order:read')
      .catch((error: unknown) => error);
    expect(failed).toMatchObject({ name: 'ConnectionError', code: 'BAD_ANSWER' });
    expect(server.received.length).toBe(1);
  });

  it('of a batch with other numbers of items', async () => {
    server.script(success({ items: [{ authorized: true, reason: 'ALLOWED' }] }));
    const questions = [{ permission: 'a:b' }, { permission: 'a:c' }];
    await expect(client().checkMany(undefined, questions)).rejects.toMatchObject({ code: 'BAD_ANSWER' });
  });
});

describe('onUnavailable: deny', () => {
  const denied = { authorized: false, reason: 'UNAVAILABLE' };
  it('refuses while there is no answer', async () => {
    server.script(hangUp);
    const own = client({ onUnavailable: 'deny', retries: 0 });
    expect(await own.check(undefined, 'order:read')).toEqual(denied);
    expect(await own.can(undefined, 'order:read')).toBe(false);
    expect(await own.checkMany(undefined, [{ permission: 'a:b' }, { permission: 'a:c' }])).toEqual([
      denied,
      denied,
    ]);
    await expect(own.assertCan(undefined, 'order:read')).rejects.toMatchObject({
      code: 'FORBIDDEN',
      reason: 'UNAVAILABLE',
    });
    for (const step of [
      failure(503, 'UNAVAILABLE'),
      failure(429, 'RATE_LIMITED'),
      failure(500, 'INTERNAL_ERROR'),
    ]) {
      server.script(step);
      expect(await own.check(undefined, 'order:read')).toEqual(denied);
    }
  });

  it('throws what is no outage', async () => {
    const own = client({ onUnavailable: 'deny', retries: 0 });
    for (const [status, code] of [
      [400, 'VALIDATION_ERROR'],
      [401, 'UNAUTHENTICATED'],
      [403, 'FORBIDDEN'],
    ] as const) {
      server.script(failure(status, code));
      await expect(own.check(undefined, 'order:read')).rejects.toMatchObject({ code });
    }
    server.script(hangUp);
    await expect(own.explain(undefined, 'order:read')).rejects.toMatchObject({ code: 'UNREACHABLE' });
    await expect(own.permissions()).rejects.toMatchObject({ code: 'UNREACHABLE' });
  });
});

it('a followed feed survives outages, repeats nothing, and ends with its signal', async () => {
  const page = (ids: string[], nextCursor: string, hasNextPage = false) =>
    success({
      items: ids.map((id) => ({ id, type: 'role.created' })),
      totalCount: null,
      hasNextPage,
      nextCursor,
    });
  const last = page([], 'c2');
  const ended = new AbortController();
  server.script(
    page(['a', 'b'], 'c1', true),
    hangUp,
    failure(503, 'UNAVAILABLE'),
    page(['c'], 'c2'),
    (request, response, message) => {
      last(request, response, message);
      setTimeout(() => ended.abort(), 50);
    },
  );
  const stream = client({ retries: 0 }).api.events.follow({}, { pollMs: 100, signal: ended.signal });
  const ids: string[] = [];
  const failed = await (async () => {
    for await (const { id } of stream) ids.push(id);
  })().catch((error: unknown) => error);
  expect(ids).toEqual(['a', 'b', 'c']);
  expect(stream.cursor).toBe('c2');
  expect(failed).toMatchObject({ code: 'ABORTED' });
  const afters = server.received.map(({ path }) => new URL(path, server.url).searchParams.get('after'));
  expect(afters.slice(0, 5)).toEqual([null, 'c1', 'c1', 'c1', 'c2']);
});

it('an iterator reads one page ahead at most', async () => {
  let page = 0;
  server.script((request, response, message) => {
    page += 1;
    const data = { items: [{ id: `${page}` }], totalCount: 9, hasNextPage: true, nextCursor: `c${page}` };
    success(data)(request, response, message);
  });
  for await (const { id } of client().api.roles.each()) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(server.received.length).toBeLessThanOrEqual(Number(id) + 1);
    if (id === '3') break;
  }
  expect(server.received.length).toBeLessThanOrEqual(4);
});

it('a closed client sends nothing', async () => {
  const own = client();
  own.close();
  await expect(own.can(undefined, 'order:read')).rejects.toMatchObject({ code: 'ABORTED' });
  expect(server.received).toEqual([]);
});
