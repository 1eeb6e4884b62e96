import { and, eq, gt } from 'drizzle-orm';
import { hashOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { fail } from '../../errors.ts';
import type { Services, Run } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { endLockout } from '../../people/lockout.ts';
import { assertPassword, loadPasswordOwner, replacePassword } from '../passwords/new-password.ts';
import { oneTimeTokens } from '../../schema/sign-in/one-time-token.ts';
import { findClaim, canSignIn } from '../../sessions/password-sign-in.ts';
import type { UserRow } from '../../schema/people/user.ts';
import { nodeOfUser, userAsActor } from '../../people/user-node.ts';
import { lockUser } from '../../people/lock-user.ts';
import { sendVerification } from '../addresses/verification.ts';
import { otherSignIns, removeUnproven } from '../passwords/remaining-sign-ins.ts';
import { mailResetLinkTo } from '../passwords/reset-link.ts';

/**
 * Mails a reset link to an active user's verified address. An unverified address of a registration gets its
 * verification link instead, because it may belong to another person, who must not get into the account; once it is
 * verified, the user can reset the password. Any other address gets no mail.
 */
export async function mailResetLink(ctx: Run, typedAddress: string): Promise<void> {
  const { tx } = ctx;
  const claim = await findClaim(tx, typedAddress);
  if (!claim) return ctx.unchanged();
  // Without the lock, two concurrent requests would leave two valid links.
  const user = await lockUser(ctx, claim.user.id);
  if (!user || !canSignIn(user)) return ctx.unchanged();
  const address = claim.method.providerId;
  const entry = { target: { type: 'User', id: user.id }, node: await nodeOfUser(tx, user.id) };
  if (!claim.method.isVerified) {
    return (await sendVerification(ctx, user, address)) ? ctx.record(entry) : ctx.unchanged();
  }
  if (await mailResetLinkTo(ctx, user, address)) ctx.record(entry);
  else ctx.unchanged();
}

/** A reset that was checked before its transaction, with the hash of the new password. */
interface PreparedReset {
  readonly userId: string;
  readonly address: string;
  readonly hash: string;
}

const matchesToken = (token: string, { clock }: Services) =>
  and(
    eq(oneTimeTokens.hash, hashOneTimeToken(token)),
    eq(oneTimeTokens.purpose, 'resetPassword'),
    gt(oneTimeTokens.expiresAt, clock.now()),
  );

/** The active user to whose verified address the link was mailed, unless the address now belongs to another user. */
async function userOfVerifiedAddress(
  db: Executor,
  { userId, address }: { readonly userId: string; readonly address: string },
): Promise<UserRow | undefined> {
  const claim = await findClaim(db, address);
  const isSameUser = claim?.method.isVerified && claim.user.id === userId && canSignIn(claim.user);
  return isSameUser ? claim.user : undefined;
}

/**
 * Checks the token, then the password, then hashes it. So a caller without a valid token costs no hash, and a refused
 * password does not use up the link.
 *
 * @throws INVALID_TOKEN, VALIDATION_ERROR
 */
export async function prepareReset(
  db: Executor,
  services: Services,
  { token, newPassword }: { readonly token: string; readonly newPassword: string },
): Promise<PreparedReset> {
  const [stored] = await db.select().from(oneTimeTokens).where(matchesToken(token, services));
  const user = stored && (await userOfVerifiedAddress(db, stored));
  if (!user) throw fail('INVALID_TOKEN');
  await assertPassword(services, newPassword, await loadPasswordOwner(db, user), 'newPassword');
  const { userId, address } = stored;
  return { userId, address, hash: await services.passwords.hash(newPassword) };
}

/**
 * Uses up the token and replaces the password. Ends all sessions, the lockout and the unproved addresses of the user,
 * and mails the user a list of what can still sign in. Starts no session, verifies no address and removes no second
 * factor (identity §5). Of concurrent requests with one token, one succeeds.
 *
 * @throws INVALID_TOKEN
 */
export async function applyReset(
  ctx: Run,
  token: string,
  { userId, address, hash }: PreparedReset,
): Promise<void> {
  const { tx, services } = ctx;
  await lockUser(ctx, userId);
  const [used] = await tx.delete(oneTimeTokens).where(matchesToken(token, services)).returning();
  const user = used && (await userOfVerifiedAddress(tx, used));
  if (!user) throw fail('INVALID_TOKEN');
  await endLockout(tx, userId);
  await removeUnproven(ctx, user);
  await replacePassword(ctx, user, hash, {
    actor: userAsActor(user),
    proved: address,
    remaining: await otherSignIns(tx, userId, address),
  });
}
