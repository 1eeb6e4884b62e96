import { and, eq, gt, gte, lte, sql } from 'drizzle-orm';
import type { Services } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { mfaAttempts } from '../../schema/sign-in/mfa-factor.ts';

/*
 * A user has five failed codes in 15 minutes, counting authenticator and recovery codes together; after that, no code
 * is checked until the window ends (identity §3). A correct code does not reset the count: the limit is on guesses, and
 * an attacker and the user share it.
 */

const MAX_FAILURES = 5;
const WINDOW_MS = 15 * 60_000;

interface Run {
  readonly tx: Executor;
  readonly services: Services;
}

/**
 * A window that ends later than this was written before the clock was set back, and is ignored. Twice the window
 * length, to tolerate clocks that differ.
 */
const farthestEnd = (now: Date): Date => new Date(now.getTime() + 2 * WINDOW_MS);

/** Whether the user has used up the failed codes of the current window. */
export async function isLockedOut({ tx, services }: Run, userId: string): Promise<boolean> {
  const rows = await tx
    .select({ failures: mfaAttempts.failures })
    .from(mfaAttempts)
    .where(
      and(
        eq(mfaAttempts.userId, userId),
        gte(mfaAttempts.failures, MAX_FAILURES),
        gt(mfaAttempts.windowEndsAt, services.clock.now()),
        lte(mfaAttempts.windowEndsAt, farthestEnd(services.clock.now())),
      ),
    );
  return rows.length > 0;
}

/** Counts a failed code, in one statement, so that concurrent failures are all counted. */
export async function countFailure({ tx, services }: Run, userId: string): Promise<void> {
  const now = services.clock.now();
  const windowEndsAt = new Date(now.getTime() + WINDOW_MS);
  const isOver = sql`(${mfaAttempts.windowEndsAt} <= ${now.toISOString()}::timestamptz
    or ${mfaAttempts.windowEndsAt} > ${farthestEnd(now).toISOString()}::timestamptz)`;
  await tx
    .insert(mfaAttempts)
    .values({ userId, failures: 1, windowEndsAt })
    .onConflictDoUpdate({
      target: mfaAttempts.userId,
      set: {
        failures: sql`case when ${isOver} then 1 else ${mfaAttempts.failures} + 1 end`,
        windowEndsAt: sql`case when ${isOver} then excluded.window_ends_at else ${mfaAttempts.windowEndsAt} end`,
      },
    });
}
