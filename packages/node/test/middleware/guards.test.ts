import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clientOf } from './support/client.ts';
import { frameworks } from './support/frameworks.ts';
import { OrdersAreDown } from './support/orders.ts';
import type { GuardedServer } from './support/servers.ts';
import { openShop, type Shop } from './support/shop.ts';

/** Packages §7 over real sockets and the real service: every framework gives the same answers. */

let shop: Shop;
const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown): void => void unhandled.push(reason);

beforeAll(async () => {
  process.on('unhandledRejection', onUnhandled);
  shop = await openShop();
});
afterAll(async () => {
  await shop.close();
  process.off('unhandledRejection', onUnhandled);
  expect(unhandled).toEqual([]);
});

type Token = keyof Shop['tokens'];

interface Case {
  readonly title: string;
  readonly call: `${'GET' | 'POST'} ${string}`;
  readonly token?: Token;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: number;
  readonly body?: Readonly<Record<string, unknown>>;
  /** Of the answer; null: not there. */
  readonly answers?: Readonly<Record<string, string | null>>;
}

const plain = { 'www-authenticate': 'Bearer' };
const invalid = { 'www-authenticate': 'Bearer error="invalid_token"' };
const unauthenticated = { code: 'UNAUTHENTICATED', error: 'Sign in first, or send valid credentials.' };
const forbidden = { code: 'FORBIDDEN', error: 'You may not do this.' };
const read = 'GET /orders/1';
const me = 'GET /me';

const cases: readonly Case[] = [
  { title: 'allowed by a condition', call: read, token: 'clerk', status: 200 },
  { title: 'signed in', call: me, token: 'stranger', status: 200 },
  { title: 'a session, where it is named', call: 'GET /session', token: 'session', status: 200 },
  { title: 'a scheme in other letters', call: me, headers: { authorization: 'bEARER <clerk>' }, status: 200 },
  {
    title: 'a condition that is not met',
    call: 'GET /orders/2',
    token: 'clerk',
    status: 403,
    body: { ...forbidden, reason: 'CONDITION_NOT_MET' },
  },
  {
    title: 'a permission that is not held',
    call: 'POST /orders/1/approve',
    token: 'clerk',
    status: 403,
    body: { ...forbidden, reason: 'NO_PERMISSION' },
  },
  {
    title: 'a key without permissions',
    call: read,
    token: 'stranger',
    status: 403,
    body: { ...forbidden, reason: 'NO_PERMISSION' },
  },
  { title: 'no token', call: read, status: 401, body: unauthenticated, answers: plain },
  {
    title: 'no token, a thing that does not exist',
    call: 'GET /orders/missing',
    status: 401,
    answers: plain,
  },
  { title: 'no token, signed in', call: me, status: 401, body: unauthenticated, answers: plain },
  {
    title: 'an expired token',
    call: read,
    token: 'expired',
    status: 401,
    body: unauthenticated,
    answers: { 'www-authenticate': 'Bearer error="invalid_token", error_description="expired"' },
  },
  { title: 'a forged token', call: me, token: 'forged', status: 401, answers: invalid },
  { title: 'a session, where it is not named', call: me, token: 'session', status: 401, answers: invalid },
  { title: 'a key, where a session is named', call: 'GET /session', token: 'clerk', status: 401 },
  { title: 'no JWT', call: me, headers: { authorization: 'Bearer x' }, status: 401, answers: invalid },
  { title: 'a long token', call: me, headers: { authorization: `Bearer ${'x'.repeat(9000)}` }, status: 401 },
  {
    title: 'another scheme',
    call: me,
    headers: { authorization: 'Basic YTpi' },
    status: 401,
    answers: plain,
  },
  {
    title: 'a thing that does not exist',
    call: 'GET /orders/missing',
    token: 'clerk',
    status: 404,
    body: { code: 'NOT_FOUND', error: 'Not found.' },
  },
  {
    title: 'a context whose resource is undefined',
    call: 'GET /orders/3',
    token: 'clerk',
    status: 404,
    body: { code: 'NOT_FOUND' },
  },
  {
    title: 'a user who is not in the scope',
    call: 'GET /user',
    headers: { 'x-user': '<random>' },
    status: 403,
  },
  { title: '`who` without a user', call: 'GET /user', status: 401, body: unauthenticated, answers: plain },
  {
    title: 'a revision of another installation',
    call: read,
    token: 'clerk',
    headers: { 'x-doorward-revision': 'x'.repeat(22) },
    status: 200,
  },
  {
    title: 'a revision that is none',
    call: read,
    token: 'clerk',
    headers: { 'x-doorward-revision': 'not a revision' },
    status: 400,
    body: { code: 'VALIDATION_ERROR' },
  },
  {
    title: 'a revision of the wrong length',
    call: read,
    token: 'clerk',
    headers: { 'x-doorward-revision': 'short' },
    status: 400,
    body: { code: 'VALIDATION_ERROR' },
  },
  {
    title: 'the id of the request, in the refusal',
    call: me,
    headers: { 'x-request-id': 'request-1234' },
    status: 401,
    body: { requestId: 'request-1234' },
    answers: { 'x-request-id': 'request-1234' },
  },
];

