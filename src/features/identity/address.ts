import { and, asc, eq } from 'drizzle-orm';
import type { Executor } from '../../kernel/scoped-db.ts';
import { authenticationMethods } from '../me/authentication-method.ts';
import { users } from '../users/user.ts';
import type { UserRow } from './sign-in.ts';

/**
 * Whose an address is. Only a proof counts: a mail that was opened, or a provider that vouches for the address it shows
 * as the user's. Who merely typed an address in at a registration does not own it. The user may be deleted: until the
 * purge his address is nobody else's.
 */
export async function ownerOf(db: Executor, address: string): Promise<UserRow | undefined> {
  const [found] = await db
    .select({ user: users })
    .from(authenticationMethods)
    .innerJoin(users, eq(users.id, authenticationMethods.userId))
    .where(and(eq(authenticationMethods.label, address), eq(authenticationMethods.isVerified, true)))
    .orderBy(asc(authenticationMethods.createdAt))
    .limit(1);
  return found?.user;
}

/** What the address is to this user. `claimed`: he named it, and has not proved it yet. */
export async function standingOf(
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
