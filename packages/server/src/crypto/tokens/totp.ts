/**
 * Time-based one-time passwords (RFC 6238) with SHA-1, 6 digits and 30 seconds, which every authenticator app supports.
 * Accepts the current time step, the one before and the one after it, because clocks differ. The caller prevents reuse:
 * it stores the matched step and passes it as `after`.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const STEP_SECONDS = 30;
const DIGITS = 6;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Returns 160 random bits, the length of the hash (RFC 4226 §4). Shown once and stored sealed. */
export const newTotpSecret = (): Buffer => randomBytes(20);

/** Encodes as RFC 4648 base 32. The length must be a multiple of five bytes, so there is no padding. */
export function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{5}/g) ?? []).map((five) => alphabet.charAt(parseInt(five, 2))).join('');
}

/** The time step at a time (RFC 6238 §4.2). */
export const stepAt = (now: Date): number => Math.floor(now.getTime() / 1000 / STEP_SECONDS);

/** The code of a time step (RFC 4226 §5.3). */
export function totpCode(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = mac.readUInt8(mac.length - 1) & 0x0f;
  const number = mac.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0');
}

/** Returns the earliest accepted time step after `after` that has this code; null if there is none. */
export function matchingStep(secret: Buffer, code: string, now: Date, after: number | null): number | null {
  const received = Buffer.from(code);
  const current = stepAt(now);
  const matching = [current - 1, current, current + 1].filter((step) => {
    const expected = Buffer.from(totpCode(secret, step));
    return received.length === expected.length && timingSafeEqual(received, expected);
  });
  return matching.find((step) => after === null || step > after) ?? null;
}

/** The URL in the QR code for authenticator apps. */
export function otpauthUrl(issuer: string, account: string, secret: string): string {
  const [from, who] = [encodeURIComponent(issuer), encodeURIComponent(account)];
  return `otpauth://totp/${from}:${who}?secret=${secret}&issuer=${from}&algorithm=SHA1&digits=${DIGITS}&period=${STEP_SECONDS}`;
}

/** The codes that people type: six digits, with spaces anywhere. */
export const typedTotpCode = /^ *(?:[0-9] *){6}$/;
