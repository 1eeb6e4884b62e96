import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import type { Services } from '../services.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { email, normalizationFault, refusal } from '../kernel/input/values.ts';
import { authenticationMethods, passwords } from '../schema/sign-in/authentication-method.ts';
import { isLockedOut } from '../people/lockout.ts';
import { users, type UserRow } from '../schema/people/user.ts';
import { sampleOfHashes } from './hash-sample.ts';

/**
 * The result of a password check. Every check computes a hash, even if the address has no user, so that its duration
 * does not reveal which users exist.
 */
export interface PasswordCheck {
  /** The user who claims the address, whether or not the password matches; null for an unclaimed address. */
  readonly user: UserRow | null;
  readonly methodId: string | null;
  /**
   * The stored hash that the password matched. Null if it did not match, if the user may not sign in, or if they are
   * locked out from this network.
   */
  readonly matched: string | null;
  /** The password hashed with the current parameters, if the stored hash is weaker. */
  readonly rehashed: string | null;
}

const maxLength = 128;

/**
 * A password as the user types it. Its length is counted as in the policy: in code points after NFKC normalisation. The
 * rules for a new password are in `crypto/passwords/password-policy.ts`.
 */
export const password = z
  .string()
  .min(1)
  .check((payload) => {
    const { value } = payload;
    const fault =
      normalizationFault(value, maxLength) ??
      ([...value.normalize('NFKC')].length > maxLength ? 'too_long' : undefined);
    if (fault) payload.issues.push(refusal(fault, value));
  })
  .meta({
    format: 'password',
    minLength: 1,
    maxLength,
    description: 'A password; a new one must satisfy the rules of the installation.',
    examples: ['three lanterns in the harbour'],
  });

/** The canonical form of the address; null for a text that is not an address. */
export function canonicalAddress(typed: string): string | null {
  const parsed = email.safeParse(typed);
  return parsed.success ? parsed.data : null;
}

/** Returns the sign-in method that claims the address, its user, and the user's password hash (null if none). */
export async function findClaim(db: Executor, address: string) {
  const [row] = await db
    .select({ method: authenticationMethods, user: users, hash: passwords.hash })
    .from(authenticationMethods)
    .innerJoin(users, eq(users.id, authenticationMethods.userId))
    .leftJoin(passwords, eq(passwords.userId, users.id))
    .where(
      and(
        eq(authenticationMethods.provider, 'email'),
        eq(authenticationMethods.providerId, address),
        eq(authenticationMethods.claims, true),
      ),
    );
  return row;
}

/** Whether the user may sign in at all: active, not deleted, and not managed by a tenant. */
export const canSignIn = (user: UserRow): boolean =>
  user.deletedAt === null && user.status === 'active' && !user.isManaged;

/** Checks a password. Computes a password hash, so call it in `prepare`, outside the transaction. */
export async function checkPassword(
  db: Executor,
  services: Services,
  network: string,
  typedAddress: string,
  typedPassword: string,
): Promise<PasswordCheck> {
  const { passwords: hashing } = services;
  const address = canonicalAddress(typedAddress);
  const claim = address === null ? undefined : await findClaim(db, address);
  const lockedOut = claim !== undefined && (await isLockedOut(db, services, claim.user.id, network));
  const hash = claim && canSignIn(claim.user) && !lockedOut ? claim.hash : null;
  const imitated =
    claim?.hash ?? (await hashing.imitationFor(address ?? typedAddress, () => sampleOfHashes(db)));
  const fits = await hashing.verify(hash, typedPassword, imitated);
  const matched = fits ? hash : null;
  return {
    user: claim?.user ?? null,
    methodId: claim?.method.id ?? null,
    matched,
    rehashed: matched !== null && hashing.needsRehash(matched) ? await hashing.hash(typedPassword) : null,
  };
}
