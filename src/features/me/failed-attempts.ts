import { and, eq, gt, gte, sql } from 'drizzle-orm';
import { integer, pgTable, primaryKey, text as textColumn, uuid as uuidColumn } from 'drizzle-orm/pg-core';
import { time } from '../../db/columns.ts';
import type { Services } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { users } from '../users/user.ts';

/**
 * The lock-out of identity §3: after too many wrong secrets for one account from one network nothing more is evaluated
 * from there until the window ends, so that a guesser has no more tries however many doors he uses. From elsewhere the
 * user signs in as ever: locking the account itself would let anybody lock anybody out.
 *
 * A door asks twice. `isLockedOut` in `prepare` saves the hash from being looked at. Under the lock of the user's row
 * it asks again, also when the secret was right, and counts a wrong one there: guesses at once are answered in one
 * order, of which only the first few tell anything.
 */
export const failedAttempts = pgTable(
  'failed_attempts',
  {
    userId: uuidColumn('user_id')
      .notNull()
      .references(() => users.id),
    network: textColumn('network').notNull(),
    failures: integer('failures').notNull(),
    windowEndsAt: time('window_ends_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.network] })],
);

type Ports = Pick<Services, 'clock' | 'config'>;

/** Whether no secret of this user is to be evaluated for this network now. */
export async function isLockedOut(
  db: Executor,
  { clock, config }: Ports,
  userId: string,
  network: string,
): Promise<boolean> {
  const locks = and(
    eq(failedAttempts.userId, userId),
    eq(failedAttempts.network, network),
    gt(failedAttempts.windowEndsAt, clock.now()),
    gte(failedAttempts.failures, config.auth.lockoutMaxFailures),
  );
  return (
    (await db.select({ failures: failedAttempts.failures }).from(failedAttempts).where(locks)).length > 0
  );
}

/** One more wrong secret. The window begins with the first and is not drawn out by those that follow. */
export async function countFailure(
  tx: Executor,
  { clock, config }: Ports,
  userId: string,
  network: string,
): Promise<void> {
  const now = clock.now();
  const windowEndsAt = new Date(now.getTime() + config.auth.lockoutWindowMinutes * 60_000);
  const isOver = sql`${failedAttempts.windowEndsAt} <= ${now.toISOString()}::timestamptz`;
  await tx
    .insert(failedAttempts)
    .values({ userId, network, failures: 1, windowEndsAt })
    .onConflictDoUpdate({
      target: [failedAttempts.userId, failedAttempts.network],
      set: {
        failures: sql`case when ${isOver} then 1 else ${failedAttempts.failures} + 1 end`,
        windowEndsAt: sql`case when ${isOver} then excluded.window_ends_at else ${failedAttempts.windowEndsAt} end`,
      },
    });
}

/** Forgets the failures of all networks: whoever reset the password by mail has proved who he is. */
export async function endLockOut(tx: Executor, userId: string): Promise<void> {
  await tx.delete(failedAttempts).where(eq(failedAttempts.userId, userId));
}
