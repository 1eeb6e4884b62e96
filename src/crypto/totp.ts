/**
 * Time-based one-time codes (RFC 6238): SHA-1, 6 digits, 30 seconds, which is what every authenticator app speaks.
 * A code is looked for in the step of now and one to each side, since clocks differ. That a step counts once is the
 * caller's to keep: he stores the step that matched and asks only for later ones.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const STEP_SECONDS = 30;
const DIGITS = 6;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** 160 random bits, the length of the hash (RFC 4226 §4). Leaves the service once, and is stored sealed. */
export const newTotpSecret = (): Buffer => randomBytes(20);

/** RFC 4648 base 32 of whole groups of five bytes, so without padding. */
export function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{5}/g) ?? []).map((five) => alphabet.charAt(parseInt(five, 2))).join('');
}

/** The number of the 30 seconds that an instant lies in. */
export const stepAt = (now: Date): number => Math.floor(now.getTime() / 1000 / STEP_SECONDS);

/** The code of a step (RFC 4226 §5.3). */
export function totpCode(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = mac.readUInt8(mac.length - 1) & 0x0f;
  const number = mac.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0');
}

/** The earliest step around now, later than `after`, whose code this is; null when there is none. */
export function matchingStep(secret: Buffer, code: string, now: Date, after: number | null): number | null {
  const given = Buffer.from(code);
  const current = stepAt(now);
  const fitting = [current - 1, current, current + 1].filter((step) => {
    const expected = Buffer.from(totpCode(secret, step));
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  return fitting.find((step) => after === null || step > after) ?? null;
}

/** What an authenticator app reads from the QR code. */
export function otpauthUrl(issuer: string, account: string, secret: string): string {
  const [from, who] = [encodeURIComponent(issuer), encodeURIComponent(account)];
  return `otpauth://totp/${from}:${who}?secret=${secret}&issuer=${from}&algorithm=SHA1&digits=${DIGITS}&period=${STEP_SECONDS}`;
}
