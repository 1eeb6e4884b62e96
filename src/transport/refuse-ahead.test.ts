import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../test/support/app.ts';

/** Each request twice: over a socket, and injected behind the place where who floods a lane is refused. */
let app: TestApp;
let base: string;
beforeAll(async () => {
  app = await startApp({
    METRICS_ENABLED: 'true',
    SECURITY_ADDITIONAL_ORIGINS: 'https://page.example',
    OVERLOAD_MAX_IN_FLIGHT: '1',
  });
  await app.server.listen({ host: '127.0.0.1', port: 0 });
  base = `http://127.0.0.1:${(app.server.server.address() as AddressInfo).port}`;
  for (const lane of app.server.lanes) lane.enter();
});
afterAll(() => app.close());

type Method = 'GET' | 'POST' | 'HEAD' | 'DELETE';
/** Of the connection, of the moment, or counted. */
const own = ['connection', 'keep-alive', 'date', 'x-request-id', 'ratelimit'];

async function both(method: Method, url: string, headers: Record<string, string> = {}) {
  const body = method === 'POST' ? '{"name":"x"}' : undefined;
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const answer = await fetch(base + url, {
    method,
    headers: { ...type, ...headers },
    ...(body && { body }),
    redirect: 'manual',
  });
  const injected = await app.server.inject({
    method,
    url,
    headers: { 'accept-language': '*', ...type, ...headers },
    ...(body && { payload: body }),
  });
  const shown = (all: Iterable<readonly [string, unknown]>, text: string) => {
    const told = Object.fromEntries([...all].filter(([name]) => !own.includes(name)));
    return { headers: told, body: text.replace(/"requestId":"[^"]+"/, '"requestId":"…"') };
  };
  return {
    ahead: { status: answer.status, ...shown(answer.headers, await answer.text()) },
    behind: { status: injected.statusCode, ...shown(Object.entries(injected.headers), injected.body) },
    requestId: answer.headers.get('x-request-id'),
  };
}

it.each<[Method, string, Record<string, string>]>([
  ['POST', '/api/roles', {}],
  ['POST', '/api/roles?dryRun=true', { 'accept-language': 'de' }],
  ['GET', '/api/roles?tenant=Organization&scopeId=x', { 'accept-language': 'fr;q=0.2, de' }],
  ['HEAD', '/api/roles', {}],
  ['POST', '/graphql', {}],
  ['GET', '/graphql?query={__typename}', { 'accept-language': 'de' }],
  ['POST', '/api/auth/is-authorized', { authorization: 'Bearer none' }],
  ['POST', '/api/auth/token', {}],
  ['POST', '/api/auth/login', { 'x-request-id': 'my-own-request' }],
])('%s %s is refused with the same answer as behind the router', async (method, url, headers) => {
  const { ahead, behind, requestId } = await both(method, url, headers);
  expect(ahead).toEqual(behind);
  expect([ahead.status, ahead.headers['retry-after']]).toEqual([503, '1']);
  expect(requestId).toMatch(headers['x-request-id'] ?? /^[0-9a-f-]{36}$/);
});

it.each<[Method, string, Record<string, string>, number]>([
  ['POST', '/api/roles', { origin: 'https://page.example' }, 503],
  ['DELETE', '/api/roles/x?tenant=Organization&scopeId=x', {}, 503],
  ['GET', '/health', {}, 200],
  ['GET', '/api/nothing', {}, 404],
])('%s %s with %o goes to the router', async (method, url, headers, status) => {
  const { ahead, behind } = await both(method, url, headers);
  expect(ahead.status).toBe(status);
  expect(ahead.headers).toEqual(behind.headers);
  if (headers['origin']) expect(ahead.headers['access-control-allow-origin']).toBe(headers['origin']);
});

async function counted() {
  const { body } = await app.server.inject('/metrics');
  const of = (pattern: RegExp) => Number(pattern.exec(body)?.[1] ?? 0);
  return {
    shed: of(/^doorward_shed_total\{lane="plain"\} (\d+)/m),
    requests: of(/http_requests_total\{method="POST",route="\/api\/tags",status="503"\} (\d+)/),
  };
}

/** One after the other, on one connection. */
async function inARow(times: number, method: Method, path: string, headers: Record<string, string>) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const answers = [];
  for (let count = 0; count < times; count++) {
    const sent = request(base + path, { agent, method, headers });
    sent.end(method === 'POST' ? '{"name":"x"}' : undefined);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    const body = (await text(answer)).replace(/"requestId":"[^"]+"/, '"requestId":"…"');
    const { date, ...told } = answer.headers;
    const { 'x-request-id': requestId, ...same } = told;
    answers.push({ byNode: date !== undefined, requestId, told: { status: answer.statusCode, same, body } });
  }
  agent.destroy();
  return answers;
}

it.each<[Method, string, Record<string, string>]>([
  ['POST', '/api/roles?dryRun=true', {}],
  ['POST', '/graphql', { 'accept-language': 'de' }],
  [
    'GET',
    '/api/roles?tenant=Organization&scopeId=x',
    { 'accept-language': 'es', 'x-request-id': 'my-own-request' },
  ],
])('%s %s is refused with the same answer again, on the connection itself', async (method, path, headers) => {
  const answers = await inARow(4, method, path, headers);
  // The parser has to be seen at the end of a request; from then on no answer is made by Node, which would date it.
  expect(answers.map(({ byNode }) => byNode)).toEqual([true, true, false, false]);
  expect(answers[3]?.told).toEqual(answers[0]?.told);
  expect(answers[3]?.told.status).toBe(503);
  const ids = answers.map(({ requestId }) => requestId);
  expect(new Set(ids).size).toBe('x-request-id' in headers ? 1 : 4);
  expect(ids[3]).toMatch(headers['x-request-id'] ?? /^[0-9a-f-]{36}$/);
});

it('is counted and told there too', async () => {
  const before = await counted();
  await inARow(4, 'POST', '/api/tags', { 'x-request-id': 'told-four-times' });
  const after = await counted();
  expect([after.shed - before.shed, after.requests - before.requests]).toEqual([4, 4]);
  expect(app.logs.filter((line) => line.includes('told-four-times'))).toHaveLength(4);
});

it('lets in whoever there is room for again, on the same connection', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const statuses = [];
  for (const path of ['/api/tags', '/api/tags', '/api/tags', '/health', '/api/tags']) {
    const sent = request(base + path, { agent, method: path === '/health' ? 'GET' : 'POST' });
    sent.end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.resume();
    await once(answer, 'end');
    statuses.push(answer.statusCode);
  }
  agent.destroy();
  expect(statuses).toEqual([503, 503, 503, 200, 503]);
});

it('is counted and told like any other', async () => {
  const before = await counted();
  await fetch(`${base}/api/tags?x=secret`, {
    method: 'POST',
    headers: { 'x-request-id': 'told-in-the-log' },
  });
  const lines = app.logs.map((text) => JSON.parse(text) as Record<string, unknown>);
  const line = lines.find(({ requestId }) => requestId === 'told-in-the-log');
  expect(line).toMatchObject({ level: 'info', method: 'POST', route: '/api/tags', status: 503 });
  expect(line?.['ms']).toBeGreaterThanOrEqual(0);
  expect(JSON.stringify(line)).not.toContain('secret');
  const after = await counted();
  expect([after.shed - before.shed, after.requests - before.requests]).toEqual([1, 1]);
});
