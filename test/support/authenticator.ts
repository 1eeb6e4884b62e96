import { stepAt, totpCode } from '../../src/crypto/totp.ts';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Bytes of RFC 4648 base 32, as an authenticator app reads them. */
export function fromBase32(text: string): Buffer {
  const bits = [...text].map((one) => alphabet.indexOf(one).toString(2).padStart(5, '0'));
  return Buffer.from((bits.join('').match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)));
}

/** What the app shows at an instant, or so many steps later. */
export const codeShown = (secret: string | null, now: Date, later = 0): string =>
  totpCode(fromBase32(secret ?? ''), stepAt(now) + later);
