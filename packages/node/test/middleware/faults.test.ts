import { request as httpRequest, type RequestListener } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { ApiError } from '../../src/contracts/errors.ts';
import type { DoorwardOptions } from '../../src/contracts/types.ts';
import { clientOf } from './support/client.ts';
import { faultyNetwork, type FaultyNetwork } from './support/faulty-network.ts';
import { frameworks } from './support/frameworks.ts';
import type { GuardedServer, StartServer } from './support/servers.ts';
import { openShop, type Shop } from './support/shop.ts';

/** Packages §7 when the service, the network or the caller fails: the route never runs, and the answer comes in time. */

let shop: Shop;
let network: FaultyNetwork;
const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown): void => void unhandled.push(reason);

beforeAll(async () => {
  process.on('unhandledRejection', onUnhandled);
  shop = await openShop();
  network = await faultyNetwork();
});
afterEach(() => network.repair());
afterAll(async () => {
  await network.close();
  await shop.close();
  process.off('unhandledRejection', onUnhandled);
  expect(unhandled).toEqual([]);
});

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const refusal = (status: number, code: string, headers = {}): RequestListener =>
  json(status, { error: 'No.', code, requestId: 'request-1' }, headers);

interface Outage {
  readonly title: string;
  readonly breakNetwork: () => void | Promise<void>;
  readonly retryAfter: string;
}

const outages: readonly Outage[] = [
  { title: 'no connection', breakNetwork: () => network.refuse(), retryAfter: '5' },
  { title: 'silence', breakNetwork: () => network.answer(() => undefined), retryAfter: '5' },
  {
    title: 'a closed connection',
    breakNetwork: () => network.answer(({ socket }) => void socket.destroy()),
    retryAfter: '5',
  },
  {
    title: 'another service',
    breakNetwork: () => network.answer(json(200, { authorized: true })),
    retryAfter: '5',
  },
  {
    title: 'an answer that is no decision',
    breakNetwork: () => network.answer(json(200, { success: true, data: { authorized: 'yes' } })),
    retryAfter: '5',
  },
  {
    title: 'an overloaded service',
    breakNetwork: () => network.answer(refusal(503, 'UNAVAILABLE', { 'retry-after': '42' })),
    retryAfter: '42',
  },
  {
    title: 'too many questions',
    breakNetwork: () => network.answer(refusal(429, 'RATE_LIMITED', { 'retry-after': '7' })),
    retryAfter: '7',
  },
];

const bounds: DoorwardOptions = { timeoutMs: 300, deadlineMs: 1000, retries: 1, maxRetryAfterMs: 100 };

describe.each(frameworks)('%s', (_name, start) => {
  let server: GuardedServer;
  beforeAll(async () => {
    server = await open(start);
    // From now on its client holds the keys of the project.
    await answersSoon(server);
  });
  afterEach(() => {
    server.ran.length = 0;
    server.errors.length = 0;
  });
  afterAll(() => server.close());

  it.each(outages)('$title: 503 in bounded time', async ({ breakNetwork, retryAfter }) => {
    server.ran.length = 0;
    await breakNetwork();
    const startedAt = performance.now();
    const response = await read(server);
    expect(performance.now() - startedAt).toBeLessThan(30_000);
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe(retryAfter);
    expect(await response.json()).toEqual({
      error: 'Temporarily not available.',
      code: 'UNAVAILABLE',
      requestId: expect.any(String) as string,
    });
    expect(server.ran).toEqual([]);
    expect(server.errors).toEqual([]);
  });

  it('answers 503 to a burst during an outage, and works again after it', async () => {
    server.ran.length = 0;
    await network.refuse();
    const answers = await Promise.all(Array.from({ length: 200 }, () => read(server)));
    expect([...new Set(answers.map(({ status }) => status))]).toEqual([503]);
    await Promise.all(answers.map((answer) => answer.text()));
    expect(server.ran).toEqual([]);
    network.repair();
    await answersSoon(server);
  });

  it('asks no more for a caller who has gone, and does not run the route', async () => {
    server.ran.length = 0;
    let arrived = (): void => undefined;
    const arrival = new Promise<void>((resolve) => (arrived = resolve));
    network.answer(() => arrived());
    const before = network.closedByClient();
    const request = httpRequest(`${server.url}/orders/1`, { headers: bearer(shop.tokens.clerk) });
    request.on('error', () => undefined).end();
    await arrival;
    request.destroy();
    await vi.waitFor(() => expect(network.closedByClient()).toBe(before + 1), {
      interval: 5,
      timeout: 20_000,
    });
    expect(server.ran).toEqual([]);
    expect(server.errors).toEqual([]);
  });

  it('gives a question that the application may not ask to the error path', async () => {
    network.answer(refusal(403, 'FORBIDDEN'));
    const headers = { 'x-user': shop.owner.userId };
    const response = await fetch(`${server.url}/user`, { headers });
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({ failed: true });
    const [error] = server.errors as [Error];
    expect(error.message).toBe('The guard of this route could not decide: FORBIDDEN.');
    expect(error.cause).toBeInstanceOf(ApiError);
    expect(error).not.toHaveProperty('status');
    expect(server.ran).toEqual([]);
  });

  it('passes on what the service requires of the caller', async () => {
    network.answer(refusal(403, 'MFA_REQUIRED'));
    const response = await read(server);
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ code: 'MFA_REQUIRED', error: 'No.' });
  });
});

describe('a client', () => {
  it('that refuses during an outage: 503 too, since nothing was decided', async () => {
    const server = await open(frameworks[0]?.[1] as StartServer, { onUnavailable: 'deny' });
    await answersSoon(server);
    await network.refuse();
    const response = await read(server);
    expect(response.status).toBe(503);
    expect(await response.json()).not.toHaveProperty('reason');
    await server.close();
  });

  it('without the keys of the project, which cannot be read: 503', async () => {
    const server = await open(frameworks[0]?.[1] as StartServer);
    await network.refuse();
    const response = await fetch(`${server.url}/me`, { headers: bearer(shop.tokens.clerk) });
    expect(response.status).toBe(503);
    await server.close();
  });
});

it('answers 401 when the key of a token was revoked', async () => {
  const server = await open(frameworks[0]?.[1] as StartServer);
  await answersSoon(server);
  server.ran.length = 0;
  await shop.app.must(
    'revokeApiKey',
    { scope: shop.scope, id: shop.clerkKeyId },
    { token: shop.owner.token },
  );
  const response = await read(server);
  expect(response.status).toBe(401);
  expect(response.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"');
  expect(server.ran).toEqual([]);
  await server.close();
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const read = (server: GuardedServer): Promise<Response> =>
  fetch(`${server.url}/orders/1`, { headers: bearer(shop.tokens.clerk) });
/** The service itself may be slower than the client waits, on a busy machine. */
const answersSoon = (server: GuardedServer): Promise<void> =>
  vi.waitFor(async () => expect((await read(server)).status).toBe(200), { timeout: 60_000, interval: 50 });
const open = (start: StartServer, options: DoorwardOptions = {}): Promise<GuardedServer> =>
  start(clientOf(shop, { fetch: network.fetch, ...bounds, ...options }), async () => undefined);
