import { and, eq, gt } from 'drizzle-orm';
import { hashOneTimeToken, newOneTimeToken } from '../../crypto/one-time-token.ts';
import { fail } from '../../errors.ts';
import type { Services } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { endLockOut } from '../me/failed-attempts.ts';
import { assertPassword, ownerOfPassword, replacePassword } from '../identity/new-password.ts';
import { mayMail } from '../sign-in-protection/mail-limit.ts';
import { oneTimeTokens } from '../identity/one-time-token.ts';
import { claimOf, mayExist } from '../identity/password-sign-in.ts';
import { endResets } from '../sign-in-protection/proofs.ts';
import type { Run, UserRow } from '../identity/sign-in.ts';
import { nodeOfUser, userAsActor } from '../identity/user-node.ts';
import { flushMails, lockUser, sendVerification } from '../identity/verification.ts';
import { resetMail } from './reset-mail.ts';

/**
 * A forgotten password is replaced by whoever reads the mail of a verified address. An unverified one proves nothing:
 * it may belong to somebody else, who must not get into what its claimant keeps here.
 */

/**
 * Queues a link to the stored address, if it is a verified one of an active user. To the unverified one of a registration
 * goes the link that verifies it, after which the password can be reset; does nothing for any other.
 */
export async function mailReset(ctx: Run, typed: string): Promise<void> {
  const { tx, services, call } = ctx;
  const { config, clock, mail } = services;
  const claim = await claimOf(tx, typed);
  if (!claim) return ctx.unchanged();
  // Two requests at once would else leave two links alive.
  const user = await lockUser(ctx, claim.user.id);
  if (!user || !mayExist(user)) return ctx.unchanged();
  const address = claim.method.providerId;
  const about = { target: { type: 'User', id: user.id }, node: await nodeOfUser(tx, user.id) };
  if (!claim.method.isVerified) {
    return (await sendVerification(ctx, user, address)) ? ctx.record(about) : ctx.unchanged();
  }
  if (!(await mayMail(services, 'reset', address))) return ctx.unchanged();
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
  ctx.record(about);
}

export interface PreparedReset {
  readonly userId: string;
  readonly address: string;
  readonly hash: string;
}

const isToken = (token: string, { clock }: Services) =>
  and(
    eq(oneTimeTokens.hash, hashOneTimeToken(token)),
    eq(oneTimeTokens.purpose, 'resetPassword'),
    gt(oneTimeTokens.expiresAt, clock.now()),
  );

/** The active user whose verified address the link was mailed to. It may have become another's since. */
async function holderOf(
  db: Executor,
  { userId, address }: { readonly userId: string; readonly address: string },
): Promise<UserRow | undefined> {
  const claim = await claimOf(db, address);
  const holds = claim?.method.isVerified && claim.user.id === userId && mayExist(claim.user);
  return holds ? claim.user : undefined;
}

/**
 * Looks at the token, then at the password, then hashes: strangers cost no hash, and a password that is refused does
 * not use the link up. @throws INVALID_TOKEN, VALIDATION_ERROR
 */
export async function prepareReset(
  db: Executor,
  services: Services,
  { token, newPassword }: { readonly token: string; readonly newPassword: string },
): Promise<PreparedReset> {
  const [known] = await db.select().from(oneTimeTokens).where(isToken(token, services));
  const user = known && (await holderOf(db, known));
  if (!user) throw fail('INVALID_TOKEN');
  await assertPassword(services, newPassword, await ownerOfPassword(db, user), 'newPassword');
  const { userId, address } = known;
  return { userId, address, hash: await services.passwords.hash(newPassword) };
}

/**
 * Uses up the token and replaces the password; all sessions of the user end, and what keeps networks out. It signs
 * nobody in, verifies nothing and takes no second factor away (identity §5). Of several at once, one wins.
 * @throws INVALID_TOKEN
 */
export async function reset(
  ctx: Run,
  token: string,
  { userId, address, hash }: PreparedReset,
): Promise<void> {
  const { tx, services } = ctx;
  await lockUser(ctx, userId);
  const [used] = await tx.delete(oneTimeTokens).where(isToken(token, services)).returning();
  const user = used && (await holderOf(tx, used));
  if (!user) throw fail('INVALID_TOKEN');
  await endLockOut(tx, userId);
  await replacePassword(ctx, user, hash, { actor: userAsActor(user), proved: address });
}
