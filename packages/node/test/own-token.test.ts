import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { composeDoorward } from '../src/doorward.ts';
import type { DoorwardOptions } from '../src/contracts/types.ts';
import { failure, hangUp, success, type Step } from './support/faulty-server.ts';
import { signingServer, type SigningServer } from './support/signing-server.ts';

/** Packages §2: how the token of a key is exchanged, renewed and dropped, and that no secret is shown. */

let server: SigningServer;
const clock = { ahead: 0 };
const clientId = '00000000-0000-4000-8000-00000000000a';
/** With a valid checksum. */
const clientSecret = `dwk_${'A'.repeat(46)}4dFg1D`;

let exchange: Step;
let question: Step;
let tokens: string[];
const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown): void => void unhandled.push(reason);

beforeEach(async () => {
  process.on('unhandledRejection', onUnhandled);
  server = await signingServer();
  clock.ahead = 0;
  tokens = [];
  exchange = (request, response, message) =>
    void server.token({ jti: `token-${tokens.length}` }).then((accessToken) => {
      tokens.push(accessToken);
      success({ accessToken, expiresIn: 900 })(request, response, message);
    });
  question = success({ authorized: true, reason: 'ALLOWED' });
  server.routes.other = (request, response, message) =>
    (request.path === '/api/auth/token' ? exchange : question)(request, response, message);
});
afterEach(async () => {
  await server.close();
  process.off('unhandledRejection', onUnhandled);
  expect(unhandled.splice(0)).toEqual([]);
});

const client = (options: Partial<DoorwardOptions> = {}) =>
  composeDoorward(
    { url: server.url, clientId, clientSecret, scope: server.scope, retries: 0, ...options },
    {
      env: {},
      clock: { now: () => Date.now(), monotonic: () => performance.now() + clock.ahead, random: () => 0.5 },
    },
  );
const ask = (doorward: ReturnType<typeof client>) => doorward.can(undefined, 'order:read');
const exchanges = () => server.received.filter(({ path }) => path === '/api/auth/token').length;
const bearers = () =>
  server.received
    .filter(({ path }) => path !== '/api/auth/token')
    .map(({ headers }) => headers.authorization);

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10));
}

describe('the token of a key', () => {
  it('is exchanged at the first need, once for a burst', async () => {
    const doorward = client();
    expect(server.received).toEqual([]);
    await Promise.all(Array.from({ length: 200 }, () => ask(doorward)));
    expect(exchanges()).toBe(1);
    expect(new Set(bearers())).toEqual(new Set([`Bearer ${tokens[0]}`]));
    expect(JSON.parse(server.received[0]?.body ?? '')).toEqual({
      clientId,
      clientSecret,
      scope: server.scope,
    });
  });

  it('is renewed in the background when a fifth of its life is left', async () => {
    const doorward = client();
    await ask(doorward);
    clock.ahead = 700_000;
    await ask(doorward);
    expect(exchanges()).toBe(1);
    clock.ahead = 730_000;
    await ask(doorward);
    expect(bearers().at(-1)).toBe(`Bearer ${tokens[0]}`);
    await until(() => tokens.length === 2);
    // The service has answered; the client takes the token a moment later.
    await until(async () => {
      await ask(doorward);
      return bearers().at(-1) !== `Bearer ${tokens[0]}`;
    });
    expect(exchanges()).toBe(2);
  });

  it('is used to its end while the service is not reached', async () => {
    const doorward = client();
    await ask(doorward);
    exchange = hangUp;
    clock.ahead = 880_000;
    for (let i = 0; i < 5; i++) expect(await ask(doorward)).toBe(true);
    await until(() => exchanges() === 2);
    expect(exchanges()).toBe(2);
    clock.ahead = 901_000;
    await expect(ask(doorward)).rejects.toMatchObject({ code: 'UNREACHABLE', operation: 'exchangeApiKey' });
  });

  it('is dropped after a 401, exchanged once, and the call repeated once', async () => {
    const doorward = client();
    await ask(doorward);
    const first = tokens[0] ?? '';
    question = (request, response, message) =>
      (request.headers.authorization === `Bearer ${first}`
        ? failure(401, 'UNAUTHENTICATED')
        : success({ authorized: true, reason: 'ALLOWED' }))(request, response, message);
    expect(await ask(doorward)).toBe(true);
    expect(exchanges()).toBe(2);
    question = failure(401, 'UNAUTHENTICATED');
    const sent = bearers().length;
    await expect(ask(doorward)).rejects.toMatchObject({ code: 'UNAUTHENTICATED', status: 401, attempts: 2 });
    expect([bearers().length - sent, exchanges()]).toEqual([2, 3]);
  });

  it('that is refused is not exchanged again for five seconds', async () => {
    exchange = failure(401, 'UNAUTHENTICATED');
    const doorward = client();
    for (let i = 0; i < 5; i++)
      await expect(ask(doorward)).rejects.toMatchObject({ operation: 'exchangeApiKey' });
    expect(exchanges()).toBe(1);
    clock.ahead = 5001;
    await expect(ask(doorward)).rejects.toMatchObject({ status: 401 });
    expect(exchanges()).toBe(2);
  });

  it('of wrong form is a bad answer', async () => {
    for (const data of [
      null,
      {},
      { accessToken: 'x\r\ny: z', expiresIn: 900 },
      { accessToken: await server.token() },
    ]) {
      exchange = success(data);
      await expect(ask(client())).rejects.toMatchObject({ code: 'BAD_ANSWER' });
    }
  });
});