describe.each(frameworks)('%s', (_name, start) => {
  let server: GuardedServer;

  beforeAll(async () => {
    const doorward = clientOf(shop);
    server = await start(doorward, () => doorward.api.createTag({ name: `tag ${crypto.randomUUID()}` }));
  });
  afterAll(() => server.close());

  const send = (call: string, headers: Record<string, string> = {}): Promise<Response> => {
    const [method = '', path = ''] = call.split(' ');
    return fetch(`${server.url}${path}`, { method, headers });
  };
  const bearer = (token: Token) => ({ authorization: `Bearer ${shop.tokens[token]}` });

  it.each(cases)('$title: $status', async ({ call, token, headers = {}, status, body, answers = {} }) => {
    const sent: Record<string, string> = token ? bearer(token) : {};
    for (const [name, value] of Object.entries(headers))
      sent[name] = value.replace('<clerk>', shop.tokens.clerk).replace('<random>', crypto.randomUUID());
    server.ran.length = 0;
    const response = await send(call, sent);
    const text = await response.text();
    expect({ status: response.status, text }).toMatchObject({ status });
    if (body) expect(JSON.parse(text)).toMatchObject(body);
    for (const [name, value] of Object.entries(answers)) expect(response.headers.get(name)).toBe(value);
    expect(server.ran).toEqual(status === 200 ? [call.split(' ')[1]] : []);
    expect(server.errors).toEqual([]);
    if (status === 200) return;
    expect(Object.keys(JSON.parse(text) as object)).toEqual(
      expect.arrayContaining(['error', 'code', 'requestId']),
    );
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const secrets = [...Object.values(shop.tokens), shop.credentials.clientSecret];
    const answered = text + JSON.stringify([...response.headers]);
    expect(secrets.filter((secret) => answered.includes(secret))).toEqual([]);
  });

  it('gives the route its principal', async () => {
    const response = await send(read, bearer('clerk'));
    expect(await response.json()).toEqual({ id: '1', userId: shop.owner.userId });
    expect(await (await send('GET /session', bearer('session'))).json()).toEqual({ type: 'user' });
  });

  it('gives an error of `context` to the error path, and does not run the route', async () => {
    server.ran.length = 0;
    const response = await send('GET /orders/broken', bearer('clerk'));
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({ failed: true });
    expect(server.errors.splice(0)).toEqual([expect.any(OrdersAreDown)]);
    expect(server.ran).toEqual([]);
  });

  it('refuses two Authorization headers, whichever is valid', async () => {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    const { authorization } = bearer('clerk');
    const two = `Authorization: ${authorization}\r\nAuthorization: Bearer x\r\n`;
    socket.write(`GET /me HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n${two}\r\n`);
    const [head] = (await once(socket, 'data')) as [Buffer];
    expect(head.toString().split('\r\n')[0]).toBe('HTTP/1.1 401 Unauthorized');
    socket.destroy();
  });

  it('answers the revision of a change that the route has made, and none without', async () => {
    const changed = await send('POST /tags', bearer('clerk'));
    expect(changed.status).toBe(200);
    const revision = changed.headers.get('x-doorward-revision') ?? '';
    expect(revision).toMatch(/^[\w-]{22}$/);
    const after = await send(read, { ...bearer('clerk'), 'x-doorward-revision': revision });
    expect(after.status).toBe(200);
    expect(after.headers.get('x-doorward-revision')).toBeNull();
  });

  it('answers each of 200 requests at once for itself', async () => {
    const kinds = [
      { call: read, token: 'clerk', status: 200 },
      { call: 'GET /orders/2', token: 'clerk', status: 403 },
      { call: me, token: 'forged', status: 401 },
      { call: 'GET /orders/missing', token: 'clerk', status: 404 },
    ] as const;
    const all = Array.from({ length: 200 }, (_, index) => kinds[index % kinds.length] ?? kinds[0]);
    const answers = await Promise.all(all.map(({ call, token }) => send(call, bearer(token))));
    expect(answers.map(({ status }) => status)).toEqual(all.map(({ status }) => status));
    await Promise.all(answers.map((answer) => answer.text()));
  });
});
