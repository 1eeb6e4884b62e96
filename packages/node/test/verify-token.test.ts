import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { composeDoorward } from '../src/doorward.ts';
import { TokenError } from '../src/node.ts';
import type { Doorward } from '../src/client/doorward.ts';
import type { VerifyOptions } from '../src/contracts/types.ts';
import { failure, hangUp, json, silence } from './support/faulty-server.ts';
import {
  organizationId,
  projectId,
  signingServer,
  userId,
  type SigningServer,
} from './support/signing-server.ts';

/** Packages §3: what `verifyToken` accepts, and when it reads keys. */

let server: SigningServer;
let doorward: Doorward;
const clock = { ahead: 0 };

beforeEach(async () => {
  server = await signingServer();
  open();
});

function open(): void {
  clock.ahead = 0;
  doorward = composeDoorward(
    { url: server.url, scope: server.scope, retries: 0 },
    {
      env: {},
      clock: { now: () => Date.now(), monotonic: () => performance.now() + clock.ahead, random: Math.random },
    },
  );
}
const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
beforeAll(() => void process.on('unhandledRejection', onUnhandled));
afterAll(() => void process.off('unhandledRejection', onUnhandled));
afterEach(async () => {
  doorward.close();
  await server.close();
  expect(unhandled.splice(0)).toEqual([]);
});

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}

