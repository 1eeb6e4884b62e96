import { calculateJwkThumbprint } from 'jose';
import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createKeyPairStock, generateSigningKeyPair } from './rsa.ts';
import type { SigningKeyPair } from './rsa.ts';

describe('a key pair', () => {
  it.each([2048, 3072])('of %d bits signs, and its id is the RFC 7638 thumbprint', async (bits) => {
    const pair = await generateSigningKeyPair(bits);
    const privateKey = createPrivateKey(pair.privateKeyPem);
    const publicKey = createPublicKey(pair.publicKeyPem);
    expect(publicKey.asymmetricKeyDetails).toEqual({ modulusLength: bits, publicExponent: 65_537n });
    expect(verify('sha256', Buffer.from('x'), publicKey, sign('sha256', Buffer.from('x'), privateKey))).toBe(
      true,
    );
    expect(Object.keys(pair.publicJwk)).toEqual(['kty', 'n', 'e']);
    expect(publicKey.equals(createPublicKey({ key: { ...pair.publicJwk }, format: 'jwk' }))).toBe(true);
    expect(pair.kid).toBe(await calculateJwkThumbprint({ ...pair.publicJwk }));
  });
});

describe('the stock', () => {
  /** A fake generator that counts the generated pairs and the highest concurrency. */
  function counting() {
    const seen = { made: 0, running: 0, most: 0, failing: false };
    const make = async (): Promise<SigningKeyPair> => {
      seen.most = Math.max(seen.most, (seen.running += 1));
      await wait(1);
      seen.running -= 1;
      if (seen.failing) throw new Error('no entropy');
      seen.made += 1;
      return {
        kid: String(seen.made),
        publicKeyPem: '',
        privateKeyPem: '',
        publicJwk: { kty: 'RSA', n: '', e: '' },
      };
    };
    return { seen, make };
  }

  it('generates nothing before the first take, then fills up to its size, one at a time', async () => {
    const { seen, make } = counting();
    const stock = createKeyPairStock({ bits: 2048, size: 3, make });
    await wait(10);
    expect(seen.made).toBe(0);
    expect((await stock.take()).kid).toBe('1');
    await expect.poll(() => seen.made).toBe(4);
    await wait(10);
    expect(seen).toMatchObject({ made: 4, most: 1 });
  });

  it('never gives one pair twice', async () => {
    const { seen, make } = counting();
    const stock = createKeyPairStock({ bits: 2048, size: 2, make });
    const taken = await Promise.all(Array.from({ length: 20 }, () => stock.take()));
    expect(new Set(taken.map(({ kid }) => kid)).size).toBe(20);
    expect(seen.most).toBe(1);
  });

  it('serves after close without generating any ahead', async () => {
    const { seen, make } = counting();
    const stock = createKeyPairStock({ bits: 2048, size: 5, make });
    const waiting = stock.take();
    stock.close();
    await waiting;
    await stock.take();
    await wait(20);
    expect(seen.made).toBe(2);
  });

  it('rejects the waiting caller after a failure, and recovers', async () => {
    const { seen, make } = counting();
    const stock = createKeyPairStock({ bits: 2048, size: 1, make });
    seen.failing = true;
    await expect(stock.take()).rejects.toThrow('no entropy');
    seen.failing = false;
    expect(await stock.take()).toBeDefined();
  });

  it('contains real keys', async () => {
    const stock = createKeyPairStock({ bits: 2048, size: 0 });
    expect((await stock.take()).kid).toMatch(/^[\w-]{43}$/);
    stock.close();
  });
});
