import { randomInt } from 'node:crypto';
import { fail } from '../../errors.ts';
import type { Call, Services } from '../../kernel/context.ts';

/**
 * User codes (RFC 8628 §6.1): eight letters without vowels, so that they form no words.
 * Anyone may try one in a browser, so a network that entered five wrong ones may enter none until its window ends. The
 * network counts and not the browser, which can forget its cookies.
 */
const letters = 'BCDFGHJKLMNPQRSTVWXZ';
const LENGTH = 8;
const MAX_WRONG = 5;
const pattern = new RegExp(`^[${letters}]{${LENGTH}}$`);

export const newUserCode = (): string =>
  Array.from({ length: LENGTH }, () => letters[randomInt(letters.length)]).join('');

/** `BCDF-GHJK`, which is easier to compare. */
export const shownCode = (code: string): string => `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;

/** The code as a user typed it, in any case and with any separators; undefined for what is none. */
export function typedCode(typed: string): string | undefined {
  const code = typed.toUpperCase().replace(/[^A-Z0-9]/g, '');
  return pattern.test(code) ? code : undefined;
}

const bucketOf = ({ network }: Call): string => `device code ${network}`;

/** @throws RATE_LIMITED after five wrong codes from this network */
export const assertMayEnter = async ({ limiter }: Services, call: Call): Promise<void> =>
  void (await limiter.consume('auth', bucketOf(call), 0));

/** Counts a wrong code. At most five of them exhaust the bucket of the network, whatever the quota of the class is. */
export async function countWrongCode({ limiter, config }: Services, call: Call): Promise<void> {
  await limiter.consume('auth', bucketOf(call), Math.ceil(config.rateLimits.classes.auth.max / MAX_WRONG));
}

/** The same for a code that does not exist, has ended, or was answered. */
export const wrongCode = () =>
  fail('INVALID_TOKEN', { fix: 'Enter the code that the device shows; it ends after ten minutes.' });
