import { eq } from 'drizzle-orm';
import { fail, type DoorwardError } from '../../errors.ts';
import type { Services } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { users, type UserRow } from '../../schema/people/user.ts';
import { accounts } from '../../schema/people/account.ts';

/**
 * Whether the user has missed their deadline to verify an address (authorization §8). Until they verify one, they
 * cannot sign in.
 */
export const isOverdue = (user: UserRow, { clock }: Pick<Services, 'clock'>): boolean =>
  !user.emailVerified && user.verificationDeadline !== null && user.verificationDeadline <= clock.now();

/**
 * Whether the owner of this account is overdue; keys and apps of the account then do not work either. False for an
 * organization.
 */
export async function isOwnerOverdue(db: Executor, services: Services, accountId: string): Promise<boolean> {
  const [row] = await db
    .select({ owner: users })
    .from(accounts)
    .innerJoin(users, eq(users.id, accounts.ownerId))
    .where(eq(accounts.id, accountId));
  return row !== undefined && isOverdue(row.owner, services);
}

/** The refusal of a user who has missed their verification deadline. */
export const verificationRequired = (): DoorwardError =>
  fail('EMAIL_VERIFICATION_REQUIRED', {
    fix: 'Open the link in the verification mail, or ask for a new one at POST /api/auth/resend-verification.',
  });
