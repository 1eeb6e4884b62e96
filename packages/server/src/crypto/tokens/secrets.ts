/**
 * Secrets of API keys (`dwk_`) and of project apps (`dws_`): the prefix, base64url of 34 random bytes, and six
 * characters of CRC-32 in base 62; 56 characters in total (identity §11). The prefix lets scanners find a leaked
 * secret; the checksum rejects a mistyped or invented one without a database query. 272 random bits need no slow hash;
 * the pepper makes a stolen table worthless.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const pattern = /^dw[ks]_[A-Za-z0-9_-]{46}[0-9A-Za-z]{6}$/;

/** Creates a secret. It is shown once and stored only as `hashSecret`. */
function newSecret(prefix: 'dwk_' | 'dws_'): string {
  const body = prefix + randomBytes(34).toString('base64url');
  return body + checksum(body);
}

export const newApiKeySecret = (): string => newSecret('dwk_');

export const newAppSecret = (): string => newSecret('dws_');

/** Whether a text has the format and the checksum of a secret. Does not check that the secret exists. */
export const isDoorwardSecret = (text: string): boolean =>
  pattern.test(text) && checksum(text.slice(0, -6)) === text.slice(-6);

/** HMAC-SHA-256 with a pepper (`kek.derive('api-key-pepper')`), 32 bytes. */
export const hashSecret = (pepper: Buffer, secret: string): Buffer =>
  createHmac('sha256', pepper).update(secret).digest();

/** Compares in constant time. */
export const equalHashes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && timingSafeEqual(a, b);

/** CRC-32 in base 62: six characters, padded with zeros (62⁶ > 2³²). */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < 6; i += 1) {
    digits = alphabet.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
