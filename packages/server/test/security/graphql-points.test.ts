import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app/app.ts';
import { unique, type Person } from '../support/app/client.ts';

/** One GraphQL request may contain as many calls as many REST requests, and counts as many. */
const GENERAL = 30;
const CHECKS = 40;

let app: TestApp;
let person: Person;
beforeAll(async () => {
  app = await startApp({
    SECURITY_RATE_LIMIT_GENERAL_MAX: String(GENERAL),
    SECURITY_RATE_LIMIT_CHECK_MAX: String(CHECKS),
    SECURITY_RATE_LIMIT_AUTH_MAX: '3',
  });
});
afterAll(() => app.close());

let network = 1;
beforeEach(async () => {
  network++;
  person = await newcomer();
});

/** A caller with unused rate limit windows: the setup is counted for other networks. */
async function newcomer(): Promise<Person> {
  const email = `${unique()}@example.test`;
  const password = `correct horse ${unique()}`;
  const { body } = await app.server.inject({
    method: 'POST',
    url: '/api/auth/register',
    remoteAddress: `198.51.100.${network}`,
    payload: { provider: 'email', providerId: email, providerData: { password }, type: 'personal' },
  });
  const { data } = JSON.parse(body) as {
    data: { accessToken: string; refreshToken: string; user: { id: string }; accounts: { id: string }[] };
  };
  const account = { tenant: 'account' as const, id: data.accounts[0]?.id ?? '' };
  return {
    userId: data.user.id,
    email,
    password,
    token: data.accessToken,
    refreshToken: data.refreshToken,
    account,
  };
}

async function graphql(payload: unknown, token: string | null = person.token) {
  const { statusCode, body, headers } = await app.server.inject({
    method: 'POST',
    url: '/graphql',
    remoteAddress: `203.0.113.${network}`,
    headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
    payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
  });
  const [, cls, left] = /^"(\w+)";r=(\d+)/.exec(String(headers['ratelimit'])) ?? [];
  return { status: statusCode, body, cls, left: Number(left), retryAfter: headers['retry-after'] };
}

const many = (field: string, count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => `a${i + from}: ${field}`).join(' ');
const me = 'me { user { id } }';

it('counts every root field, of a batch too, and fields that merge into one response key once', async () => {
  expect(await graphql({ query: `{ ${me} }` })).toMatchObject({
    status: 200,
    cls: 'general',
    left: GENERAL - 1,
  });
  expect((await graphql({ query: `{ ${many(me, 5)} }` })).left).toBe(GENERAL - 6);
  expect((await graphql({ query: `{ a0: ${me} a0: me { user { name } } }` })).left).toBe(GENERAL - 7);
  const batch = [
    { query: `{ ${many(me, 3)} }` },
    { query: '{ __schema { queryType { name } } }' },
    { query: '{ nope }' },
  ];
  expect((await graphql(batch)).left).toBe(GENERAL - 12);
  expect((await graphql({ query: '{ __typename }' })).left).toBe(GENERAL - 13);
});

it('counts as one what cannot be executed', async () => {
  for (const [at, payload] of [{ query: '{' }, '{', {}, { query: `{ ${many(me, 16)} }` }].entries()) {
    const { status, left } = await graphql(payload);
    expect([status, left]).toEqual([400, GENERAL - 1 - at]);
  }
});

it('executes nothing when the points are not enough', async () => {
  const scope = `{tenant: account, id: "${person.account.id}"}`;
  const tags = Array.from(
    { length: 15 },
    (_, i) => `a${i}: createTag(input: {scope: ${scope}, name: "t${i}"}) { id }`,
  );
  const create = { query: `mutation { ${tags.join(' ')} }` };
  expect((await graphql({ query: `{ ${many(me, 10)} }` })).left).toBe(20);
  const refused = await graphql([create, { query: create.query.replaceAll('"t', '"u') }]);
  expect([refused.status, refused.body.includes('RATE_LIMITED')]).toEqual([429, true]);
  expect(Number(refused.retryAfter)).toBeGreaterThan(0);
  expect((await graphql('{')).status).toBe(429);
  const { body } = await app.server.inject({
    url: `/api/tags?tenant=account&scopeId=${person.account.id}`,
    headers: { authorization: `Bearer ${person.token}` },
  });
  expect(body).toContain('RATE_LIMITED');
  const { rows } = (await app.database.pool.execute('select count(*)::int as n from tags')) as {
    rows: { n: number }[];
  };
  expect(rows[0]?.n).toBe(0);
});

it('counts authorization checks in their own class, one for each item, and in no other', async () => {
  const scope = `{tenant: account, id: "${person.account.id}"}`;
  const item = '{permission: {resource: "Role", action: "Query"}}';
  const entry = `isAuthorized(input: {scope: ${scope}, permission: {resource: "Role", action: "Query"}}) { authorized }`;
  const batch = `isAuthorizedBatch(input: {scope: ${scope}, items: [${Array.from({ length: 10 }, () => item).join(' ')}]}) { items { authorized } }`;
  expect(await graphql({ query: `{ ${many(entry, 3)} }` })).toMatchObject({
    status: 200,
    cls: 'check',
    left: CHECKS - 3,
  });
  expect(await graphql({ query: `{ ${batch} }` })).toMatchObject({ cls: 'check', left: CHECKS - 13 });
  expect((await graphql({ query: `{ ${me} }` })).left).toBe(GENERAL - 1);
  // Ten more for each: the third one exceeds the limit.
  const refused = await graphql([
    { query: `{ ${batch} }` },
    { query: `{ ${batch} }` },
    { query: `{ ${batch} }` },
  ]);
  expect(refused.status).toBe(429);
  // A caller without a token gets no answer and counts with the network.
  const stranger = await graphql({ query: `{ ${many(entry, 2)} }` }, null);
  expect(stranger).toMatchObject({ status: 200, cls: 'general', left: GENERAL - 2 });
});

it('counts guesses at secrets in addition, before one is verified', async () => {
  const login = (address: string) =>
    `mutation { login(input: {provider: email, providerId: "${address}", providerData: {password: "wrong"}}) { accessToken } }`;
  for (const left of [2, 1, 0])
    expect(await graphql({ query: login(person.email) }, null)).toMatchObject({ cls: 'auth', left });
  expect((await graphql({ query: login(person.email) }, null)).status).toBe(429);
});
