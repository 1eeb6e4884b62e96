import { and, asc, desc, eq, gt, inArray, isNull, ne, sql } from 'drizzle-orm';
import { z } from 'zod';
import { hashOneTimeToken, newOneTimeToken } from '../../crypto/one-time-token.ts';
import { fail } from '../../errors.ts';
import { authenticationMethods } from '../me/authentication-method.ts';
import { endUser } from '../memberships/end-of-user.ts';
import { nodeOfUser, systemActor, userAsActor } from './user-node.ts';
import { users } from '../users/user.ts';
import { ownerOf } from './address.ts';
import { mayMail } from '../sign-in-protection/mail-limit.ts';
import { recordMethodChange } from '../sign-in-protection/method-changes.ts';
import { oneTimeTokens } from './one-time-token.ts';
import { userData, type Run, type UserRow } from './sign-in.ts';
import { verificationMail } from './verification-mail.ts';

/**
 * Proving that an address is one's own (identity §1). A claim is only a claim: whoever registered first holds the
 * address against other registrations, but the first to open a mailed link owns it, and all other claims end.
 */
/** What an operation answers that must not tell whether an address is known. */
export const Accepted = z
  .object({ accepted: z.literal(true).describe('The same for every address.') })
  .meta({ id: 'Accepted', description: 'If the address is known, a mail is on its way.' });

const isAddress = (address: string) =>
  and(eq(authenticationMethods.provider, 'email'), eq(authenticationMethods.providerId, address));

/**
 * Until commit nobody else registers or verifies this address. The unique index would decide as well, but as a failure
 * of whoever came second, and he may be the one with the right to win.
 */
