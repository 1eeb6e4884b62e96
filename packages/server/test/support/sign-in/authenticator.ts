import { stepAt, totpCode } from '../../../src/crypto/tokens/totp.ts';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Decodes base 32 (RFC 4648), as an authenticator app does. */
export function fromBase32(text: string): Buffer {
  const bits = [...text].map((item) => alphabet.indexOf(item).toString(2).padStart(5, '0'));
  return Buffer.from((bits.join('').match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)));
}

/** The code of the app at an instant, or this many steps later. */
export const codeShown = (secret: string | null, now: Date, later = 0): string =>
  totpCode(fromBase32(secret ?? ''), stepAt(now) + later);
