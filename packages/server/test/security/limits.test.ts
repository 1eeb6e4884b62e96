import type { InjectOptions } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApp, type TestApp } from '../support/app/app.ts';
import { unique } from '../support/app/client.ts';

/**
 * A limit counts attempts, however they are spelled: forty guesses at one password, in every way that a client may try
 * to be counted separately, are forty.
 */
const ATTEMPTS = 40;
const ALLOWED = 3;

let app: TestApp;
beforeAll(async () => {
  app = await startApp({
    SECURITY_RATE_LIMIT_AUTH_MAX: String(ALLOWED),
    SECURITY_RATE_LIMIT_AUTH_WINDOW_SECONDS: '900',
    SECURITY_RATE_LIMIT_MAIL_MAX: '5',
    AUTH_LOCKOUT_MAX_FAILURES: '100',
  });
});
afterAll(() => app.close());

type Spelling = (attempt: number, address: string) => InjectOptions;

const wrong = 'not the password of anybody';
const json = { 'content-type': 'application/json' };
const body = (providerId: string) =>
  JSON.stringify({ provider: 'email', providerId, providerData: { password: wrong } });
const rest = (url: string, address: string, more: InjectOptions = {}): InjectOptions => ({
  method: 'POST',
  url,
  payload: body(address),
  ...more,
  headers: { ...json, ...more.headers },
});
const field = (address: string, alias = ''): string =>
  `${alias}login(input: { provider: email, providerId: "${address}", providerData: { password: "${wrong}" } }) { accessToken }`;
const graphql = (payload: unknown, more: InjectOptions = {}): InjectOptions => ({
  method: 'POST',
  url: '/graphql',
  payload: JSON.stringify(payload),
  ...more,
  headers: { ...json, ...more.headers },
});

const spellings: Readonly<Record<string, Spelling>> = {
  'the address as it is': (_, address) => rest('/api/auth/login', address),
  'an encoded path': (_, address) => rest('/api/auth/%6Cogin', address),
  'letters of the e-mail address in other cases': (attempt, address) =>
    rest('/api/auth/login', attempt % 2 ? address.toUpperCase() : ` ${address} `),
  'X-Forwarded-For': (attempt, address) =>
    rest('/api/auth/login', address, { headers: { 'x-forwarded-for': `203.0.113.${attempt}` } }),
  'Forwarded and X-Real-IP': (attempt, address) =>
    rest('/api/auth/login', address, {
      headers: { forwarded: `for=203.0.113.${attempt}`, 'x-real-ip': `203.0.113.${attempt}` },
    }),
  'neighbours in one IPv6 network': (attempt, address) =>
    rest('/api/auth/login', address, { remoteAddress: `2001:db8:1:2::${(attempt + 1).toString(16)}` }),
  'a request id, a user agent, a language': (attempt, address) =>
    rest('/api/auth/login', address, {
      headers: {
        'x-request-id': `attempt-${attempt}-of-many`,
        'user-agent': `agent ${attempt}`,
        'accept-language': attempt % 2 ? 'de' : 'fr',
      },
    }),
  'an invalid token': (attempt, address) =>
    rest('/api/auth/login', address, { headers: { authorization: `Bearer x.${attempt}.y` } }),
  GraphQL: (_, address) => graphql({ query: `mutation { ${field(address)} }` }),
  'GraphQL under another name': (attempt, address) =>
    graphql({ query: `mutation M${attempt} { ${field(address, `a${attempt}: `)} }` }),
  'both transports by turns': (attempt, address) =>
    attempt % 2 ? rest('/api/auth/login', address) : graphql({ query: `mutation { ${field(address)} }` }),
};

/** The outcome of a call: its error code. */
const codeOf = (payload: string): string => /"code":"([A-Z_]+)"/.exec(payload)?.[1] ?? payload;

test.each(Object.entries(spellings))('forty attempts by %s are forty', async (_, spell) => {
  const email = `${unique()}@example.test`;
  const codes: string[] = [];
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    codes.push(codeOf((await app.server.inject(spell(attempt, email))).body));
  }
  const refused = codes.indexOf('RATE_LIMITED');
  expect(new Set(codes.slice(0, refused))).toEqual(new Set(['UNAUTHENTICATED']));
  expect(refused).toBe(ALLOWED);
  expect(new Set(codes.slice(refused))).toEqual(new Set(['RATE_LIMITED']));
});

test('addresses in another spelling than the routes are 404', async () => {
  const email = `${unique()}@example.test`;
  const statusOf = async (url: string) => (await app.server.inject(rest(url, email))).statusCode;
  for (const url of ['/api/auth/login/', '/API/auth/login', '//api/auth/login', '/api//auth/login'])
    expect(await statusOf(url), url).toBe(404);
  expect(await statusOf('/api/auth/login?a=1')).toBe(400);
});

test('one request has one guess, with any number of aliases and batch items', async () => {
  const email = `${unique()}@example.test`;
  const guess = { query: `mutation { ${field(email)} }` };
  const aliases = { query: `mutation { ${field(email, 'a: ')} ${field(email, 'b: ')} }` };
  for (const payload of [aliases, [guess, guess], [aliases], [guess, { query: '{ __typename }' }, guess]]) {
    const { body: text } = await app.server.inject(graphql(payload));
    const codes = [...text.matchAll(/"code":"([A-Z_]+)"/g)].map(([, code]) => code);
    expect(new Set(codes), JSON.stringify(payload)).toEqual(new Set(['QUERY_TOO_COMPLEX']));
  }
});

test('mails are counted by recipient, over both transports', async () => {
  const { email } = await app.person();
  const before = app.mails.length;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const via = attempt % 2 ? 'rest' : 'graphql';
    const spelled = attempt % 4 < 2 ? email : email.toUpperCase();
    const answer = await app.raw('requestPasswordReset', { email: spelled }, { via });
    expect(answer.status === 202 || answer.ok).toBe(true);
  }
  await app.app.flushMails();
  expect(app.mails.length - before).toBeLessThanOrEqual(5);
});

test('forty guesses at the secret of a key are forty, however its id is written', async () => {
  const clientId = '0190b0b0-0000-7000-8000-00000000abcd';
  const scope = { tenant: 'AccountProject', id: `${clientId}:${clientId}` };
  const codes: (string | null)[] = [];
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const spelled = attempt % 2 ? clientId : clientId.toUpperCase();
    const input = { clientId: spelled, clientSecret: `dwk_${unique()}`, scope };
    const { code } = await app.raw('exchangeApiKey', input, { via: attempt % 4 < 2 ? 'rest' : 'graphql' });
    codes.push(code);
  }
  expect(codes.indexOf('RATE_LIMITED')).toBe(ALLOWED);
  expect(codes.filter((code) => code === 'RATE_LIMITED')).toHaveLength(ATTEMPTS - ALLOWED);
});