const codeOf = async (token: string, options: VerifyOptions = {}): Promise<string> => {
  const error: unknown = await doorward.verifyToken(token, options).catch((thrown: unknown) => thrown);
  if (!(error instanceof TokenError)) return 'accepted';
  for (const part of String(token)
    .split('.')
    .filter((text) => text.length > 8))
    expect(JSON.stringify(error)).not.toContain(part);
  return error.code;
};
const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('a token', () => {
  it('that is right is accepted', async () => {
    const principal = await doorward.verifyToken(await server.token());
    expect(principal).toMatchObject({ type: 'apiKey', userId, scope: server.scope, liveness: 'none' });
    expect(Object.isFrozen(principal)).toBe(true);
    expect(await codeOf(await server.token({}, { typ: 'at+jwt' }))).toBe('accepted');
    const pascal = await server.token({ scope: { ...server.scope, tenant: 'OrganizationProject' } });
    expect((await doorward.verifyToken(pascal)).scope).toEqual(server.scope);
  });

  it('in the profile of RFC 9068 has its scope under another name', async () => {
    const token = await server.token(
      { scope: 'order:read', doorward_scope: server.scope },
      { typ: 'at+jwt' },
    );
    expect((await doorward.verifyToken(token)).scope).toEqual(server.scope);
    const customer = { tenant: 'organizationProject', id: `${userId}:${projectId}` };
    const foreign = await server.token({ scope: 'order:read', doorward_scope: customer }, { typ: 'at+jwt' });
    expect(await codeOf(foreign)).toBe('TOKEN_SCOPE');
    expect((await doorward.verifyToken(foreign, { anyCustomer: true })).scope).toEqual(customer);
    const wrong = await server.token({ doorward_scope: 'order:read' }, { typ: 'at+jwt' });
    expect(await codeOf(wrong)).toBe('TOKEN_MALFORMED');
  });

  it('for several audiences is accepted for each of them, and for no other', async () => {
    const audience = 'https://orders.example';
    const token = await server.token({ aud: [server.url, audience] });
    expect(await codeOf(token)).toBe('accepted');
    expect(await codeOf(token, { audience })).toBe('accepted');
    expect(await codeOf(token, { audience: `${audience}/` })).toBe('TOKEN_AUDIENCE');
    expect(await codeOf(await server.token({ aud: [audience] }))).toBe('TOKEN_AUDIENCE');
  });

  it.each([
    ['TOKEN_EXPIRED', { exp: Math.floor(Date.now() / 1000) - 60 }],
    ['TOKEN_ISSUER', { iss: 'https://evil.example' }],
    ['TOKEN_ISSUER', { iss: undefined }],
    ['TOKEN_AUDIENCE', { aud: 'https://other.example' }],
    ['TOKEN_AUDIENCE', { aud: undefined }],
    ['TOKEN_TYPE', { type: 'session' }],
    ['TOKEN_TYPE', { type: 'something' }],
    ['TOKEN_MALFORMED', { type: undefined }],
    ['TOKEN_MALFORMED', { exp: undefined }],
    ['TOKEN_MALFORMED', { sub: undefined }],
    ['TOKEN_MALFORMED', { jti: undefined }],
    ['TOKEN_MALFORMED', { scope: 'order:read' }],
    ['TOKEN_SCOPE', { scope: { tenant: 'organizationProject', id: `${userId}:${projectId}` } }],
    ['TOKEN_SCOPE', { scope: { tenant: 'accountProject', id: `${organizationId}:${projectId}` } }],
    ['TOKEN_SCOPE', { scope: { tenant: 'organization', id: organizationId } }],
    ['TOKEN_SCOPE', { scope: { tenant: 'ProjectUser', id: `${organizationId}:${userId}` } }],
    ['TOKEN_MALFORMED', { nbf: Math.floor(Date.now() / 1000) + 600 }],
  ])('is refused as %s with %j', async (code, claims) => {
    expect(await codeOf(await server.token(claims))).toBe(code);
  });

  it('of a key that a user made for the project is accepted', async () => {
    const scope = { tenant: 'ProjectUser', id: `${projectId}:${userId}` };
    expect(await codeOf(await server.token({ scope }))).toBe('accepted');
  });

  it('within the tolerance of the clock is accepted', async () => {
    expect(await codeOf(await server.token({ exp: Math.floor(Date.now() / 1000) - 2 }))).toBe('accepted');
  });

  it.each([
    ['TOKEN_TYPE', { typ: 'doorward-snapshot+jwt' }],
    ['TOKEN_TYPE', { typ: undefined }],
    ['TOKEN_MALFORMED', { jku: 'https://evil.example/jwks.json' }],
    ['TOKEN_MALFORMED', { x5u: 'https://evil.example' }],
    ['TOKEN_MALFORMED', { x5c: ['MII'] }],
    ['TOKEN_MALFORMED', { jwk: { kty: 'RSA' } }],
    ['TOKEN_MALFORMED', { kid: undefined }],
    ['TOKEN_MALFORMED', { kid: '../../etc/passwd' }],
    ['TOKEN_SIGNATURE', { kid: 'another' }],
  ])('is refused as %s with the header %j', async (code, header) => {
    expect(await codeOf(await server.token({}, header as never))).toBe(code);
  });

  it('of another key, algorithm or form is refused', async () => {
    const right = await server.token();
    const [, payload = ''] = right.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
    expect(await codeOf(await server.sign(claims, {}, 'foreign'))).toBe('TOKEN_SIGNATURE');
    const none = encoded({ alg: 'none', typ: 'JWT', kid: server.kid });
    expect(await codeOf(`${none}.${payload}.`)).toBe('TOKEN_MALFORMED');
    expect(await codeOf(`${none}.${payload}.AAAA`)).toBe('TOKEN_SIGNATURE');
    // The public key as the secret of an HMAC.
    const signed = `${encoded({ alg: 'HS256', typ: 'JWT', kid: server.kid })}.${payload}`;
    const mac = createHmac('sha256', 'public').update(signed).digest('base64url');
    expect(await codeOf(`${signed}.${mac}`)).toBe('TOKEN_SIGNATURE');
    for (const text of [
      '',
      'a',
      'a.b',
      'a.b.c',
      'a.b.c.d',
      `${right}\r\nx: y`,
      `${right}=`,
      `x${'y'.repeat(9000)}`,
      5,
      null,
    ])
      expect(await codeOf(text as string), String(text)).toBe('TOKEN_MALFORMED');
    const altered = encoded({ ...claims, sub: '00000000-0000-4000-8000-000000000009' });
    expect(await codeOf(right.replace(payload, altered))).toBe('TOKEN_SIGNATURE');
  });

  it('never chooses where keys come from', async () => {
    await codeOf(await server.token({ iss: `${server.url}/org/x/prj/y` }));
    await codeOf(await server.token({ iss: server.url, type: 'session' }));
    expect(server.received).toEqual([]);
  });

  it('of a session is accepted only where it is named, from the issuer of sessions', async () => {
    const session = await server.token({ iss: server.url, type: 'session' });
    expect(await codeOf(session)).toBe('TOKEN_ISSUER');
    expect(await codeOf(session, { types: ['session'] })).toBe('accepted');
    expect(await codeOf(await server.token({ type: 'session' }), { types: ['session', 'ApiKey'] })).toBe(
      'TOKEN_TYPE',
    );
    expect(await codeOf(await server.token({ iss: server.url }), { types: ['session', 'ApiKey'] })).toBe(
      'TOKEN_TYPE',
    );
    await expect(doorward.verifyToken(session, { types: ['galaxy'] as never })).rejects.toMatchObject({
      code: 'CONFIG',
    });
  });
});

