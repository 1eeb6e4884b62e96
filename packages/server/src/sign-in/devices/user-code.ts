import { randomInt } from 'node:crypto';
import { hashOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { fail } from '../../errors.ts';
import type { Call } from '../../kernel/context.ts';
import type { Services } from '../../services.ts';

/*
 * User codes (RFC 8628 §6.1): eight letters without vowels, so that they form no words. Anyone can try a code in a
 * browser. A browser that has entered five wrong codes may enter no more until its window ends, so that a careless
 * person doesn't lock out their colleagues. A browser can drop its cookie, so its network has a limit too: the quota of
 * the class. Requests without the cookie, which the page sets, count as one browser of their network.
 */

const letters = 'BCDFGHJKLMNPQRSTVWXZ';
const LENGTH = 8;
const MAX_WRONG = 5;
const pattern = new RegExp(`^[${letters}]{${LENGTH}}$`);

/** Returns a new random code. */
export const newUserCode = (): string =>
  Array.from({ length: LENGTH }, () => letters[randomInt(letters.length)]).join('');

/** Formats a code as `BCDF-GHJK`, which is easier to compare. */
export const shownCode = (code: string): string => `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;

/** Reads a code as a user types it, in any case and with any separators; undefined if it can't be a code. */
export function typedCode(typed: string): string | undefined {
  const code = typed.toUpperCase().replace(/[^A-Z0-9]/g, '');
  return pattern.test(code) ? code : undefined;
}

const networkBucket = ({ network }: Call): string => `device codes ${network}`;
const browserBucket = ({ deviceCookie, network }: Call): string =>
  deviceCookie === null
    ? `device code without a browser ${network}`
    : `device code ${hashOneTimeToken(deviceCookie)}`;

/**
 * Asserts that this browser may enter another code.
 * @throws RATE_LIMITED after five wrong codes of this browser, or too many from its network
 */
export async function assertMayEnter({ limiter }: Services, call: Call): Promise<void> {
  await limiter.consume('auth', networkBucket(call), 0);
  await limiter.consume('auth', browserBucket(call), 0);
}

/** Counts a wrong code. Five wrong codes exhaust the bucket of the browser, whatever the quota of the class is. */
export async function countWrongCode({ limiter, config }: Services, call: Call): Promise<void> {
  await limiter.consume('auth', networkBucket(call));
  await limiter.consume(
    'auth',
    browserBucket(call),
    Math.ceil(config.rateLimits.classes.auth.max / MAX_WRONG),
  );
}

/** The error for a code that does not exist, has expired, or was already decided; it is the same for all of them. */
export const wrongCode = () =>
  fail('INVALID_TOKEN', { fix: 'Enter the code that the device shows; it ends after ten minutes.' });
