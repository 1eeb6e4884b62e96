import { hashOneTimeToken, newOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { flushMails } from '../../people/flush-mails.ts';
import { oneTimeTokens } from '../../schema/sign-in/one-time-token.ts';
import type { Run } from '../../services.ts';
import type { UserRow } from '../../schema/people/user.ts';
import { consumeMailQuota } from '../protection/mail-limit.ts';
import { endResets } from '../../sessions/pending-proofs.ts';
import { resetMail } from './reset-mail.ts';

/**
 * Mails a link that resets the password to a verified address of the user, and ends earlier links. Returns false, and
 * sends nothing, if too many mails went to the address. The caller has locked the user's row.
 */
export async function mailResetLinkTo(ctx: Run, user: UserRow, address: string): Promise<boolean> {
  const { tx, services, call } = ctx;
  const { config, clock, mail } = services;
  if (!(await consumeMailQuota(services, 'reset', address))) return false;
  await endResets(tx, user.id);
  const token = newOneTimeToken();
  await tx.insert(oneTimeTokens).values({
    hash: hashOneTimeToken(token),
    purpose: 'resetPassword',
    userId: user.id,
    address,
    expiresAt: new Date(clock.now().getTime() + config.auth.resetTokenMinutes * 60_000),
  });
  await mail.queue(tx, resetMail(config, address, user.locale ?? call.language, token));
  flushMails(ctx);
  return true;
}
