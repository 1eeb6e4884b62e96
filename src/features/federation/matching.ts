import { and, eq } from 'drizzle-orm';
import type { Executor } from '../../kernel/scoped-db.ts';
import { authenticationMethods, MOST_METHODS } from '../me/authentication-method.ts';
import { isLockedOut } from '../me/failed-attempts.ts';
import { ownerOf } from '../identity/address.ts';
import { mayExist } from '../identity/password-sign-in.ts';
import { createUser } from '../identity/registration.ts';
import { recordMethodChange } from '../sign-in-protection/method-changes.ts';
import { nodeOfUser, userAsActor } from '../identity/user-node.ts';
import { userData, type Run, type UserRow } from '../identity/sign-in.ts';
import {
  claimsOn,
  endOwnClaims,
  lockAddress,
  lockClaimants,
  lockUser,
  removeClaims,
  settleLosers,
} from '../identity/verification.ts';
import { users } from '../users/user.ts';
import type { FlowError } from './destination.ts';
import type { Identity } from './github.ts';

/**
 * Which user a GitHub account is (identity §8): the one it is linked to; else the owner of its address, to whom it is
 * linked; else a new one. An address that somebody only typed in at a registration makes nobody its owner: such a claim
 * ends, as it does when another user opens a verification mail, and is never merged.
 *
 * The account is locked before addresses and users, so of two sign-ins of one new account the second finds the user.
 */
export type Matched = { readonly user: UserRow } | { readonly error: FlowError };

type MethodRow = typeof authenticationMethods.$inferSelect;

/** The user, locked until commit. A refusal of a user who is known is recorded. */
export async function userOf(
  ctx: Run,
  identity: Identity,
  accountType: 'personal' | 'organization',
): Promise<Matched> {
  const { tx, services } = ctx;
  const linked = await lockedMethod(ctx, identity);
  if (linked) {
    const user = await admitted(ctx, linked.userId);
    if (!user) return { error: 'accessDenied' };
    const lastUsedAt = services.clock.now();
    await tx.update(authenticationMethods).set({ lastUsedAt }).where(eq(authenticationMethods.id, linked.id));
    return { user };
  }
  const { address } = identity;
  if (address === null) return refused(ctx, 'emailNotVerified');
  await lockClaimants(ctx, address);
  const owner = await ownerOf(tx, address);
  if (!owner) return newcomer(ctx, identity, address, accountType);
  const user = await admitted(ctx, owner.id);
  if (!user) return { error: 'accessDenied' };
  if (!(await link(ctx, user, identity, address))) return refused(ctx, 'alreadyLinked');
  return { user };
}

/** Of nobody in particular, so there is nothing to record. */
export function refused(ctx: Run, error: FlowError): { readonly error: FlowError } {
  ctx.unchanged();
  return { error };
}

/** The method of this account, if any, and the account's lock until commit. */
export async function lockedMethod(ctx: Run, { id }: Identity): Promise<MethodRow | undefined> {
  await lockAddress(ctx, `github:${id}`);
  const isLink = and(
    eq(authenticationMethods.provider, 'github'),
    eq(authenticationMethods.providerId, id),
    eq(authenticationMethods.claims, true),
  );
  const [found] = await ctx.tx.select().from(authenticationMethods).where(isLink);
  if (!found) return undefined;
  // Whoever removes a method holds the user's row, which comes before methods everywhere.
  await lockUser(ctx, found.userId);
  const [method] = await ctx.tx.select().from(authenticationMethods).where(isLink);
  return method;
}

/** The locked row of a user who may sign in, from here and now. */
export async function admitted(ctx: Run, id: string): Promise<UserRow | undefined> {
  const { tx, services, call } = ctx;
  const user = await lockUser(ctx, id);
  if (user && mayExist(user) && !(await isLockedOut(tx, services, id, call.network))) return user;
  ctx.record({
    outcome: 'failed',
    code: 'UNAUTHENTICATED',
    target: { type: 'User', id },
    node: await nodeOfUser(tx, id),
  });
  return undefined;
}

async function newcomer(
  ctx: Run,
  identity: Identity,
  address: string,
  type: 'personal' | 'organization',
): Promise<Matched> {
  const { services } = ctx;
  if (services.config.auth.registrationMode === 'closed') return refused(ctx, 'signUpDisabled');
  const name = identity.name ?? localPart(address);
  const method = { provider: 'github', providerId: identity.id } as const;
  const person = { address, name, locale: null, type };
  return { user: await createProved(ctx, { newcomer: person, userId: services.ids.next() }, method) };
}

/** What somebody is called who has told no name. */
export const localPart = (address: string): string => address.slice(0, address.lastIndexOf('@'));

/**
 * A user whose address is proved: every claim of others on it ends. Address and claimants are locked, and the account if
 * there is one; the address is nobody's.
 */
export async function createProved(
  ctx: Run,
  person: Pick<Parameters<typeof createUser>[1], 'newcomer' | 'userId' | 'node'>,
  method?: Parameters<typeof createUser>[3],
): Promise<UserRow> {
  const claims = await claimsOn(ctx, person.newcomer.address);
  await removeClaims(ctx, claims);
  const user = await createUser(ctx, { ...person, hash: null, signsIn: true }, null, method);
  // All is locked, so only an index that is out of step with it could be in the way.
  if (!user) throw new Error('a sign-in method is taken although nobody has it');
  await settleLosers(ctx, claims);
  return user;
}

export async function hasMostMethods(tx: Executor, userId: string): Promise<boolean> {
  const own = await tx
    .select({ id: authenticationMethods.id })
    .from(authenticationMethods)
    .where(eq(authenticationMethods.userId, userId));
  return own.length >= MOST_METHODS;
}

/**
 * Gives the user, who is locked, this account to sign in with, and records it; false when he has as many methods as he
 * may. The address is his from now on: claims of others on it end. If he had proved none before, it is the first.
 */
export async function link(ctx: Run, user: UserRow, { id }: Identity, address: string): Promise<boolean> {
  const { tx, services } = ctx;
  const isOwn = eq(authenticationMethods.userId, user.id);
  const own = await tx.select().from(authenticationMethods).where(isOwn).for('update');
  if (own.length >= MOST_METHODS) return false;
  const claims = (await claimsOn(ctx, address)).filter(({ userId }) => userId !== user.id);
  await removeClaims(ctx, claims);
  const isPrimary = !own.some(({ isVerified }) => isVerified);
  if (isPrimary) await tx.update(authenticationMethods).set({ isPrimary: false }).where(isOwn);
  const methodId = services.ids.next();
  const method = { id: methodId, provider: 'github', label: address, isVerified: true } as const;
  await tx.insert(authenticationMethods).values({
    ...method,
    userId: user.id,
    providerId: id,
    isPrimary,
    claims: true,
    lastUsedAt: services.clock.now(),
  });
  await endOwnClaims(ctx, user.id);
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
    ctx.touch(`user:${user.id}`);
    ctx.record({
      ...by,
      event: 'user.email_verified',
      data: userData(row as UserRow),
      changes: { emailVerified: { from: false, to: true } },
      target: { type: 'User', id: user.id },
    });
  }
  await settleLosers(ctx, claims);
  return true;
}
