import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { signJwt, verifyJwt } from './jwt.ts';
import { createSignedOnce, type SignJwt } from './signed-once.ts';

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
  const signedOnce = createSignedOnce(
    (...args) => {
      at.signatures++;
      return sign(...args);
    },
    () => at.second,
  );
  return {
    at,
    sign: (more: object = {}, kid = 'one') => signedOnce(privateKey, kid, { ...claims, ...more }),
  };
}

describe('signing once', () => {
  it('gives the same claims the same token, with one signature, which holds', async () => {
    const { at, sign } = counted();
    const tokens = await Promise.all([sign(), sign(), sign()]);
    tokens.push(await sign());
    expect(new Set(tokens).size).toBe(1);
    expect(at.signatures).toBe(1);
    const expected = { issuer: claims.iss, audience: 'a', types: ['ApiKey'] };
    expect(await verifyJwt(publicKey, tokens[0] ?? '', expected)).toMatchObject({ ok: true });
  });

  it('signs other claims, and for another key, by themselves', async () => {
    const { at, sign } = counted();
    const tokens = await Promise.all([sign(), sign({ iat: 1 }), sign({ iat: 2 }), sign({}, 'two')]);
    expect(new Set(tokens).size).toBe(4);
    expect(at.signatures).toBe(4);
  });

  it('remembers nothing beyond the second, and the token is the same still', async () => {
    const { at, sign } = counted();
    const first = await sign();
    at.second++;
    expect(await sign()).toBe(first);
    expect(at.signatures).toBe(2);
  });

  it('tells everybody who waits of a failure, and tries again for the next', async () => {
    const failures = ['no thread is left'];
    const { at, sign } = counted(async (...args) => {
      const failure = failures.pop();
      if (failure) throw new Error(failure);
      return signJwt(...args);
    });
    const [one, two] = await Promise.allSettled([sign(), sign()]);
    expect([one?.status, two?.status]).toEqual(['rejected', 'rejected']);
    expect(await sign()).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(at.signatures).toBe(2);
  });
});
