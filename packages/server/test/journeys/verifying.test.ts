import { sql } from 'drizzle-orm';
import { createRemoteJWKSet, customFetch, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import type { JSONWebKeySet } from 'jose';
import jsonwebtoken from 'jsonwebtoken';
import { createPublicKey } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOwnApp, type TestApp } from '../support/app/app.ts';
import { storyTransports } from '../support/cases/breadth.ts';
import { unique, type Person } from '../support/app/client.ts';

/**
 * Third parties verify tokens: two independent libraries, which know only the issuer and read its JWKS over HTTP, with
 * a cache that follows `Cache-Control` exactly.
 */
const base = 'http://localhost:4000';

let app: TestApp;
let owner: Person;
let address: string;

beforeAll(async () => {
  app = await startOwnApp();
  owner = await app.person({ type: 'organization' });
  await app.server.listen({ host: '127.0.0.1', port: 0 });
  address = `http://127.0.0.1:${(app.server.server.address() as AddressInfo).port}`;
});
afterAll(() => app.close());

interface Kept {
  readonly body: string;
  readonly etag: string;
  readonly until: number;
}

/** A cache by RFC 9111 in front of one verifier. `pass` advances the time of this cache alone. */
function cache() {
  let now = 0;
  let kept: Kept | undefined;
  const statuses: number[] = [];
  const reach = async (url: string): Promise<string> => {
    if (kept && now < kept.until) return kept.body;
    const headers: Record<string, string> = kept ? { 'if-none-match': kept.etag } : {};
    const answer = await fetch(url.replace(base, address), { headers });
    statuses.push(answer.status);
    const [, seconds = ''] = /^public, max-age=(\d+)$/.exec(answer.headers.get('cache-control') ?? '') ?? [];
    const body = answer.status === 304 && kept ? kept.body : await answer.text();
    kept = { body, etag: answer.headers.get('etag') ?? '', until: now + Number(seconds) };
    return body;
  };
  return { reach, statuses, pass: (seconds: number) => void (now += seconds) };
}

interface Verifier {
  readonly library: string;
  readonly verify: (token: string) => Promise<unknown>;
  readonly statuses: readonly number[];
  readonly pass: (seconds: number) => void;
}

/** New verifiers of both libraries, with empty caches. They ask their own cache for each token. */
function verifiers(issuer: string): Verifier[] {
  const url = `${issuer}/.well-known/jwks.json`;
  const options = { issuer, audience: base, algorithms: ['RS256' as const] };
  const [first, second] = [cache(), cache()];
  const read = async (wanted: string) => new Response(await first.reach(wanted), { status: 200 });
  return [
    {
      ...first,
      library: 'jose',
      verify: async (token) =>
        (
          await jwtVerify(
            token,
            createRemoteJWKSet(new URL(url), {
              [customFetch]: (wanted) => read(wanted),
              cooldownDuration: 0,
            }),
            options,
          )
        ).payload,
    },
    {
      ...second,
      library: 'jsonwebtoken',
      verify: async (token) => {
        const { keys } = JSON.parse(await second.reach(url)) as JSONWebKeySet;
        const jwk = keys.find(({ kid }) => kid === kidOf(token));
        if (!jwk) throw new Error('no such key');
        return jsonwebtoken.verify(token, createPublicKey({ key: jwk, format: 'jwk' }), options);
      },
    },
  ];
}

const kidOf = (token: string) => decodeProtectedHeader(token).kid;
const forged = (token: string): string => {
  const [header = '', , signature = ''] = token.split('.');
  const claims = { ...decodeJwt(token), sub: owner.userId, admin: true };
  return `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`;
};

async function project() {
  const as = { token: owner.token };
  const organization = await app.must('createOrganization', { scope: owner.account, name: unique() }, as);
  const scope = { tenant: 'organization' as const, id: organization.id };
  const made = await app.must('createProject', { scope, name: 'P' }, as);
  const key = await app.must('createApiKey', { scope: made.scope }, as);
  const credentials = { clientId: key.clientId, clientSecret: key.clientSecret as string, scope: key.scope };
  return {
    ...made,
    issuer: `${base}/org/${organization.id}/prj/${made.id}`,
    mint: async () => (await app.must('exchangeApiKey', credentials)).accessToken,
  };
}