describe('keys', () => {
  it('are read once for a burst of tokens, and again after their max-age', async () => {
    const token = await server.token();
    await Promise.all(Array.from({ length: 50 }, () => doorward.verifyToken(token)));
    expect(server.jwksReads()).toBe(1);
    clock.ahead = 240_000;
    await doorward.verifyToken(token);
    expect(server.jwksReads()).toBe(1);
    clock.ahead = 301_000;
    await doorward.verifyToken(token);
    await until(() => server.jwksReads() === 2);
  });

  it.each([
    ['soon after their max-age, at once', 301_000, 500],
    ['later, after a moment', 600_000, 2500],
  ])('are used while the service hangs: %s', async (_, ahead, atMost) => {
    const token = await server.token();
    const times: number[] = [];
    // The fastest of three clients: a busy machine interrupts some.
    for (const _ of 'abc') {
      doorward.close();
      open();
      server.routes.jwks = server.jwks;
      await doorward.verifyToken(token);
      const reads = server.jwksReads();
      server.routes.jwks = silence;
      clock.ahead = ahead;
      const startedAt = performance.now();
      expect(await codeOf(token)).toBe('accepted');
      times.push(performance.now() - startedAt);
      await until(() => server.jwksReads() === reads + 1);
    }
    expect(Math.min(...times)).toBeLessThan(atMost);
  });

  it('are used at once after a read that failed', async () => {
    const token = await server.token();
    await doorward.verifyToken(token);
    server.routes.jwks = hangUp;
    clock.ahead = 600_000;
    expect(await codeOf(token)).toBe('accepted');
    server.routes.jwks = silence;
    clock.ahead = 610_000;
    const startedAt = performance.now();
    expect(await codeOf(token)).toBe('accepted');
    // A client that waited for the service would give up after 5 seconds.
    expect(performance.now() - startedAt).toBeLessThan(4000);
  });

  it('that are gone, or that the service refuses to give, are not used after the next read', async () => {
    const token = await server.token();
    await doorward.verifyToken(token);
    server.routes.jwks = json(200, { keys: [] }, { 'cache-control': 'max-age=300' });
    clock.ahead = 600_000;
    expect(await codeOf(token)).toBe('TOKEN_SIGNATURE');
    server.routes.jwks = server.jwks;
    clock.ahead = 700_000;
    expect(await codeOf(token)).toBe('accepted');
    server.routes.jwks = failure(404, 'NOT_FOUND');
    clock.ahead = 1_300_000;
    for (const _ of 'ab')
      await expect(doorward.verifyToken(token)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('that are new are found after a fault of the network', async () => {
    const token = await server.token();
    server.routes.jwks = json(200, { keys: [] }, { 'cache-control': 'max-age=300' });
    expect(await codeOf(token)).toBe('TOKEN_SIGNATURE');
    server.routes.jwks = hangUp;
    clock.ahead = 31_000;
    await expect(doorward.verifyToken(token)).rejects.toMatchObject({ code: 'UNREACHABLE' });
    const reads = server.jwksReads();
    server.routes.jwks = server.jwks;
    clock.ahead = 32_000;
    await expect(doorward.verifyToken(token)).rejects.toMatchObject({ code: 'UNREACHABLE' });
    expect(server.jwksReads()).toBe(reads);
    clock.ahead = 37_000;
    expect(await codeOf(token)).toBe('accepted');
  });

  it('of a thousand projects are kept; of one more, those of the first are dropped', async () => {
    const scopes = Array.from({ length: 1001 }, (_, index) => {
      const id = `${organizationId}:00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
      return { tenant: 'organizationProject', id } as const;
    });
    const paths: string[] = [];
    const many = composeDoorward(
      {
        url: server.url,
        fetch: async (input) => {
          paths.push(input);
          return Response.json({ keys: [] }, { headers: { 'cache-control': 'max-age=300' } });
        },
      },
      { env: {}, clock: { now: Date.now, monotonic: () => 0, random: Math.random } },
    );
    const ask = async (index: number): Promise<void> => {
      const scope = scopes[index] ?? server.scope;
      const iss = `${server.url}/org/${scope.id.replace(':', '/prj/')}`;
      const header = encoded({ alg: 'RS256', typ: 'JWT', kid: 'unknown' });
      const text = `${header}.${encoded({ iss })}.AAAA`;
      await expect(many.verifyToken(text, { scope })).rejects.toMatchObject({ code: 'TOKEN_SIGNATURE' });
    };
    // Twice, so that unknown keys are not read again soon.
    for (let index = 0; index <= 1000; index++) for (const _ of 'ab') await ask(index);
    paths.length = 0;
    for (const index of [1, 500, 1000]) await ask(index);
    expect(paths).toEqual([]);
    await ask(0);
    expect(paths.length).toBeGreaterThan(0);
  });

  it('are read at most once in 30 s for a storm of unknown kids', async () => {
    await doorward.verifyToken(await server.token());
    const forged = await Promise.all(
      Array.from({ length: 30 }, (_, i) => server.token({}, { kid: `unknown-${i}` })),
    );
    expect(new Set(await Promise.all(forged.map((token) => codeOf(token))))).toEqual(
      new Set(['TOKEN_SIGNATURE']),
    );
    expect(server.jwksReads()).toBe(2);
    clock.ahead = 15_000;
    await codeOf(forged[0] ?? '');
    expect(server.jwksReads()).toBe(2);
    clock.ahead = 31_000;
    await codeOf(forged[0] ?? '');
    expect(server.jwksReads()).toBe(3);
  });

  it('are kept for an hour more while the service is not reached', async () => {
    const token = await server.token();
    await doorward.verifyToken(token);
    server.routes.jwks = hangUp;
    clock.ahead = 300_000 + 3_500_000;
    expect(await codeOf(token)).toBe('accepted');
    server.routes.jwks = failure(503, 'UNAVAILABLE');
    clock.ahead += 10_000;
    expect(await codeOf(token)).toBe('accepted');
    clock.ahead = 300_000 + 3_700_000;
    await expect(doorward.verifyToken(token)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    server.routes.jwks = server.jwks;
    expect(await codeOf(token)).toBe('accepted');
  });

  it('that cannot be had are an outage, not an invalid token', async () => {
    const token = await server.token();
    server.routes.jwks = hangUp;
    await expect(doorward.verifyToken(token)).rejects.toMatchObject({
      name: 'ConnectionError',
      code: 'UNREACHABLE',
    });
  });
});

it('needs the scope of a project', async () => {
  const client = composeDoorward(
    { url: server.url },
    { env: {}, clock: { now: Date.now, monotonic: () => 0, random: Math.random } },
  );
  await expect(client.verifyToken(await server.token())).rejects.toMatchObject({
    code: 'CONFIG',
    options: ['scope'],
  });
  const principal = await client.verifyToken(await server.token(), { scope: server.scope });
  expect(principal.userId).toBe(userId);
});
