import { and, asc, desc, eq } from 'drizzle-orm';
import { fail } from '../../errors.ts';
import type { Services } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { ownerOf } from '../identity/address.ts';
import { oneTimeTokens } from '../identity/one-time-token.ts';
import { assertPassword } from '../identity/new-password.ts';
import { assertReachable } from '../identity/registration.ts';
import { addressOwnedMail } from '../identity/verification-mail.ts';
import { recordMethodChange } from '../sign-in-protection/method-changes.ts';
import { mayMail } from '../sign-in-protection/mail-limit.ts';
import { flushMails, lockAddress, sendVerification } from '../identity/verification.ts';
import { recordUpdated, type UserRow } from '../identity/sign-in.ts';
import { users } from '../users/user.ts';
import { authenticationMethods, MOST_METHODS, passwords } from './authentication-method.ts';
import { lockSelf, type OwnRun } from './profile.ts';

/**
 * The addresses with which a user signs in. One that he adds claims nothing until he proves it, so it takes nothing
 * from whoever has it; and whether somebody has it only the mail tells, to the owner of the address.
 */
type MethodRow = typeof authenticationMethods.$inferSelect;

export interface PreparedMethod {
  readonly address: string;
  /** Of the first password; null for a user who has one. */
  readonly hash: string | null;
}

/** Checks and hashes. @throws VALIDATION_ERROR */
export async function prepareMethod(
  db: Executor,
  services: Services,
  userId: string,
  address: string,
  password: string | undefined,
): Promise<PreparedMethod> {
  assertReachable(services, address, 'providerId');
  const path = 'providerData.password';
  const [known] = await db
    .select({ hash: passwords.hash })
    .from(passwords)
    .where(eq(passwords.userId, userId));
  if ((known === undefined) !== (password !== undefined)) {
    const code = known ? 'not_allowed' : 'required';
    throw fail('VALIDATION_ERROR', { details: [{ path, code }] });
  }
  let hash = null;
  if (password !== undefined) {
    const [user] = await db.select({ name: users.name }).from(users).where(eq(users.id, userId));
    await assertPassword(services, password, { addresses: [address], name: user?.name ?? '' }, path);
    hash = await services.passwords.hash(password);
  }
  return { address, hash };
}

/** The new method, unverified. @throws CONFLICT for an own address, and beyond five methods */
export async function addMethod(ctx: OwnRun, prepared: PreparedMethod): Promise<MethodRow> {
  const { tx, services } = ctx;
  const { address, hash } = prepared;
  await lockAddress(ctx, address);
  const user = await lockSelf(ctx);
  const own = await methodsOf(tx, user.id);
  if (own.some(({ provider, providerId }) => provider === 'email' && providerId === address)) {
    throw fail('CONFLICT', { details: [{ path: 'providerId', code: 'taken' }] });
  }
  if (own.length >= MOST_METHODS) {
    throw fail('CONFLICT', { fix: `A user has at most ${MOST_METHODS} sign-in methods: remove one first.` });
  }
  const [row] = await tx
    .insert(authenticationMethods)
    .values({
      id: services.ids.next(),
      userId: user.id,
      provider: 'email',
      providerId: address,
      label: address,
    })
    .returning();
  if (hash !== null) await tx.insert(passwords).values({ userId: user.id, hash }).onConflictDoNothing();
  await mailTo(ctx, user, address);
  await recordMethodChange(ctx, user, { change: 'added', method: row as MethodRow, before: own });
  return row as MethodRow;
}

/** A link for whoever can read the address; its owner, if that is another user, gets a warning and no link. */
async function mailTo(ctx: OwnRun, user: UserRow, address: string): Promise<void> {
  const owner = await ownerOf(ctx.tx, address);
  if (!owner || owner.id === user.id) return void (await sendVerification(ctx, user, address));
  // Until the purge the address of a deleted user is nobody's, and it has nobody to be told.
  if (owner.deletedAt !== null || !(await mayMail(ctx.services, 'verification', address))) return;
  const language = owner.locale ?? ctx.call.language;
  await ctx.services.mail.queue(ctx.tx, addressOwnedMail(address, language));
  flushMails(ctx);
}

/**
 * Removes a method, and what was mailed to its address. The oldest verified one that is left becomes primary, and its
 * address the user's.
 * @throws NOT_FOUND, LAST_SIGN_IN_METHOD when he could not sign in any more, or with an unverified one only
 */
export async function removeMethod(ctx: OwnRun, id: string): Promise<MethodRow> {
  const { tx } = ctx;
  const user = await lockSelf(ctx);
  const own = await methodsOf(tx, user.id);
  const removed = own.find((method) => method.id === id);
  if (!removed) throw fail('NOT_FOUND');
  const left = own.filter((method) => method !== removed);
  const losesVerified = removed.isVerified && !left.some(({ isVerified }) => isVerified);
  // An unverified registration signs in too; what was added to it does not, until it is verified.
  const losesSignIn = removed.claims && !left.some(({ claims }) => claims);
  if (left.length === 0 || losesVerified || losesSignIn) throw fail('LAST_SIGN_IN_METHOD');
  await tx.delete(authenticationMethods).where(eq(authenticationMethods.id, id));
  await tx
    .delete(oneTimeTokens)
    .where(and(eq(oneTimeTokens.userId, user.id), eq(oneTimeTokens.address, removed.providerId)));
  await recordMethodChange(ctx, user, { change: 'removed', method: removed, before: own });
  const [next] = left;
  if (removed.isPrimary && next) await makePrimary(ctx, user, next);
  return removed;
}

async function makePrimary(ctx: OwnRun, user: UserRow, method: MethodRow): Promise<void> {
  const { tx, services } = ctx;
  await tx
    .update(authenticationMethods)
    .set({ isPrimary: true })
    .where(eq(authenticationMethods.id, method.id));
  if (user.email === method.label) return;
  const [row] = await tx
    .update(users)
    .set({ email: method.label, updatedAt: services.clock.now() })
    .where(eq(users.id, user.id))
    .returning();
  await recordUpdated(ctx, row as UserRow, { email: { from: user.email, to: method.label } });
}

/** Verified ones first, the oldest first. Whoever changes one of them holds the user's row. */
const methodsOf = (tx: Executor, userId: string): PromiseLike<MethodRow[]> =>
  tx
    .select()
    .from(authenticationMethods)
    .where(eq(authenticationMethods.userId, userId))
    .orderBy(
      desc(authenticationMethods.isVerified),
      asc(authenticationMethods.createdAt),
      asc(authenticationMethods.id),
    )
    .for('update');
