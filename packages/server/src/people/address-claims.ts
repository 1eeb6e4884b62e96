import { and, asc, eq, inArray, sql } from 'drizzle-orm';
import { authenticationMethods } from '../schema/sign-in/authentication-method.ts';
import { users } from '../schema/people/user.ts';
import type { Run } from '../services.ts';

export const isAddress = (address: string) =>
  and(eq(authenticationMethods.provider, 'email'), eq(authenticationMethods.providerId, address));

/**
 * Serializes registration and verification of the address until commit. The unique index alone would reject the later
 * transaction, although it may be the one with the right to the address.
 */
export const lockAddress = ({ tx }: Pick<Run, 'tx'>, address: string): PromiseLike<unknown> =>
  tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${address}, 0))`);

/**
 * Locks the address, then every user who claims it. As everywhere, users are locked in the order of their ids, and
 * before tokens, invitations and methods, so that two users who prove the same address wait for each other without a
 * deadlock.
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

export type Claim = typeof authenticationMethods.$inferSelect;

/** Locks and returns every claim on the address, verified or not. */
export const lockClaims = ({ tx }: Pick<Run, 'tx'>, address: string): PromiseLike<Claim[]> =>
  tx
    .select()
    .from(authenticationMethods)
    .where(isAddress(address))
    .orderBy(asc(authenticationMethods.id))
    .for('update');
