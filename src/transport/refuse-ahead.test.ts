import type { AddressInfo } from 'node:net';
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

it('is counted and told like any other', async () => {
  const counted = async () => {
    const { body } = await app.server.inject('/metrics');
    const of = (pattern: RegExp) => Number(pattern.exec(body)?.[1] ?? 0);
    return {
      shed: of(/^doorward_shed_total\{lane="plain"\} (\d+)/m),
      requests: of(/http_requests_total\{method="POST",route="\/api\/tags",status="503"\} (\d+)/),
    };
  };
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
