import { and, eq, inArray, lte } from 'drizzle-orm';
import type { DoorwardError } from '../../errors.ts';
import { fail } from '../../errors.ts';
import type { Services } from '../../kernel/context.ts';
import type { NodeRef } from '../../kernel/event.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { authenticationMethods, passwords } from '../me/authentication-method.ts';
import { nodeOfUser, userAsActor } from './user-node.ts';
import { users } from '../users/user.ts';
import { createAccount } from './account.ts';
import { ownerOf } from './address.ts';
import { assertPassword } from './new-password.ts';
import { claimOf } from './password-sign-in.ts';
import { isLeft, mayMail } from '../sign-in-protection/mail-limit.ts';
import { newSession, openSession, userData, type NewSession, type Run, type UserRow } from './sign-in.ts';
import {
  claimsOn,
  flushMails,
  lockAddress,
  removeClaims,
  sendVerification,
  settleLosers,
} from './verification.ts';
import { addressTakenMail } from './verification-mail.ts';

/**
 * Registration by address and password (identity §1), open or by invitation. In an open one nobody has proved anything
 * yet, so an address that is taken wins; an invited user comes with the proof, so unverified claims give way to him.
 */
interface Newcomer {
  /** Canonical. */
  readonly address: string;
  readonly password: string;
  readonly name: string;
  readonly locale: UserRow['locale'];
  readonly type: 'personal' | 'organization';
}

type Method = typeof authenticationMethods.$inferInsert;

interface Prepared<S extends NewSession | null> {
  readonly newcomer: Newcomer;
  readonly userId: string;
  readonly hash: string;
  readonly session: S;
}

export type PreparedRegistration = Prepared<NewSession | null>;

const taken = (path: string): DoorwardError => fail('CONFLICT', { details: [{ path, code: 'taken' }] });

/**
 * Whether the answer to a registration may say that an address is taken. It lets a client test which addresses are
 * known, so a network can do so for a limited number of addresses only (identity §1). Beyond the limit, everybody in
 * that network registers as where an address must be verified first: one client then learns no more, and does not keep
 * the others from registering.
 */
const tellsTaken = async (services: Services, network: string, points?: number): Promise<boolean> =>
  services.config.auth.registrationMode === 'immediate' &&
  (await isLeft(services, 'auth', `taken ${network}`, points));

/** Checks and hashes. @throws VALIDATION_ERROR, FORBIDDEN when closed, CONFLICT */
export async function prepareRegistration(
  db: Executor,
  services: Services,
  network: string,
  newcomer: Newcomer,
): Promise<PreparedRegistration> {
  const { config, clock, ids } = services;
  const { address } = newcomer;
  if (config.auth.registrationMode === 'closed') {
    throw fail('FORBIDDEN', { fix: 'Registration is closed here; ask for an invitation.' });
  }
  assertReachable(services, address, 'providerId');
  await assertPassword(services, newcomer.password, ownerIn(newcomer), 'providerData.password');
  let immediate = await tellsTaken(services, network, 0);
  if (immediate) {
    const claim = await claimOf(db, address);
    const isTaken = (claim && !isLapsed(claim.user, clock.now())) || (await ownerOf(db, address));
    if (isTaken && (await tellsTaken(services, network))) throw taken('providerId');
    immediate = !isTaken;
  }
  const userId = ids.next();
  return {
    newcomer,
    userId,
    hash: await services.passwords.hash(newcomer.password),
    session: immediate
      ? await newSession(services, { id: userId, emailVerified: false }, { amr: ['pwd'] })
      : null,
  };
}

/** In production nobody can be reached at `localhost`. */
export const isReachable = ({ config }: Services, address: string): boolean =>
  !(config.production && address.endsWith('@localhost'));

/** @throws VALIDATION_ERROR */
export function assertReachable(services: Services, address: string, path: string): void {
  if (isReachable(services, address)) return;
  throw fail('VALIDATION_ERROR', { details: [{ path, code: 'format' }] });
}

const ownerIn = ({ address, name }: Newcomer) => ({ addresses: [address], name });

const isLapsed = (user: UserRow, now: Date): boolean =>
  !user.emailVerified && user.verificationDeadline !== null && user.verificationDeadline <= now;

