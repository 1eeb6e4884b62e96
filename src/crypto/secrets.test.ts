import { randomBytes, randomInt } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { equalHashes, hashApiKeySecret, isDoorwardSecret, newApiKeySecret } from './secrets.ts';

describe('a secret', () => {
  it('has 56 characters and is valid base64url, 10,000 times', () => {
    const seen = new Set<string>();
    for (let i = 0; i < 10_000; i += 1) {
      const secret = newApiKeySecret();
      if (!/^dwk_[A-Za-z0-9_-]{46}[0-9A-Za-z]{6}$/.test(secret) || !isDoorwardSecret(secret)) {
        expect.fail('a new secret is refused');
      }
      seen.add(secret);
    }
    expect(seen.size).toBe(10_000);
    const [one = ''] = seen;
    expect(one).toHaveLength(56);
    expect(Buffer.from(one, 'base64url').toString('base64url')).toBe(one);
  });

  it('is refused after any change of one character, 10,000 times', () => {
    const characters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    let changes = 0;
    while (changes < 10_000) {
      const secret = newApiKeySecret();
      const at = randomInt(secret.length);
      const other = characters.charAt(randomInt(characters.length));
      if (other === secret[at]) continue;
      changes += 1;
      if (isDoorwardSecret(secret.slice(0, at) + other + secret.slice(at + 1))) {
        expect.fail(`a change at ${at} is accepted`);
      }
    }
  });

  it.each(['', 'dwk_', ' ' + newApiKeySecret(), newApiKeySecret() + '\n', newApiKeySecret().toUpperCase()])(
    'is not %j',
    (text) => {
      expect(isDoorwardSecret(text)).toBe(false);
    },
  );

  it('keeps the checksum that other tools computed', () => {
    // python3: zlib.crc32(b'dwk_' + b'A' * 46) == 0xfcfe9d6b, in base 62
    const body = `dwk_${'A'.repeat(46)}`;
    expect(isDoorwardSecret(`${body}4dFg1D`)).toBe(true);
  });
});

describe('stored hashes', () => {
  it('depend on secret and pepper and compare as a whole', () => {
    const [pepper, other] = [randomBytes(32), randomBytes(32)];
    const secret = newApiKeySecret();
    const stored = hashApiKeySecret(pepper, secret);
    expect(stored).toHaveLength(32);
    expect(equalHashes(stored, hashApiKeySecret(pepper, secret))).toBe(true);
    expect(equalHashes(stored, hashApiKeySecret(other, secret))).toBe(false);
    expect(equalHashes(stored, hashApiKeySecret(pepper, newApiKeySecret()))).toBe(false);
    expect(equalHashes(stored, stored.subarray(1))).toBe(false);
  });
});
