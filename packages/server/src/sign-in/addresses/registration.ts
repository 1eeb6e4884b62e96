import { and, eq, inArray, lte } from 'drizzle-orm';
import { type DoorwardError, fail } from '../../errors.ts';
import type { Services, Run } from '../../services.ts';
import type { NodeRef } from '../../kernel/event.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { authenticationMethods, passwords } from '../../schema/sign-in/authentication-method.ts';
import { nodeOfUser, userAsActor } from '../../people/user-node.ts';
import { users, type UserRow } from '../../schema/people/user.ts';
import { createAccount } from '../../people/account.ts';
import { findAddressOwner } from '../../people/address.ts';
import { assertPassword } from '../passwords/new-password.ts';
import { findClaim } from '../../sessions/password-sign-in.ts';
import { tryConsume, consumeMailQuota } from '../protection/mail-limit.ts';
import { newSession, openSession, userData, type NewSession } from '../../sessions/sign-in.ts';
import { lockClaims, lockAddress } from '../../people/address-claims.ts';
import { removeClaims, sendVerification, settleLostClaims } from './verification.ts';
import { flushMails } from '../../people/flush-mails.ts';
import { addressTakenMail } from './verification-mail.ts';

/*
 * Users who register with address and password (identity §1), openly or by invitation. In an open registration nothing
 * is proved yet, so an existing claim on the address wins. An invited user has proved the address, so unverified claims
 * on it end.
 */

interface Registrant {
  /** In canonical form. */
  readonly address: string;
  readonly password: string;
  readonly name: string;
  readonly locale: UserRow['locale'];
  readonly type: 'personal' | 'organization';
}

type Method = typeof authenticationMethods.$inferInsert;

interface Prepared<S extends NewSession | null> {
  readonly registrant: Registrant;
  readonly userId: string;
  readonly hash: string;
  readonly session: S;
}

type PreparedRegistration = Prepared<NewSession | null>;

const takenError = (path: string): DoorwardError => fail('CONFLICT', { details: [{ path, code: 'taken' }] });

/**
 * Whether the response to a registration may say that an address is taken. That lets a client test which addresses are
 * registered, so each network can do so only for a limited number of addresses (identity §1). Beyond the limit, a
 * registration from that network gets the same response as if addresses had to be verified first: the client learns
 * nothing more, and other users of the network can still register.
 */
const mayReportTaken = async (services: Services, network: string, points?: number): Promise<boolean> =>
  services.config.auth.registrationMode === 'immediate' &&
  (await tryConsume(services, 'auth', `taken ${network}`, points));

/**
 * Checks the input and hashes the password, outside the transaction.
 *
 * @throws VALIDATION_ERROR, FORBIDDEN if registration is closed, CONFLICT
 */
export async function prepareRegistration(
  db: Executor,
  services: Services,
  network: string,
  registrant: Registrant,
): Promise<PreparedRegistration> {
  const { config, clock, ids } = services;
  const { address } = registrant;
  if (config.auth.registrationMode === 'closed') {
    throw fail('FORBIDDEN', { fix: 'Registration is closed here; ask for an invitation.' });
  }
  assertReachable(services, address, 'providerId');
  await assertPassword(services, registrant.password, passwordOwnerOf(registrant), 'providerData.password');
  let immediate = await mayReportTaken(services, network, 0);
  if (immediate) {
    const claim = await findClaim(db, address);
    const isTaken =
      (claim && !isExpiredClaim(claim.user, clock.now())) || (await findAddressOwner(db, address));
    if (isTaken && (await mayReportTaken(services, network))) throw takenError('providerId');
    immediate = !isTaken;
  }
  const userId = ids.next();
  return {
    registrant,
    userId,
    hash: await services.passwords.hash(registrant.password),
    session: immediate
      ? await newSession(services, { id: userId, emailVerified: false }, { amr: ['pwd'] })
      : null,
  };
}

/** Whether mail can reach the address: `localhost` is excluded in production. */
export const isReachable = ({ config }: Services, address: string): boolean =>
  !(config.production && address.endsWith('@localhost'));

/** Asserts that mail can reach the address. @throws VALIDATION_ERROR */
export function assertReachable(services: Services, address: string, path: string): void {
  if (isReachable(services, address)) return;
  throw fail('VALIDATION_ERROR', { details: [{ path, code: 'format' }] });
}

const passwordOwnerOf = ({ address, name }: Registrant) => ({ addresses: [address], name });

const isExpiredClaim = (user: UserRow, now: Date): boolean =>
  !user.emailVerified && user.verificationDeadline !== null && user.verificationDeadline <= now;

/**
 * Creates user, method, password, account and session, and mails the verification link. An expired claim of another
 * user ends. A claim that has not expired wins, even if it is made at the same time.
 */