/** User, method, password, account, session and mail. A lapsed claim gives way; a live one wins, in a race too. */
export async function register(ctx: Run, prepared: PreparedRegistration) {
  const { tx, services } = ctx;
  const { newcomer, session } = prepared;
  const { address } = newcomer;
  const now = services.clock.now();
  await lockAddress(ctx, address);
  const lapsed = tx
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
        inArray(authenticationMethods.userId, lapsed),
      ),
    );
  const graceMs = services.config.auth.verificationGraceDays * 86_400_000;
  // Who signs in through a provider has no method that the unique index would know.
  const isOwned = (await ownerOf(tx, address)) !== undefined;
  const asked = { ...prepared, signsIn: session !== null };
  const user = isOwned ? undefined : await createUser(ctx, asked, new Date(now.getTime() + graceMs));
  if (!user) {
    if (session) throw taken('providerId');
    await tellOwner(ctx, prepared);
    return null;
  }
  await sendVerification(ctx, user, address);
  return session ? openSession(ctx, session, user) : null;
}

interface NewUser {
  /** `type` null: without an account; whoever lets him in says where that is recorded. */
  readonly newcomer: Omit<Newcomer, 'password' | 'type'> & { readonly type: Newcomer['type'] | null };
  readonly node?: NodeRef;
  readonly userId: string;
  /** Null for a user without a password. */
  readonly hash: string | null;
  readonly signsIn: boolean;
}

/**
 * The new user with method, password and account, of whom `user.created` is recorded; undefined, and nothing written,
 * when the method is taken. `verificationDeadline` null: the address is proved already.
 */
export async function createUser(
  { tx, services, record }: Run,
  { newcomer, node, userId, hash, signsIn }: NewUser,
  verificationDeadline: Date | null,
  method: Pick<Method, 'provider' | 'providerId'> = { provider: 'email', providerId: newcomer.address },
): Promise<UserRow | undefined> {
  const { address, name, locale, type } = newcomer;
  const isVerified = verificationDeadline === null;
  const [user] = await tx
    .insert(users)
    .values({ id: userId, name, email: address, emailVerified: isVerified, locale, verificationDeadline })
    .returning();
  // The unique index decides a race: the loser writes nothing.
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

async function tellOwner(ctx: Run, { newcomer: { address } }: PreparedRegistration): Promise<void> {
  const { tx, services, call } = ctx;
  const holder = (await ownerOf(tx, address)) ?? (await claimOf(tx, address))?.user;
  // Until the purge the address of a deleted user is nobody's, and it has nobody to be told.
  if (!holder || holder.deletedAt !== null) return ctx.unchanged();
  if (!(await mayMail(services, 'verification', address))) return ctx.unchanged();
  await services.mail.queue(tx, addressTakenMail(address, holder.locale ?? call.language));
  flushMails(ctx);
  ctx.record({ target: { type: 'User', id: holder.id }, node: await nodeOfUser(tx, holder.id) });
}

export type PreparedInvited = Prepared<NewSession>;

/**
 * Checks and hashes for somebody who holds the token that was mailed to `address`, whatever AUTH_REGISTRATION_MODE says.
 * The caller has looked at the token: for an unknown one nothing is hashed.
 * @throws VALIDATION_ERROR, CONFLICT
 */
export async function prepareInvited(
  db: Executor,
  services: Services,
  address: string,
  { name, password }: { readonly name: string; readonly password: string },
): Promise<PreparedInvited> {
  const newcomer: Newcomer = { address, name, password, locale: null, type: 'personal' };
  if (await ownerOf(db, address)) throw taken('registration');
  await assertPassword(services, password, ownerIn(newcomer), 'registration.password');
  const userId = services.ids.next();
  return {
    newcomer,
    userId,
    hash: await services.passwords.hash(password),
    session: await newSession(services, { id: userId, emailVerified: true }, { amr: ['pwd'] }),
  };
}

/**
 * The new user, whose address is verified by the mailed token; every unverified claim on it ends, as it does when a
 * link of a verification mail is opened. Call `lockClaimants` first. @throws CONFLICT
 */
export async function registerInvited(ctx: Run, prepared: PreparedInvited): Promise<UserRow> {
  const { address } = prepared.newcomer;
  const claims = await claimsOn(ctx, address);
  if (await ownerOf(ctx.tx, address)) throw taken('registration');
  await removeClaims(ctx, claims);
  const user = await createUser(ctx, { ...prepared, signsIn: true }, null);
  if (!user) throw taken('registration');
  await settleLosers(ctx, claims);
  return user;
}
