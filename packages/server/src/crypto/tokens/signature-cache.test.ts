import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { signJwt, verifyJwt } from './jwt.ts';
import { createSignatureCache, type SignJwt } from './signature-cache.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const claims = {
  iss: 'https://issuer.test',
  aud: 'a',
  sub: 's',
  jti: 'j',
  type: 'ApiKey',
  exp: 2_000_000_000,
};

function counted(sign: SignJwt = signJwt) {
  const at = { second: 7, signatures: 0 };
  const signCached = createSignatureCache(
    (...args) => {
      at.signatures++;
      return sign(...args);
    },
    () => at.second,
  );
  return {
    at,
    sign: (more: object = {}, kid = 'one') => signCached(privateKey, kid, { ...claims, ...more }),
  };
}

describe('the signature cache', () => {
  it('answers equal claims with the same valid token and one signature', async () => {
    const { at, sign } = counted();
    const tokens = await Promise.all([sign(), sign(), sign()]);
    tokens.push(await sign());
    expect(new Set(tokens).size).toBe(1);
    expect(at.signatures).toBe(1);
    const expected = { issuer: claims.iss, audience: 'a', types: ['ApiKey'] };
    expect(await verifyJwt(publicKey, tokens[0] ?? '', expected)).toMatchObject({ ok: true });
  });

  it('signs other claims, and claims for another key, separately', async () => {
    const { at, sign } = counted();
    const tokens = await Promise.all([sign(), sign({ iat: 1 }), sign({ iat: 2 }), sign({}, 'two')]);
    expect(new Set(tokens).size).toBe(4);
    expect(at.signatures).toBe(4);
  });

  it('is emptied after one second, and a new signature gives the same token', async () => {
    const { at, sign } = counted();
    const first = await sign();
    at.second++;
    expect(await sign()).toBe(first);
    expect(at.signatures).toBe(2);
  });

  it('rejects all waiting callers after a failure, and signs again for the next caller', async () => {
    const failures = ['no thread is left'];
    const { at, sign } = counted(async (...args) => {
      const failure = failures.pop();
      if (failure) throw new Error(failure);
      return signJwt(...args);
    });
    const [promiseSettledResult, two] = await Promise.allSettled([sign(), sign()]);
    expect([promiseSettledResult?.status, two?.status]).toEqual(['rejected', 'rejected']);
    expect(await sign()).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(at.signatures).toBe(2);
  });
});
