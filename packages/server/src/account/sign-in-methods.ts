import { and, asc, desc, eq } from 'drizzle-orm';
import { fail } from '../errors.ts';
import type { Services } from '../services.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { domainOf } from '../sign-in/connections/live-connection.ts';
import { organizationRequiringProvider } from '../sign-in/connections/required-provider.ts';
import { findAddressOwner } from '../people/address.ts';
import { oneTimeTokens } from '../schema/sign-in/one-time-token.ts';
import { assertPassword } from '../sign-in/passwords/new-password.ts';
import { assertReachable } from '../sign-in/addresses/registration.ts';
import { addressOwnedMail } from '../sign-in/addresses/verification-mail.ts';
import { recordMethodChange } from '../sign-in/protection/method-changes.ts';
import { consumeMailQuota } from '../sign-in/protection/mail-limit.ts';
import { lockAddress } from '../people/address-claims.ts';
import { sendVerification } from '../sign-in/addresses/verification.ts';
import { flushMails } from '../people/flush-mails.ts';
import { recordUpdated } from '../sessions/sign-in.ts';
import { type UserRow, users } from '../schema/people/user.ts';
import { authenticationMethods, MAX_METHODS, passwords } from '../schema/sign-in/authentication-method.ts';
import { lockSelf, type OwnRun } from './profile.ts';

type MethodRow = typeof authenticationMethods.$inferSelect;

/** An address that was checked outside the transaction. */
interface PreparedMethod {
  readonly address: string;
  /** Hash of the first password; null for a user who already has one. */
  readonly hash: string | null;
}

/** Checks the address and the password, and hashes the password. @throws VALIDATION_ERROR */
export async function prepareMethod(
  db: Executor,
  services: Services,
  userId: string,
  address: string,
  password: string | undefined,
): Promise<PreparedMethod> {
  assertReachable(services, address, 'providerId');
  const path = 'providerData.password';
  const [stored] = await db
    .select({ hash: passwords.hash })
    .from(passwords)
    .where(eq(passwords.userId, userId));
  if ((stored === undefined) !== (password !== undefined)) {
    const code = stored ? 'not_allowed' : 'required';
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

/**
 * Adds an unverified address. It is not reserved until the user verifies it, so its present owner keeps it. Only the
 * mail to that owner reveals whether another user has the address.
 * @throws CONFLICT if the caller already has the address, or five methods
 */
export async function addMethod(ctx: OwnRun, prepared: PreparedMethod): Promise<MethodRow> {
  const { tx, services } = ctx;
  const { address, hash } = prepared;
  await lockAddress(ctx, address);
  const user = await lockSelf(ctx);
  const own = await methodsOf(tx, user.id);
  if (own.some(({ provider, providerId }) => provider === 'email' && providerId === address)) {
    throw fail('CONFLICT', { details: [{ path: 'providerId', code: 'taken' }] });
  }
  if (own.length >= MAX_METHODS) {
    throw fail('CONFLICT', { fix: `A user has at most ${MAX_METHODS} sign-in methods: remove one first.` });
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
  await mailLinkOrWarning(ctx, user, address);
  await recordMethodChange(ctx, user, { change: 'added', method: row as MethodRow, before: own });
  return row as MethodRow;
}

/** Mails the verification link. If another user owns the address, mails that user a warning without a link instead. */
async function mailLinkOrWarning(ctx: OwnRun, user: UserRow, address: string): Promise<void> {
  const owner = await findAddressOwner(ctx.tx, address);
  if (!owner || owner.id === user.id) return void (await sendVerification(ctx, user, address));
  // A deleted user keeps the address until the purge, but gets no mail.
  if (owner.deletedAt !== null || !(await consumeMailQuota(ctx.services, 'verification', address))) return;
  const language = owner.locale ?? ctx.call.language;
  await ctx.services.mail.queue(ctx.tx, addressOwnedMail(address, language));
  flushMails(ctx);
}

/**
 * Removes a method and the tokens mailed to its address. If it was primary, the oldest verified method becomes primary,
 * and its address becomes the user's.
 * @throws NOT_FOUND, LAST_SIGN_IN_METHOD if the user could not sign in afterwards, or only with an unverified address;
 * IN_USE while an organization of the user requires its identity provider for this address
 */
export async function removeMethod(ctx: OwnRun, id: string): Promise<MethodRow> {
  const { tx } = ctx;
  const user = await lockSelf(ctx);
  const own = await methodsOf(tx, user.id);
  const removed = own.find((method) => method.id === id);
  if (!removed) throw fail('NOT_FOUND');
  const remaining = own.filter((method) => method !== removed);
  const losesVerified = removed.isVerified && !remaining.some(({ isVerified }) => isVerified);
  // The user can sign in with the unverified address of their registration, but not with an unverified one added later.
  const losesSignIn = removed.claims && !remaining.some(({ claims }) => claims);
  if (remaining.length === 0 || losesVerified || losesSignIn) throw fail('LAST_SIGN_IN_METHOD');
  if (removed.isVerified) await assertAddressNotRequired(tx, removed, remaining);
  await tx.delete(authenticationMethods).where(eq(authenticationMethods.id, id));
  await tx
    .delete(oneTimeTokens)
    .where(and(eq(oneTimeTokens.userId, user.id), eq(oneTimeTokens.address, removed.providerId)));
  await recordMethodChange(ctx, user, { change: 'removed', method: removed, before: own });
  const [next] = remaining;
  if (removed.isPrimary && next) await makePrimary(ctx, user, next);
  return removed;
}

/**
 * Asserts that no organization of the user requires its identity provider because of this address. The requirement
 * applies to members with a verified address in its domains, so a user could escape it by removing the address.
 * @throws IN_USE
 */
async function assertAddressNotRequired(
  tx: Executor,
  { userId, label }: MethodRow,
  remaining: readonly MethodRow[],
): Promise<void> {
  const domain = domainOf(label);
  if (remaining.some((other) => other.isVerified && domainOf(other.label) === domain)) return;
  const organization = await organizationRequiringProvider(tx, userId, domain);
  if (organization === undefined) return;
  throw fail('IN_USE', {
    details: [{ path: 'id', code: 'in_use' }],
    fix: `Leave "${organization}" first: it accepts people with this address only through its identity provider.`,
  });
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

/**
 * The methods of a user, locked: verified ones first, then the oldest. Every change of a method locks the user's row.
 */
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