export async function register(ctx: Run, prepared: PreparedRegistration) {
  const { tx, services } = ctx;
  const { registrant, session } = prepared;
  const { address } = registrant;
  const now = services.clock.now();
  await lockAddress(ctx, address);
  const expiredClaimants = tx
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.emailVerified, false), lte(users.verificationDeadline, now)));
  await tx
    .update(authenticationMethods)
    .set({ claims: false })
    .where(
      and(
        eq(authenticationMethods.provider, 'email'),
        eq(authenticationMethods.providerId, address),
        eq(authenticationMethods.claims, true),
        eq(authenticationMethods.isVerified, false),
        inArray(authenticationMethods.userId, expiredClaimants),
      ),
    );
  const graceMs = services.config.auth.verificationGraceDays * 86_400_000;
  // A user who signs in only through a provider has no `email` method, so the unique index does not include their
  // address.
  const isOwned = (await findAddressOwner(tx, address)) !== undefined;
  const newUser = { ...prepared, signsIn: session !== null };
  const user = isOwned ? undefined : await createUser(ctx, newUser, new Date(now.getTime() + graceMs));
  if (!user) {
    if (session) throw takenError('providerId');
    await notifyOwner(ctx, prepared);
    return null;
  }
  await sendVerification(ctx, user, address);
  return session ? openSession(ctx, session, user) : null;
}

interface NewUser {
  /** If `type` is null, no account is created, and the caller passes the node to record in. */
  readonly registrant: Omit<Registrant, 'password' | 'type'> & { readonly type: Registrant['type'] | null };
  readonly node?: NodeRef;
  readonly userId: string;
  /** Null for a user without a password. */
  readonly hash: string | null;
  readonly signsIn: boolean;
}

/**
 * Creates the user with method, password and account, and records `user.created`. Returns undefined, and writes
 * nothing, if the method is taken. A `verificationDeadline` of null means that the address is already proved.
 */
export async function createUser(
  { tx, services, record }: Run,
  { registrant, node, userId, hash, signsIn }: NewUser,
  verificationDeadline: Date | null,
  method: Pick<Method, 'provider' | 'providerId'> & Partial<Pick<Method, 'providerKey'>> = {
    provider: 'email',
    providerId: registrant.address,
  },
): Promise<UserRow | undefined> {
  const { address, name, locale, type } = registrant;
  const isVerified = verificationDeadline === null;
  const [user] = await tx
    .insert(users)
    .values({ id: userId, name, email: address, emailVerified: isVerified, locale, verificationDeadline })
    .returning();
  // The unique index decides a race; the loser writes nothing.
  const [added] = await tx
    .insert(authenticationMethods)
    .values({
      ...method,
      id: services.ids.next(),
      userId,
      label: address,
      isVerified,
      isPrimary: true,
      claims: true,
      lastUsedAt: signsIn ? services.clock.now() : null,
    })
    .onConflictDoNothing()
    .returning({ id: authenticationMethods.id });
  if (!added) {
    await tx.delete(users).where(eq(users.id, userId));
    return undefined;
  }
  if (hash !== null) await tx.insert(passwords).values({ userId, hash });
  if (type !== null) await createAccount({ tx, services }, userId, type);
  record({
    actor: userAsActor(user as UserRow),
    event: 'user.created',
    data: userData(user as UserRow),
    target: { type: 'User', id: userId },
    node: node ?? (await nodeOfUser(tx, userId)),
  });
  return user;
}

async function notifyOwner(ctx: Run, { registrant: { address } }: PreparedRegistration): Promise<void> {
  const { tx, services, call } = ctx;
  const owner = (await findAddressOwner(tx, address)) ?? (await findClaim(tx, address))?.user;
  // The address of a deleted user stays reserved until the purge, but gets no mail.
  if (!owner || owner.deletedAt !== null) return ctx.unchanged();
  if (!(await consumeMailQuota(services, 'verification', address))) return ctx.unchanged();
  await services.mail.queue(tx, addressTakenMail(address, owner.locale ?? call.language));
  flushMails(ctx);
  ctx.record({ target: { type: 'User', id: owner.id }, node: await nodeOfUser(tx, owner.id) });
}

export type PreparedInvited = Prepared<NewSession>;

/**
 * Checks the input and hashes the password for an invited user, regardless of AUTH_REGISTRATION_MODE. The caller has
 * already verified the invitation token, so that an unknown token costs no hash.
 *
 * @throws VALIDATION_ERROR, CONFLICT
 */
export async function prepareInvited(
  db: Executor,
  services: Services,
  address: string,
  { name, password }: { readonly name: string; readonly password: string },
): Promise<PreparedInvited> {
  const registrant: Registrant = { address, name, password, locale: null, type: 'personal' };
  if (await findAddressOwner(db, address)) throw takenError('registration');
  await assertPassword(services, password, passwordOwnerOf(registrant), 'registration.password');
  const userId = services.ids.next();
  return {
    registrant,
    userId,
    hash: await services.passwords.hash(password),
    session: await newSession(services, { id: userId, emailVerified: true }, { amr: ['pwd'] }),
  };
}

/**
 * Creates the invited user, whose address the mailed token verifies. Other users' unverified claims on the address end,
 * as when a verification link is opened. Call `lockClaimants` first.
 *
 * @throws CONFLICT
 */
export async function registerInvited(ctx: Run, prepared: PreparedInvited): Promise<UserRow> {
  const { address } = prepared.registrant;
  const claims = await lockClaims(ctx, address);
  if (await findAddressOwner(ctx.tx, address)) throw takenError('registration');
  await removeClaims(ctx, claims);
  const user = await createUser(ctx, { ...prepared, signsIn: true }, null);
  if (!user) throw takenError('registration');
  await settleLostClaims(ctx, claims);
  return user;
}
