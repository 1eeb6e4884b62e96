import fc from 'fast-check';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { CompactSign } from 'jose';
import { describe, expect, it } from 'vitest';
import { readHeader, signJwt, verifyJwt } from './jwt.ts';
import type { ExpectedToken } from './jwt.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 });

const at = 1_800_000_000;
const claims = {
  sub: 'user-1',
  jti: 'session-1',
  iss: 'https://auth.example.com',
  aud: 'https://auth.example.com',
  type: 'session',
  iat: at,
  exp: at + 900,
  email_verified: true,
};
const expected: ExpectedToken = {
  issuer: claims.iss,
  audience: claims.aud,
  types: ['session'],
  now: new Date(at * 1000),
};

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const headed = (header: unknown) => `${encode(header)}.${encode(claims)}.c2ln`;
const good = { alg: 'RS256', typ: 'JWT', kid: 'k1' };

/** 'ok' or the reason, for a correctly signed token with these changed claims. */
async function outcome(change: Record<string, unknown>, secondsLater = 0): Promise<string> {
  const token = await signJwt(privateKey, 'k1', { ...claims, ...change });
  const now = new Date((at + secondsLater) * 1000);
  const result = await verifyJwt(publicKey, token, { ...expected, now });
  return result.ok ? 'ok' : result.reason;
}

describe('signJwt', () => {
  it('writes exactly alg, typ and kid, and the claims as they are', async () => {
    const token = await signJwt(privateKey, 'k1', claims);
    const [header = '', payload = ''] = token.split('.');
    expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toEqual(good);
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toEqual(claims);
    expect(readHeader(token)).toEqual({ kid: 'k1' });
    expect(await verifyJwt(publicKey, token, expected)).toEqual({ ok: true, claims });
  });
});

describe('readHeader', () => {
  it('accepts a token with typ JWT, at+jwt or without typ', () => {
    expect(readHeader(headed(good))).toEqual({ kid: 'k1' });
    expect(readHeader(headed({ ...good, typ: 'at+jwt' }))).toEqual({ kid: 'k1' });
    expect(readHeader(headed({ alg: 'RS256', kid: 'k1' }))).toEqual({ kid: 'k1' });
  });

  it.each([
    { ...good, alg: 'none' },
    { ...good, alg: 'HS256' },
    { ...good, alg: 'PS256' },
    { ...good, alg: 'rs256' },
    { ...good, alg: ['RS256'] },
    { ...good, typ: 'doorward-snapshot+jwt' },
    { ...good, typ: null },
    { alg: 'RS256', typ: 'JWT' },
    { ...good, kid: '' },
    { ...good, kid: 7 },
    { ...good, kid: 'k\0' },
    { ...good, kid: 'k 1' },
    { ...good, kid: 'ké' },
    { ...good, kid: 'k'.repeat(256) },
    { ...good, jwk: {} },
    { ...good, jku: 'https://evil.example' },
    { ...good, x5u: 'https://evil.example' },
    { ...good, x5c: [] },
    { ...good, crit: ['exp'] },
    { ...good, b64: false },
    { ...good, extra: 1 },
    [good],
    null,
    'RS256',
  ])('refuses the header %j', (header) => {
    expect(readHeader(headed(header))).toBeNull();
  });

  it('rejects text that is too long or no token', () => {
    const token = headed(good);
    expect(readHeader(token.padEnd(8192, 'A'))).toEqual({ kid: 'k1' });
    expect(readHeader(token.padEnd(8193, 'A'))).toBeNull();
    for (const text of [
      '',
      '..',
      'a.b',
      'a.b.c',
      `${token}.d`,
      ` ${token}`,
      `${token}\n`,
      token.replace('.', '=.'),
    ]) {
      expect(readHeader(text)).toBeNull();
    }
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.anything(), fc.string(), (header, text) => {
        readHeader(text);
        readHeader(`${Buffer.from(fc.stringify(header)).toString('base64url')}.e30.c2ln`);
      }),
    );
  });
});

describe('verifyJwt', () => {
  it('rejects another key and every change of a character', async () => {
    const token = await signJwt(privateKey, 'k1', claims);
    const bad = { ok: false, reason: 'invalid' };
    expect(await verifyJwt(stranger.publicKey, token, expected)).toEqual(bad);
    for (let i = 0; i < token.length - 1; i += 7) {
      const changed = token.slice(0, i) + (token[i] === 'A' ? 'B' : 'A') + token.slice(i + 1);
      expect(await verifyJwt(publicKey, changed, expected)).toEqual(bad);
    }
  });

  it('rejects an HMAC with the public key as its key', async () => {
    const pem = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' });
    const forged = await new CompactSign(Buffer.from(JSON.stringify(claims)))
      .setProtectedHeader({ ...good, alg: 'HS256' })
      .sign(Buffer.from(pem));
    expect(await verifyJwt(publicKey, forged, expected)).toEqual({ ok: false, reason: 'invalid' });
  });

  it('has no leeway for exp', async () => {
    expect(await outcome({}, 899)).toBe('ok');
    expect(await outcome({}, 900)).toBe('expired');
    expect(await outcome({}, 90_000)).toBe('expired');
  });

  it('answers the claims of an expired token, but of no other rejected token', async () => {
    const token = await signJwt(privateKey, 'k1', claims);
    const later = { ...expected, now: new Date((at + 901) * 1000) };
    expect(await verifyJwt(publicKey, token, later)).toEqual({ ok: false, reason: 'expired', claims });
    expect(await outcome({ type: 'ApiKey' }, 901)).toBe('invalid');
  });

  it('allows 60 seconds for nbf and iat', async () => {
    expect(await outcome({ iat: at + 60, nbf: at + 60 })).toBe('ok');
    expect(await outcome({ iat: at + 61 })).toBe('invalid');
    expect(await outcome({ nbf: at + 61 })).toBe('invalid');
    expect(await outcome({ iat: undefined })).toBe('ok');
  });

  it('accepts a token that is for resource servers too', async () => {
    expect(await outcome({ aud: [claims.aud, 'https://api.example.com'] })).toBe('ok');
    expect(await outcome({ aud: [claims.aud] })).toBe('ok');
  });

  it.each([
    { sub: undefined },
    { sub: '' },
    { jti: undefined },
    { jti: 5 },
    { exp: undefined },
    { exp: String(at + 900) },
    { iat: 'now' },
    { nbf: null },
    { iss: 'https://other.example' },
    { iss: undefined },
    { aud: 'https://other.example' },
    { aud: ['https://api.example.com'] },
    { aud: [[claims.aud]] },
    { aud: [] },
    { aud: { 0: claims.aud, length: 1 } },
    { type: 'ApiKey' },
    { type: undefined },
  ])('refuses the claims %j', async (change) => {
    expect(await outcome(change)).toBe('invalid');
  });

  it('rejects a payload that is not an object', async () => {
    for (const payload of ['[]', 'null', '"x"', '{', '\xff']) {
      const token = await new CompactSign(Buffer.from(payload, 'latin1'))
        .setProtectedHeader(good)
        .sign(privateKey);
      expect(await verifyJwt(publicKey, token, expected)).toEqual({ ok: false, reason: 'invalid' });
    }
  });

  it('never throws', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), async (text) => {
        expect((await verifyJwt(publicKey, text, expected)).ok).toBe(false);
      }),
    );
  });
});