export const lockAddress = ({ tx }: Pick<Run, 'tx'>, address: string): PromiseLike<unknown> =>
  tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${address}, 0))`);

/**
 * Locks the address, then everybody who claims it: users by id come before tokens, invitations and methods everywhere,
 * so that of two who prove the same address one waits for the other.
 */
export async function lockClaimants(ctx: Pick<Run, 'tx'>, address: string): Promise<void> {
  const { tx } = ctx;
  await lockAddress(ctx, address);
  const claiming = tx
    .select({ id: authenticationMethods.userId })
    .from(authenticationMethods)
    .where(isAddress(address));
  await tx
    .select({ id: users.id })
    .from(users)
    .where(inArray(users.id, claiming))
    .orderBy(asc(users.id))
    .for('update');
}

type Claim = typeof authenticationMethods.$inferSelect;

/** Every claim on the address, verified or not, locked until commit. */
export const claimsOn = ({ tx }: Pick<Run, 'tx'>, address: string): PromiseLike<Claim[]> =>
  tx
    .select()
    .from(authenticationMethods)
    .where(isAddress(address))
    .orderBy(asc(authenticationMethods.id))
    .for('update');

/** Ends claims that lost against whoever proved the address. What becomes of their users: `settleLosers`. */
export async function removeClaims({ tx }: Pick<Run, 'tx'>, claims: readonly Claim[]): Promise<void> {
  const ids = claims.map(({ id }) => id);
  if (ids.length > 0) await tx.delete(authenticationMethods).where(inArray(authenticationMethods.id, ids));
}

/** Sends what this transaction queued, once it is committed. The answer does not wait for it, nor tell by its time. */
export const flushMails = (ctx: Run): void => ctx.afterCommit(() => void ctx.services.mail.flush());

/**
 * Queues a fresh link for this user and address, and ends the older ones. False, and nothing is done, when the address is
 * another user's, by whichever method, or may get no more mails: the link that it got before goes on working.
 */
export async function sendVerification(ctx: Run, user: UserRow, address: string): Promise<boolean> {
  const { tx, services, call } = ctx;
  const { config, clock, mail } = services;
  const owner = await ownerOf(tx, address);
  if (owner && owner.id !== user.id) return false;
  if (!(await mayMail(services, 'verification', address))) return false;
  await tx
    .delete(oneTimeTokens)
    .where(
      and(
        eq(oneTimeTokens.userId, user.id),
        eq(oneTimeTokens.purpose, 'verifyEmail'),
        eq(oneTimeTokens.address, address),
      ),
    );
  // Who reads this mail must see whose user the address would be: the link may have been asked for by anybody.
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

/** Queues a new link for whoever has an unverified claim on the address; does nothing for anybody else. */
export async function resendTo(ctx: Run, address: string): Promise<void> {
  const { tx } = ctx;
  const [found] = await tx
    .select({ userId: authenticationMethods.userId, isVerified: authenticationMethods.isVerified })
    .from(authenticationMethods)
    .where(isAddress(address))
    .orderBy(desc(authenticationMethods.claims), desc(authenticationMethods.createdAt))
    .limit(1);
  if (!found || found.isVerified) return ctx.unchanged();
  // Two requests at once would else leave two links alive.
  const user = await lockUser(ctx, found.userId);
  if (!user || user.status !== 'active') return ctx.unchanged();
  if (!(await sendVerification(ctx, user, address))) return ctx.unchanged();
  ctx.record({ target: { type: 'User', id: user.id }, node: await nodeOfUser(tx, user.id) });
}

/**
 * The user's row, locked until commit; undefined for a deleted one. Before all other rows, and those before nodes. With
 * `share` for whoever makes something that goes with him; `no key update` waits for these, and not for rows that merely
 * name him.
 */
export async function lockUser(
  { tx }: Pick<Run, 'tx'>,
  id: string,
  strength: 'update' | 'no key update' | 'share' = 'update',
): Promise<UserRow | undefined> {
  const [user] = await tx
    .select()
    .from(users)
    .where(and(eq(users.id, id), isNull(users.deletedAt)))
    .for(strength);
  return user;
}

/** Uses up the token and makes the address its user's own. @throws INVALID_TOKEN */
export async function verifyAddress(ctx: Run, token: string): Promise<void> {
  const { tx, services } = ctx;
  const now = services.clock.now();
  const isToken = and(
    eq(oneTimeTokens.hash, hashOneTimeToken(token)),
    eq(oneTimeTokens.purpose, 'verifyEmail'),
    gt(oneTimeTokens.expiresAt, now),
  );
  const [known] = await tx.select().from(oneTimeTokens).where(isToken);
  if (!known) throw fail('INVALID_TOKEN');
  const { userId, address } = known;
  await lockClaimants(ctx, address);
  const [used] = await tx.delete(oneTimeTokens).where(isToken).returning();
  if (!used) throw fail('INVALID_TOKEN');
  const claims = await claimsOn(ctx, address);
  const user = await lockUser(ctx, userId);
  const mine = claims.find((method) => method.userId === userId);
  const others = claims.filter((method) => method.userId !== userId);
  const owner = await ownerOf(tx, address);
  if (!user || !mine || (owner && owner.id !== userId)) throw fail('INVALID_TOKEN');

  const own = await tx.select().from(authenticationMethods).where(eq(authenticationMethods.userId, userId));
  const isPrimary = mine.isPrimary || !own.some(({ isVerified }) => isVerified);
  if (isPrimary) {
    await tx
      .update(authenticationMethods)
      .set({ isPrimary: false })
      .where(and(eq(authenticationMethods.userId, userId), ne(authenticationMethods.id, mine.id)));
  }
  await removeClaims(ctx, others);
  await tx
    .update(authenticationMethods)
    .set({ isVerified: true, claims: true, isPrimary })
    .where(eq(authenticationMethods.id, mine.id));
  await endOwnClaims(ctx, userId);
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
  ctx.touch(`user:${userId}`);
  ctx.record({
    actor: userAsActor(user),
    event: 'user.email_verified',
    data: userData(row as UserRow),
    changes: user.emailVerified ? null : { emailVerified: { from: false, to: true } },
    target: { type: 'User', id: userId },
    node: await nodeOfUser(tx, userId),
  });
  // With the address of their registration a user signed in before.
  if (!mine.claims) {
    const actor = userAsActor(user);
    await recordMethodChange(ctx, row as UserRow, { change: 'verified', method: mine, before: own, actor });
  }
  await settleLosers(ctx, others);
}

/**
 * Called for a user who has verified an address. Their other addresses were only typed in: these no longer reserve the
 * address, sign nobody in, and their links end. Otherwise, whoever registers with the address of somebody else and then
 * verifies one of their own would keep that person out for good.
 */
export async function endOwnClaims({ tx }: Pick<Run, 'tx'>, userId: string): Promise<void> {
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

/** After `removeClaims`: users who are left without any method go, with their sessions and keys. */
export async function settleLosers(ctx: Run, lost: readonly Claim[]): Promise<void> {
  for (const claim of lost) await loseAddress(ctx, claim);
}

/** After one of his unverified claims is gone: the oldest other method stands in, or the user goes. */
async function loseAddress(ctx: Run, lost: Claim): Promise<void> {
  const { tx, services } = ctx;
  const { userId } = lost;
  const user = await lockUser(ctx, userId);
  if (!user) return;
  const left = await tx
    .select()
    .from(authenticationMethods)
    .where(eq(authenticationMethods.userId, userId))
    .orderBy(desc(authenticationMethods.isVerified), asc(authenticationMethods.createdAt));
  const [oldest] = left;
  ctx.touch(`user:${userId}`);
  if (!oldest) return void (await endUser(ctx, user, systemActor));
  const change = { change: 'removed', method: lost, before: left, actor: systemActor } as const;
  await recordMethodChange(ctx, user, change);
  if (left.some(({ isPrimary }) => isPrimary)) return;
  await tx
    .update(authenticationMethods)
    .set({ isPrimary: true })
    .where(eq(authenticationMethods.id, oldest.id));
  await tx
    .update(users)
    .set({ email: oldest.label, updatedAt: services.clock.now() })
    .where(eq(users.id, userId));
}