it('a given function is called for each call, and once more after a 401', async () => {
  const given = await Promise.all([1, 2, 3].map((n) => server.token({ jti: `given-${n}` })));
  let calls = 0;
  const doorward = client({
    clientId: undefined,
    clientSecret: undefined,
    token: async () => given[calls++] ?? '',
  });
  await ask(doorward);
  question = (request, response, message) =>
    (request.headers.authorization === `Bearer ${given[1]}`
      ? failure(401, 'UNAUTHENTICATED')
      : success({ authorized: true, reason: 'ALLOWED' }))(request, response, message);
  await ask(doorward);
  expect(bearers()).toEqual(given.map((text) => `Bearer ${text}`));
  await expect(ask(doorward)).rejects.toMatchObject({ code: 'CONFIG', options: ['token'] });
});

it('no secret is in an error, an event, or what logs show', async () => {
  const shown: unknown[] = [];
  const show = (event: unknown) => void shown.push(event);
  const doorward = client({
    retries: 1,
    hooks: { onRequest: show, onResponse: show, onRetry: show, onDecision: show, onSnapshot: show },
  });
  const context = { resource: { note: 'confidential-note' } };
  const user = '00000000-0000-4000-8000-00000000dead';
  const fail = async (work: Promise<unknown>) => shown.push(await work.catch((error: unknown) => error));
  await doorward.check({ userId: user }, 'order:read', context);
  for (const step of [hangUp, failure(401, 'UNAUTHENTICATED'), failure(503, 'UNAVAILABLE'), success('x')]) {
    question = step;
    await fail(doorward.check({ userId: user }, 'order:read', context));
    await fail(doorward.check(tokens[0], 'order:read', context));
    await fail(doorward.api.createApiKey({ name: 'confidential-note' }));
  }
  await fail(doorward.verifyToken(`${tokens[0]}x`));
  shown.push(doorward);
  expect(shown.length).toBeGreaterThan(30);
  for (const item of shown) {
    const texts = [
      inspect(item, { depth: 9, showHidden: true }),
      JSON.stringify(item),
      String((item as Error).stack),
    ];
    for (const text of texts) {
      expect(text).not.toContain(clientSecret.slice(0, 20));
      expect(text).not.toContain('eyJ');
      expect(text).not.toContain('confidential-note');
      expect(text).not.toContain(user);
    }
  }
});

it('hooks get another id for the exchange than for the call that needs it', async () => {
  const ids = new Map<string, number>();
  const onRequest = ({ operation, id }: { operation: string; id: number }) => void ids.set(operation, id);
  await ask(client({ hooks: { onRequest } }));
  expect([...ids.keys()].sort()).toEqual(['exchangeApiKey', 'isAuthorized']);
  expect(new Set(ids.values()).size).toBe(2);
});

it('a hook that throws or rejects changes nothing, and cannot replace the token', async () => {
  const doorward = client({
    hooks: {
      onRequest: () => ({
        traceparent: '00-ab-cd-01',
        authorization: 'Bearer evil',
        'bad name': 'x',
        evil: 'a\r\nb',
      }),
      onResponse: () => {
        throw new Error('hook');
      },
      onDecision: async () => Promise.reject(new Error('hook')),
    },
  });
  expect(await ask(doorward)).toBe(true);
  const { headers } = server.received.at(-1) ?? {};
  expect(headers?.['traceparent']).toBe('00-ab-cd-01');
  expect(headers?.authorization).toBe(`Bearer ${tokens[0]}`);
  expect(headers?.['evil']).toBeUndefined();
});
