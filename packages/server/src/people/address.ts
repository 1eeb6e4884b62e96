import { and, asc, eq } from 'drizzle-orm';
import type { Executor } from '../kernel/scoped-db.ts';
import { authenticationMethods } from '../schema/sign-in/authentication-method.ts';
import { users, type UserRow } from '../schema/people/user.ts';

/**
 * The user who owns the address. Only proof of control counts: an opened mail, or a provider that reports the address
 * as verified. An address that was merely entered at a registration has no owner. The owner may be deleted, because the
 * address stays theirs until the purge.
 */
export async function findAddressOwner(db: Executor, address: string): Promise<UserRow | undefined> {
  const [row] = await db
    .select({ user: users })
    .from(authenticationMethods)
    .innerJoin(users, eq(users.id, authenticationMethods.userId))
    .where(and(eq(authenticationMethods.label, address), eq(authenticationMethods.isVerified, true)))
    .orderBy(asc(authenticationMethods.createdAt))
    .limit(1);
  return row?.user;
}

/** How the address relates to the user. `claimed`: the user has named it but not verified it yet. */
export async function addressStatusOf(
  db: Executor,
  user: UserRow,
  address: string,
): Promise<'owned' | 'claimed' | 'foreign'> {
  const proved = await db
    .select({ isVerified: authenticationMethods.isVerified })
    .from(authenticationMethods)
    .where(and(eq(authenticationMethods.userId, user.id), eq(authenticationMethods.label, address)));
  if (proved.length === 0) return 'foreign';
  return proved.some(({ isVerified }) => isVerified) ? 'owned' : 'claimed';
}
