import { eq } from 'drizzle-orm';
import type { Services } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { users } from '../users/user.ts';
import { accounts } from '../identity/account.ts';
import type { UserRow } from '../identity/sign-in.ts';

/**
 * Whether the time of the user to verify an address is over (authorization §8). Until they verify one, they cannot sign
 * in anywhere.
 */
export const isOverdue = (user: UserRow, { clock }: Pick<Services, 'clock'>): boolean =>
  !user.emailVerified && user.verificationDeadline !== null && user.verificationDeadline <= clock.now();

/** The same of the user who owns this account: their keys and apps do nothing either. False for an organization. */
export async function isOwnerOverdue(db: Executor, services: Services, accountId: string): Promise<boolean> {
  const [found] = await db
    .select({ owner: users })
    .from(accounts)
    .innerJoin(users, eq(users.id, accounts.ownerId))
    .where(eq(accounts.id, accountId));
  return found !== undefined && isOverdue(found.owner, services);
}
