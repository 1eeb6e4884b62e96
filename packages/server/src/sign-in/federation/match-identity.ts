import { and, eq } from 'drizzle-orm';
import type { Executor } from '../../kernel/scoped-db.ts';
import { authenticationMethods, MAX_METHODS } from '../../schema/sign-in/authentication-method.ts';
import { isLockedOut } from '../../people/lockout.ts';
import { findAddressOwner } from '../../people/address.ts';
import { canSignIn } from '../../sessions/password-sign-in.ts';
import { createUser } from '../addresses/registration.ts';
import { recordMethodChange } from '../protection/method-changes.ts';
import { nodeOfUser, userAsActor } from '../../people/user-node.ts';
import { userData } from '../../sessions/sign-in.ts';
import type { Run } from '../../services.ts';
import { type UserRow, users } from '../../schema/people/user.ts';
import { lockClaims, lockAddress, lockClaimants } from '../../people/address-claims.ts';
import { endUnverifiedClaims, removeClaims, settleLostClaims } from '../addresses/verification.ts';
import { lockUser } from '../../people/lock-user.ts';
import type { FlowError } from './destination.ts';
import { methodOfIdentity, providerKeyOf, type Identity } from '../../providers/provider.ts';

type MatchResult = { readonly user: UserRow } | { readonly error: FlowError };

type NewUser = Parameters<typeof createUser>[1];
type MethodRow = typeof authenticationMethods.$inferSelect;

/**
 * Finds or creates the user of an account at a provider (identity §8), and locks them until commit. This is the user
 * that the account is linked to, else the owner of its address, whom it is then linked to, else a new user. An
 * unverified claim on the address doesn't count: it ends, as when another user opens a verification mail, and is never
 * merged. If an existing user may not sign in, that is recorded.
 *
 * The account is locked before addresses and users, so that of two concurrent sign-ins with a new account the second
 * finds the user that the first created.
 */
export async function findOrCreateUser(
  ctx: Run,
  identity: Identity,
  accountType: 'personal' | 'organization',
): Promise<MatchResult> {
  const { tx, services } = ctx;
  const linked = await lockLinkedMethod(ctx, identity);
  if (linked) {
    const user = await lockSignInUser(ctx, linked.userId);
    if (!user) return { error: 'accessDenied' };
    const lastUsedAt = services.clock.now();
    await tx.update(authenticationMethods).set({ lastUsedAt }).where(eq(authenticationMethods.id, linked.id));
    return { user };
  }
  const { address } = identity;
  if (address === null) return refuseSilently(ctx, 'emailNotVerified');
  await lockClaimants(ctx, address);
  const owner = await findAddressOwner(tx, address);
  if (!owner) return registerUser(ctx, identity, address, accountType);
  const user = await lockSignInUser(ctx, owner.id);
  if (!user) return { error: 'accessDenied' };
  if (!(await linkAccount(ctx, user, identity, address))) return refuseSilently(ctx, 'alreadyLinked');
  return { user };
}

/** Returns the error. The refusal is not recorded. */
export function refuseSilently(ctx: Run, error: FlowError): { readonly error: FlowError } {
  ctx.unchanged();
  return { error };
}

/** The sign-in method that is linked to this identity of a provider, if any. Locks the identity until commit. */
export async function lockLinkedMethod(ctx: Run, identity: Identity): Promise<MethodRow | undefined> {
  const { provider, providerId } = methodOfIdentity(identity);
  await lockAddress(ctx, `${provider}:${providerId}`);
  const isLink = and(
    eq(authenticationMethods.provider, provider),
    eq(authenticationMethods.providerId, providerId),
    eq(authenticationMethods.claims, true),
  );
  const [unlocked] = await ctx.tx.select().from(authenticationMethods).where(isLink);
  if (!unlocked) return undefined;
  // A transaction that removes a method locks the user's row, which precedes methods in the lock order.
  await lockUser(ctx, unlocked.userId);
  const [method] = await ctx.tx.select().from(authenticationMethods).where(isLink);
  return method;
}

