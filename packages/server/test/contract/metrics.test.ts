import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../src/operations.ts';
import { startApp, type TestApp } from '../support/app/app.ts';
import { storyTransports } from '../support/cases/breadth.ts';
import type { Person } from '../support/app/client.ts';

/** What `/metrics` contains and who may read it; it contains no data of tenants or users. */
let app: TestApp;
let owner: Person;
const token = 'figures-for-the-collector';

beforeAll(async () => {
  app = await startApp({ METRICS_ENABLED: 'true', METRICS_TOKEN: token });
  owner = await app.person();
});
afterAll(() => app.close());

const ask = (authorization?: string) =>
  app.server.inject({ url: '/metrics', ...(authorization ? { headers: { authorization } } : {}) });
const read = async () => (await ask(`Bearer ${token}`)).body;
/** The value of one sample; NaN when there is none. */
const valueOf = (text: string, line: string): number =>
  Number(
    text
      .split('\n')
      .find((item) => item.startsWith(`doorward_${line} `))
      ?.split(' ')
      .at(-1),
  );

describe.each(storyTransports(import.meta))('over %s', (via) => {
  it('counts calls by operation and outcome, and measures their duration', async () => {
    const ok = 'operations_total{operation="createProject",code="OK"}';
    const refused = 'operations_total{operation="createProject",code="VALIDATION_ERROR"}';
    const count = 'operation_duration_seconds_count{operation="createProject"}';
    const before = await read();
    const of = (line: string) => valueOf(before, line) || 0;
    const as = { token: owner.token, via };
    await app.must('createProject', { scope: owner.account, name: 'Counted' }, as);
    expect((await app.call('createProject', { scope: owner.account, name: '' }, as)).ok).toBe(false);
    const after = await read();
    expect(valueOf(after, ok)).toBe(of(ok) + 1);
    expect(valueOf(after, refused)).toBe(of(refused) + 1);
    expect(valueOf(after, count)).toBe(of(count) + 2);
  });
});

it('has a histogram whose buckets grow up to the count', async () => {
  const text = await read();
  const buckets = [...text.matchAll(/_bucket\{le="([^"]+)",operation="createProject"\} (\d+)/g)].map(
    ([, bound, value]) => [Number(bound?.replace('+Inf', 'Infinity')), Number(value)] as const,
  );
  expect(buckets.map(([bound]) => bound)).toEqual(buckets.map(([bound]) => bound).toSorted((a, b) => a - b));
  expect(buckets.map(([, value]) => value)).toEqual(
    buckets.map(([, value]) => value).toSorted((a, b) => a - b),
  );
  const count = valueOf(text, 'operation_duration_seconds_count{operation="createProject"}');
  expect(buckets.at(-1)).toEqual([Infinity, count]);
  expect(valueOf(text, 'operation_duration_seconds_sum{operation="createProject"}')).toBeGreaterThan(0);
});

it('is valid in the exposition format, and has each metric once', async () => {
  const answer = await ask(`Bearer ${token}`);
  expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  const line =
    /^(# (HELP|TYPE) doorward_[a-z0-9_]+ .+|doorward_[a-z0-9_]+(\{([a-z]+="[^"\n]*",?)+\})? [0-9.e+-]+)$/;
  expect(answer.body.endsWith('\n')).toBe(true);
  const lines = answer.body.split('\n').filter((item) => item !== '');
  expect(lines.filter((item) => !line.test(item))).toEqual([]);
  const types = lines.filter((line) => line.startsWith('# TYPE')).map((line) => line.split(' ')[2]);
  expect(new Set(types).size).toBe(types.length);
  for (const line of lines.filter((item) => !item.startsWith('#'))) {
    const name = /^[a-z0-9_]+/.exec(line)?.[0].replace(/_(bucket|sum|count)$/, '') ?? '';
    expect(types).toContain(name);
  }
});

it('has the queues, and on a server the use of the connection pool', async () => {
  const text = await read();
  for (const name of ['mails_waiting', 'relay_waiting', 'relay_lag_seconds', 'webhooks_waiting']) {
    expect(valueOf(text, name), name).toBeGreaterThanOrEqual(0);
  }
  expect(valueOf(text, 'db_connections') > 0).toBe(app.postgres !== null);
});

it('has only operations, routes and codes as labels, whatever the request contains', async () => {
  const id = owner.userId;
  for (const url of [`/api/users/${id}`, `/${id}`, `/api/${id}?x=${id}`, `/hosted/${id}`]) {
    await app.server.inject({ url, headers: { authorization: `Bearer ${owner.token}` } });
  }
  await app.raw('role', { scope: owner.account, id }, { token: owner.token });
  const text = await read();
  expect(text).not.toContain(id);
  expect(text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}/);
  const existing = new Set(operations.map(({ name }) => name));
  const named = [...text.matchAll(/operation="([^"]+)"/g)].map(([, name]) => name ?? '');
  expect(named.filter((name) => !existing.has(name))).toEqual([]);
  expect(text).toContain('route="/api/users/:id"');
});

it('needs the token', async () => {
  for (const wrong of [
    undefined,
    'Bearer',
    'Bearer wrong',
    `bearer ${token}x`,
    token,
    `Bearer ${owner.token}`,
  ]) {
    const answer = await ask(wrong);
    expect([answer.statusCode, answer.headers['www-authenticate']], wrong).toEqual([401, 'Bearer']);
    expect(answer.json()).toMatchObject({ code: 'UNAUTHENTICATED' });
  }
  expect((await ask(`Bearer ${token}`)).statusCode).toBe(200);
});

it('is 404 unless it is enabled', async () => {
  const without = await startApp({ METRICS_ENABLED: 'false', METRICS_TOKEN: token });
  const answer = await without.server.inject({
    url: '/metrics',
    headers: { authorization: `Bearer ${token}` },
  });
  await without.close();
  expect([answer.statusCode, answer.json<{ code: string }>().code]).toEqual([404, 'NOT_FOUND']);
});
