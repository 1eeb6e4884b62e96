import { randomInt, timingSafeEqual } from 'node:crypto';
import { hashOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import type { Clock } from '../../kernel/ports.ts';
import { FLOW_SECONDS } from './flow.ts';
import type { MailedCode } from './flow-data.ts';

/*
 * The six digits in a mail, for people who read their mail on another device. A chance of one in a million is easy to
 * hit in the long run, so a code works only in the flow of the browser that requested it, for one purpose, and ends
 * with the fifth wrong entry. It is stored sealed, with the flow.
 */

const MAX_WRONG_ENTRIES = 5;

/** Returns a new random code. */
export const newCode = (): string => String(randomInt(1_000_000)).padStart(6, '0');

/** The code and link of a new mail, for storage with the flow. */
export const newMailedCode = (
  clock: Clock,
  {
    address,
    purpose,
    code,
    token,
  }: Pick<MailedCode, 'address' | 'purpose' | 'code'> & { readonly token?: string | undefined },
): MailedCode => ({
  address,
  purpose,
  code,
  ...(token !== undefined && { tokenHash: hashOneTimeToken(token) }),
  wrongEntries: 0,
  expiresAt: new Date(clock.now().getTime() + FLOW_SECONDS * 1000).toISOString(),
});

/** Whether code and link still work. */
export const isLive = (mail: MailedCode, clock: Clock): boolean =>
  mail.wrongEntries < MAX_WRONG_ENTRIES && new Date(mail.expiresAt) > clock.now();

const digits = /^[0-9]{6}$/;

/**
 * Reads a typed code, without the spaces and hyphens that people and mail programs add; null if it cannot be a code.
 */
export function typedCode(typed: string): string | null {
  const code = typed.replaceAll(/[\s\u200B-]/g, '');
  return digits.test(code) ? code : null;
}

/**
 * Whether the token is that of the link in this mail. Also true without a hash: a flow of the former version has none,
 * and if nothing was mailed no token finds the flow.
 */
export const isLinkOf = ({ tokenHash }: MailedCode, token: string): boolean =>
  tokenHash === undefined || tokenHash === hashOneTimeToken(token);

/** Whether the code is the one in the mail. */
export const isCodeOf = (mail: MailedCode, code: string): boolean =>
  mail.code !== null && timingSafeEqual(Buffer.from(mail.code), Buffer.from(code));
