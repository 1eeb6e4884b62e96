import { and, eq, isNull } from 'drizzle-orm';
import type { Executor } from '../../kernel/scoped-db.ts';
import { authenticationMethods } from '../me/authentication-method.ts';
import { users } from '../users/user.ts';
import { claimOf } from './password-sign-in.ts';
import type { UserRow } from './sign-in.ts';

/**
 * Whose an address is. Only a proof counts: a mail that was opened, or a provider that vouches for the address it shows
 * as the user's. Who merely typed an address in at a registration does not own it.
 */
export async function ownerOf(db: Executor, address: string): Promise<UserRow | undefined> {
  const claim = await claimOf(db, address);
  if (claim?.method.isVerified) return claim.user;
  const [vouchedFor] = await db
    .select()
    .from(users)
    .where(and(eq(users.email, address), eq(users.emailVerified, true), isNull(users.deletedAt)));
  return vouchedFor;
}

/** What the address is to this user. `claimed`: he named it, and has not proved it yet. */
export async function standingOf(
  db: Executor,
  user: UserRow,
  address: string,
): Promise<'owned' | 'claimed' | 'foreign'> {
  if (user.emailVerified && user.email === address) return 'owned';
  const [method] = await db
    .select({ isVerified: authenticationMethods.isVerified })
    .from(authenticationMethods)
    .where(
      and(
        eq(authenticationMethods.userId, user.id),
        eq(authenticationMethods.provider, 'email'),
        eq(authenticationMethods.providerId, address),
      ),
    );
  if (!method) return 'foreign';
  return method.isVerified ? 'owned' : 'claimed';
}
