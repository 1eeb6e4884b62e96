import { randomBytes, randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { firstRefreshToken } from './refresh-token.ts';
import { equalHashes, hashSecret, isDoorwardSecret, newApiKeySecret, newAppSecret } from './secrets.ts';

/** The secret-scanning rules from the published file. */
const published = readFileSync(join(import.meta.dirname, '../../../../../security/gitleaks.toml'), 'utf8');
const ruleOf = (id: string): RegExp =>
  new RegExp(new RegExp(`^id = "${id}"\\n[^[]*?regex = '''(.+)'''$`, 'm').exec(published)?.[1] ?? '(?!)');
const rule = ruleOf('doorward-api-key-secret');

describe('a secret', () => {
  it('has 56 characters and is valid base64url, 10,000 times', () => {
    const seen = new Set<string>();
    for (let i = 0; i < 10_000; i += 1) {
      const secret = newApiKeySecret();
      if (!/^dwk_[A-Za-z0-9_-]{46}[0-9A-Za-z]{6}$/.test(secret) || !isDoorwardSecret(secret)) {
        expect.fail('a new secret is refused');
      }
      if (rule.exec(secret)?.[1] !== secret) expect.fail('a new secret is not found by the published rule');
      seen.add(secret);
    }
    expect(seen.size).toBe(10_000);
    const [item = ''] = seen;
    expect(item).toHaveLength(56);
    expect(Buffer.from(item, 'base64url').toString('base64url')).toBe(item);
  });

  it('is rejected after a change of one character, 10,000 times and at every position', () => {
    const characters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    let changes = 0;
    while (changes < 10_000) {
      const secret = newApiKeySecret();
      const at = changes % secret.length;
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

  it('has the checksum that other tools compute', () => {
    // python3: zlib.crc32(b'dwk_' + b'A' * 46) == 0xfcfe9d6b, in base 62
    const body = `dwk_${'A'.repeat(46)}`;
    expect(isDoorwardSecret(`${body}4dFg1D`)).toBe(true);
  });
});

describe('the published rule', () => {
  const secret = newApiKeySecret();

  it.each([
    `DOORWARD_SECRET=${secret}`,
    `{"clientSecret":"${secret}"}`,
    `-H 'x: ${secret}' \\`,
    `first line\n${secret}\nlast line`,
  ])('finds a secret in %j', (text) => {
    expect(rule.exec(text)?.[1]).toBe(secret);
  });

  it.each([`x${secret}`, `${secret}x`, `${secret}-`, secret.slice(0, -1), secret.replace('dwk_', 'dwr_')])(
    'finds none in %j',
    (text) => {
      expect(rule.test(text)).toBe(false);
    },
  );

  it('finds secrets of project apps with a separate rule', () => {
    const secretOfApp = newAppSecret();
    expect(isDoorwardSecret(secretOfApp)).toBe(true);
    expect(ruleOf('doorward-project-app-secret').exec(`secret: ${secretOfApp}\n`)?.[1]).toBe(secretOfApp);
    expect(rule.test(secretOfApp)).toBe(false);
    expect(isDoorwardSecret(secretOfApp.replace('dws_', 'dwk_'))).toBe(false);
  });

  it('finds refresh tokens with a separate rule', () => {
    const token = firstRefreshToken([randomBytes(32)], '5f0c7b0e-8a0b-4f43-9d55-2f1f6a1f0a11');
    expect(ruleOf('doorward-refresh-token').exec(`token: ${token}\n`)?.[1]).toBe(token);
    expect(rule.test(token)).toBe(false);
  });
});

describe('stored hashes', () => {
  it('depend on secret and pepper and compare as a whole', () => {
    const [pepper, other] = [randomBytes(32), randomBytes(32)];
    const secret = newApiKeySecret();
    const stored = hashSecret(pepper, secret);
    expect(stored).toHaveLength(32);
    expect(equalHashes(stored, hashSecret(pepper, secret))).toBe(true);
    expect(equalHashes(stored, hashSecret(other, secret))).toBe(false);
    expect(equalHashes(stored, hashSecret(pepper, newApiKeySecret()))).toBe(false);
    expect(equalHashes(stored, stored.subarray(1))).toBe(false);
  });
});
