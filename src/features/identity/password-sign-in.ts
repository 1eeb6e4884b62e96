import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import type { Services } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { email, normalizationFault, refusal } from '../../values.ts';
import { authenticationMethods, passwords } from '../me/authentication-method.ts';
import { isLockedOut } from '../me/failed-attempts.ts';
import { users } from '../users/user.ts';
import type { UserRow } from './sign-in.ts';

/** Who signs in with an address and a password. Every answer costs the same hash, so that none tells who exists. */
export interface Checked {
  /** Whose address it is, right password or not; null when it is nobody's. */
  readonly user: UserRow | null;
  readonly methodId: string | null;
  /** The hash that the password fitted; null when it did not, or when the user may not sign in, or not from here. */
  readonly matched: string | null;
  /** A stronger hash of the same password, when the stored one is weaker than today's. */
  readonly rehashed: string | null;
}

const maxLength = 128;

/**
 * A password as somebody types it, counted like the policy counts: code points after NFKC. What a new one must be like
 * is said in `crypto/password-policy.ts`.
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
    description: 'A password; a new one must keep to the rules of the installation.',
    examples: ['three lanterns in the harbour'],
  });

/** The canonical address, or null for a text that is none: it belongs to nobody. */
export function canonicalAddress(typed: string): string | null {
  const parsed = email.safeParse(typed);
  return parsed.success ? parsed.data : null;
}

/** The method that holds an address against others, its user and his password hash. */
export async function claimOf(db: Executor, address: string) {
  const [found] = await db
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
  return found;
}

export const mayExist = (user: UserRow): boolean =>
  user.deletedAt === null && user.status === 'active' && !user.isManaged;

/** Hashes, so call it in `prepare`. */
export async function checkPassword(
  db: Executor,
  services: Services,
  network: string,
  typedAddress: string,
  typedPassword: string,
): Promise<Checked> {
  const { passwords: hashing } = services;
  const address = canonicalAddress(typedAddress);
  const found = address === null ? undefined : await claimOf(db, address);
  const lockedOut = found !== undefined && (await isLockedOut(db, services, found.user.id, network));
  const hash = found && mayExist(found.user) && !lockedOut ? found.hash : null;
  const fits = await hashing.verify(hash, typedPassword);
  const matched = fits ? hash : null;
  return {
    user: found?.user ?? null,
    methodId: found?.method.id ?? null,
    matched,
    rehashed: matched !== null && hashing.needsRehash(matched) ? await hashing.hash(typedPassword) : null,
  };
}
