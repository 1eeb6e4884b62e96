import { and, asc, desc, eq, gt, inArray, ne, or } from 'drizzle-orm';
import { z } from 'zod';
import { hashOneTimeToken, newOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { fail } from '../../errors.ts';
import { authenticationMethods } from '../../schema/sign-in/authentication-method.ts';
import { deleteUser } from '../../members/delete-user.ts';
import { nodeOfUser, systemActor, userAsActor } from '../../people/user-node.ts';
import { users, type UserRow } from '../../schema/people/user.ts';
import { findAddressOwner } from '../../people/address.ts';
import { consumeMailQuota } from '../protection/mail-limit.ts';
import { recordMethodChange } from '../protection/method-changes.ts';
import { oneTimeTokens } from '../../schema/sign-in/one-time-token.ts';
import { userData } from '../../sessions/sign-in.ts';
import type { Run } from '../../services.ts';
import { verificationMail } from './verification-mail.ts';
import { flushMails } from '../../people/flush-mails.ts';
import { isAddress, lockClaimants, type Claim, lockClaims } from '../../people/address-claims.ts';
import { lockUser } from '../../people/lock-user.ts';

/** The output of operations that must not reveal whether an address is registered. */
export const Accepted = z
  .object({ accepted: z.literal(true).describe('The same for every address.') })
  .meta({ id: 'Accepted', description: 'If the address is known, a mail is on its way.' });

/** Removes claims after another user has proved the address. Call `settleLostClaims` for their users. */
export async function removeClaims({ tx }: Pick<Run, 'tx'>, claims: readonly Claim[]): Promise<void> {
  const ids = claims.map(({ id }) => id);
  if (ids.length > 0) await tx.delete(authenticationMethods).where(inArray(authenticationMethods.id, ids));
}

/**
 * Queues a new link for the user and address, and ends older links. Returns false, and does nothing, if another user
 * owns the address through any method, or if the mail quota of the address is used up; an earlier link then still
 * works.
 */
export async function sendVerification(ctx: Run, user: UserRow, address: string): Promise<boolean> {
  const { tx, services, call } = ctx;
  const { config, clock, mail } = services;
  const owner = await findAddressOwner(tx, address);
  if (owner && owner.id !== user.id) return false;
  if (!(await consumeMailQuota(services, 'verification', address))) return false;
  await tx
    .delete(oneTimeTokens)
    .where(
      and(
        eq(oneTimeTokens.userId, user.id),
        eq(oneTimeTokens.purpose, 'verifyEmail'),
        eq(oneTimeTokens.address, address),
      ),
    );
  // The reader must see which user would get the address, because anyone can request the link.
  const addedBy = user.emailVerified ? user.email : null;
  const token = newOneTimeToken();
  await tx.insert(oneTimeTokens).values({
    hash: hashOneTimeToken(token),
    purpose: 'verifyEmail',
    userId: user.id,
    address,
    expiresAt: new Date(clock.now().getTime() + config.auth.verificationTokenHours * 3_600_000),
  });
  await mail.queue(tx, verificationMail(config, address, user.locale ?? call.language, token, addedBy));
  flushMails(ctx);
  return true;
}

/**
 * Queues a new link for the unverified address of a registration, if there is one. If a user has added the address, or
 * their claim on it has ended, only that user gets a link: it would add the address to their account, so no other
 * caller can request it.
 *
 * @param caller the signed-in user, if any
 */
export async function mailVerificationAgain(
  ctx: Run,
  address: string,
  caller: string | undefined,
): Promise<void> {
  const { tx } = ctx;
  const mayAsk = or(
    eq(authenticationMethods.claims, true),
    ...(caller === undefined ? [] : [eq(authenticationMethods.userId, caller)]),
  );
  const [claim] = await tx
    .select({ userId: authenticationMethods.userId, isVerified: authenticationMethods.isVerified })
    .from(authenticationMethods)
    .where(and(isAddress(address), mayAsk))
    .orderBy(desc(authenticationMethods.claims))
    .limit(1);
  if (!claim || claim.isVerified) return ctx.unchanged();
  // Without the lock two concurrent requests would leave two valid links.
  const user = await lockUser(ctx, claim.userId);
  if (!user || user.status !== 'active') return ctx.unchanged();
  if (!(await sendVerification(ctx, user, address))) return ctx.unchanged();
  ctx.record({ target: { type: 'User', id: user.id }, node: await nodeOfUser(tx, user.id) });
}

/**
 * Consumes the token and makes its user the owner of the address.
 *
 * @throws INVALID_TOKEN
 */
export async function verifyAddress(ctx: Run, token: string): Promise<void> {
  const { tx, services } = ctx;
  const isToken = and(
    eq(oneTimeTokens.hash, hashOneTimeToken(token)),
    eq(oneTimeTokens.purpose, 'verifyEmail'),
    gt(oneTimeTokens.expiresAt, services.clock.now()),
  );
  const [storedToken] = await tx.select().from(oneTimeTokens).where(isToken);
  if (!storedToken) throw fail('INVALID_TOKEN');
  await lockClaimants(ctx, storedToken.address);
  const [used] = await tx.delete(oneTimeTokens).where(isToken).returning();
  if (!used || !(await ownAddress(ctx, used.userId, used.address))) throw fail('INVALID_TOKEN');
}

/**
 * Makes the user, who has proved the address, its owner. A claim is provisional: the first registration reserves the
 * address, but the first user to prove it owns it, and all other claims end (identity §1). Returns false, and writes
 * nothing, if the user no longer claims the address or another user owns it. Call `lockClaimants` first.
 */
export async function ownAddress(ctx: Run, userId: string, address: string): Promise<boolean> {
  const { tx, services } = ctx;
  const now = services.clock.now();
  const claims = await lockClaims(ctx, address);
  const user = await lockUser(ctx, userId);
  const ownClaim = claims.find((method) => method.userId === userId);
  const otherClaims = claims.filter((method) => method.userId !== userId);
  const owner = await findAddressOwner(tx, address);
  if (!user || !ownClaim || (owner && owner.id !== userId)) return false;

  const methods = await tx
    .select()
    .from(authenticationMethods)
    .where(eq(authenticationMethods.userId, userId));
  const isPrimary = ownClaim.isPrimary || !methods.some(({ isVerified }) => isVerified);
  if (isPrimary) {
    await tx
      .update(authenticationMethods)
      .set({ isPrimary: false })
      .where(and(eq(authenticationMethods.userId, userId), ne(authenticationMethods.id, ownClaim.id)));
  }
  await removeClaims(ctx, otherClaims);
  await tx
    .update(authenticationMethods)
    .set({ isVerified: true, claims: true, isPrimary })
    .where(eq(authenticationMethods.id, ownClaim.id));
  await endUnverifiedClaims(ctx, userId);
  const [row] = await tx
    .update(users)
    .set({
      emailVerified: true,
      verificationDeadline: null,
      updatedAt: now,
      ...(isPrimary ? { email: address } : {}),
    })
    .where(eq(users.id, userId))
    .returning();
  ctx.invalidate(`user:${userId}`);
  ctx.record({
    actor: userAsActor(user),
    event: 'user.email_verified',
    data: userData(row as UserRow),
    changes: user.emailVerified ? null : { emailVerified: { from: false, to: true } },
    target: { type: 'User', id: userId },
    node: await nodeOfUser(tx, userId),
  });
  // The address of the registration was already a sign-in method, so only an added address counts as a change.
  if (!ownClaim.claims) {
    const actor = userAsActor(user);
    await recordMethodChange(ctx, row as UserRow, {
      change: 'verified',
      method: ownClaim,
      before: methods,
      actor,
    });
  }
  await settleLostClaims(ctx, otherClaims);
  return true;
}

/**
 * Called for a user who has verified an address. Their unverified addresses are no longer reserved and can no longer be
 * used to sign in, and their links end. Otherwise a user could register with the address of another person, verify an
 * address of their own, and keep that person out for good.
 */
export async function endUnverifiedClaims({ tx }: Pick<Run, 'tx'>, userId: string): Promise<void> {
  const ended = await tx
    .update(authenticationMethods)
    .set({ claims: false })
    .where(
      and(
        eq(authenticationMethods.userId, userId),
        eq(authenticationMethods.claims, true),
        eq(authenticationMethods.isVerified, false),
      ),
    )
    .returning({ address: authenticationMethods.providerId });
  const addresses = ended.map(({ address }) => address);
  if (addresses.length === 0) return;
  await tx
    .delete(oneTimeTokens)
    .where(and(eq(oneTimeTokens.userId, userId), inArray(oneTimeTokens.address, addresses)));
}

/** Call it after `removeClaims`. Users who have lost their only method are deleted, with their sessions and keys. */
export async function settleLostClaims(ctx: Run, lost: readonly Claim[]): Promise<void> {
  for (const claim of lost) await settleLostClaim(ctx, claim);
}

/**
 * If the primary method was lost, makes the oldest verified method primary, or the oldest method if none is verified.
 * Deletes a user without any method.
 */
async function settleLostClaim(ctx: Run, lost: Claim): Promise<void> {
  const { tx, services } = ctx;
  const { userId } = lost;
  const user = await lockUser(ctx, userId);
  if (!user) return;
  const remaining = await tx
    .select()
    .from(authenticationMethods)
    .where(eq(authenticationMethods.userId, userId))
    .orderBy(desc(authenticationMethods.isVerified), asc(authenticationMethods.createdAt));
  const [oldest] = remaining;
  ctx.invalidate(`user:${userId}`);
  if (!oldest) return void (await deleteUser(ctx, user, systemActor));
  const change = { change: 'removed', method: lost, before: remaining, actor: systemActor } as const;
  await recordMethodChange(ctx, user, change);
  if (remaining.some(({ isPrimary }) => isPrimary)) return;
  await tx
    .update(authenticationMethods)
    .set({ isPrimary: true })
    .where(eq(authenticationMethods.id, oldest.id));
  await tx
    .update(users)
    .set({ email: oldest.label, updatedAt: services.clock.now() })
    .where(eq(users.id, userId));
}