/** Locks and returns a user who may sign in now from this network. Records the refusal of any other user. */
export async function lockSignInUser(ctx: Run, id: string): Promise<UserRow | undefined> {
  const { tx, services, call } = ctx;
  const user = await lockUser(ctx, id);
  if (user && canSignIn(user) && !(await isLockedOut(tx, services, id, call.network))) return user;
  ctx.record({
    outcome: 'failed',
    code: 'UNAUTHENTICATED',
    target: { type: 'User', id },
    node: await nodeOfUser(tx, id),
  });
  return undefined;
}

async function registerUser(
  ctx: Run,
  identity: Identity,
  address: string,
  type: 'personal' | 'organization',
): Promise<MatchResult> {
  const { services } = ctx;
  const { allowSignUp } = services.identityProviders.at(providerKeyOf(identity), 'session');
  if (!allowSignUp || services.config.auth.registrationMode === 'closed') {
    return refuseSilently(ctx, 'signUpDisabled');
  }
  const name = identity.name ?? localPart(address);
  const method = methodOfIdentity(identity);
  const person = { address, name, locale: null, type };
  return { user: await createVerifiedUser(ctx, { registrant: person, userId: services.ids.next() }, method) };
}

/** The name of a user who gave none: the part of the address before the @. */
export const localPart = (address: string): string => address.slice(0, address.lastIndexOf('@'));

/**
 * Creates a user whose address is proved; other users' claims on it end. The caller has locked address, claimants and
 * account, and has checked that no user owns the address.
 */
export async function createVerifiedUser(
  ctx: Run,
  person: Pick<NewUser, 'registrant' | 'userId' | 'node'> & Partial<Pick<NewUser, 'hash'>>,
  method?: Parameters<typeof createUser>[3],
): Promise<UserRow> {
  const claims = await lockClaims(ctx, person.registrant.address);
  await removeClaims(ctx, claims);
  const user = await createUser(ctx, { hash: null, ...person, signsIn: true }, null, method);
  // Everything is locked, so only an inconsistent index could cause this.
  if (!user) throw new Error('a sign-in method is taken although no user has it');
  await settleLostClaims(ctx, claims);
  return user;
}

/** Whether the user has the maximum number of sign-in methods. */
export async function hasMaximumMethods(tx: Executor, userId: string): Promise<boolean> {
  const own = await tx
    .select({ id: authenticationMethods.id })
    .from(authenticationMethods)
    .where(eq(authenticationMethods.userId, userId));
  return own.length >= MAX_METHODS;
}

/**
 * Links the account to the user, whom the caller has locked, and records it. Returns false if the user has the maximum
 * number of methods. The user then owns the address: other users' claims on it end, and it becomes primary if the user
 * had no verified address.
 */
export async function linkAccount(
  ctx: Run,
  user: UserRow,
  identity: Identity,
  address: string,
): Promise<boolean> {
  const { tx, services } = ctx;
  const isOwn = eq(authenticationMethods.userId, user.id);
  const own = await tx.select().from(authenticationMethods).where(isOwn).for('update');
  if (own.length >= MAX_METHODS) return false;
  const claims = (await lockClaims(ctx, address)).filter(({ userId }) => userId !== user.id);
  await removeClaims(ctx, claims);
  const isPrimary = !own.some(({ isVerified }) => isVerified);
  if (isPrimary) await tx.update(authenticationMethods).set({ isPrimary: false }).where(isOwn);
  const methodId = services.ids.next();
  const method = { ...methodOfIdentity(identity), id: methodId, label: address, isVerified: true };
  await tx.insert(authenticationMethods).values({
    ...method,
    userId: user.id,
    isPrimary,
    claims: true,
    lastUsedAt: services.clock.now(),
  });
  await endUnverifiedClaims(ctx, user.id);
  const by = { actor: userAsActor(user), node: await nodeOfUser(tx, user.id) };
  await recordMethodChange(ctx, user, { change: 'added', method, before: own, actor: by.actor });
  if (isPrimary) {
    const [row] = await tx
      .update(users)
      .set({
        email: address,
        emailVerified: true,
        verificationDeadline: null,
        updatedAt: services.clock.now(),
      })
      .where(eq(users.id, user.id))
      .returning();
    ctx.invalidate(`user:${user.id}`);
    ctx.record({
      ...by,
      event: 'user.email_verified',
      data: userData(row as UserRow),
      changes: { emailVerified: { from: false, to: true } },
      target: { type: 'User', id: user.id },
    });
  }
  await settleLostClaims(ctx, claims);
  return true;
}