describe.each(storyTransports(import.meta))('a rotation over %s', (via) => {
  it('does not affect a verifier whose copy of the keys is older', async () => {
    const { scope, issuer, mint } = await project();
    const rotate = (input: object = {}) =>
      app.must('rotateSigningKey', { scope, ...input }, { via, token: owner.token });
    const readers = verifiers(issuer);
    const before = await mint();
    for (const { library, verify, pass } of readers) {
      expect(await verify(before), library).toMatchObject({ iss: issuer, aud: base, type: 'ApiKey' });
      // The last second in which the copy may be used without a request.
      pass(299);
    }
    await rotate();
    const after = await mint();
    expect(kidOf(after)).not.toBe(kidOf(before));
    for (const { library, verify, statuses, pass } of readers) {
      expect(await verify(after), library).toMatchObject({ iss: issuer });
      expect(await verify(before), library).toMatchObject({ iss: issuer });
      await expect(verify(forged(after)), library).rejects.toThrow();
      expect(statuses, library).toEqual([200]);
      pass(1);
      // After the next request the old key is still published for the tokens that it signed, and nothing changes.
      expect(await verify(before), library).toMatchObject({ iss: issuer });
      pass(300);
      expect(await verify(after), library).toMatchObject({ iss: issuer });
      expect(statuses, library).toEqual([200, 200, 304]);
    }
  });

  it('with a revocation is seen when the copy expires', async () => {
    const { scope, issuer, mint } = await project();
    const readers = verifiers(issuer);
    const before = await mint();
    for (const { verify } of readers) await verify(before);
    await app.must('rotateSigningKey', { scope, revokeOld: true }, { via, token: owner.token });
    const after = await mint();
    for (const { library, verify, pass } of readers) {
      expect(await verify(after), library).toMatchObject({ iss: issuer });
      pass(300);
      expect(await verify(after), library).toMatchObject({ iss: issuer });
      await expect(verify(before), library).rejects.toThrow();
    }
  });
});

it('keeps a retired key published for the life of its tokens and five minutes more', async () => {
  const { id, scope, issuer, mint } = await project();
  const before = await mint();
  await app.must('rotateSigningKey', { scope }, { token: owner.token });
  const age = (seconds: number) =>
    app.database.pool.execute(
      sql`update signing_keys set published_until = published_until - make_interval(secs => ${seconds})
          where tenant_id = ${id} and status = 'retired'`,
    );
  await age(15 * 60 + 270);
  for (const { library, verify } of verifiers(issuer)) {
    expect(await verify(before), library).toMatchObject({ iss: issuer });
  }
  await age(30);
  for (const { library, verify } of verifiers(issuer)) {
    await expect(verify(before), library).rejects.toThrow();
  }
});

it('leaves the tokens of sessions verifiable through a rotation of the system key', async () => {
  const readers = verifiers(base);
  for (const { library, verify } of readers) {
    expect(await verify(owner.token), library).toMatchObject({ sub: owner.userId, type: 'session' });
  }
  await app.database.pool.execute(
    sql`update signing_keys set activated_at = now() - interval '90 days' where issuer = ${base} and status = 'active'`,
  );
  expect(await app.app.rotateSystemKey()).toBe(true);
  const { accessToken } = await app.must('refreshSession', {
    accessToken: owner.token,
    refreshToken: owner.refreshToken,
  });
  expect(kidOf(accessToken)).not.toBe(kidOf(owner.token));
  for (const { library, verify, statuses } of readers) {
    expect(await verify(accessToken), library).toMatchObject({ sub: owner.userId });
    expect(await verify(owner.token), library).toMatchObject({ sub: owner.userId });
    expect(statuses, library).toEqual([200]);
  }
});

it('keeps issuers separate: keys of one verify no token of another', async () => {
  const [item, other] = [await project(), await project()];
  const token = await item.mint();
  for (const issuer of [other.issuer, base]) {
    for (const { library, verify } of verifiers(issuer)) {
      await expect(verify(token), library).rejects.toThrow();
    }
  }
});
