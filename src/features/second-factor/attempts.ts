import { and, eq, gt, gte, lte, sql } from 'drizzle-orm';
import type { Services } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { mfaAttempts } from '../mfa/mfa-factor.ts';

/**
 * Five wrong codes of a user in 15 minutes, over app and recovery codes together, and no code is looked at until the
 * window ends (identity §3). A right code does not begin a new count: the limit is of guesses, whoever makes them.
 */
const MAX_FAILURES = 5;
const WINDOW_MS = 15 * 60_000;

interface Run {
  readonly tx: Executor;
  readonly services: Services;
}

/** A window that ends later was dated by a clock that was set back since. Twice its length, for clocks that differ. */
const farthestEnd = (now: Date): Date => new Date(now.getTime() + 2 * WINDOW_MS);

export async function isLockedOut({ tx, services }: Run, userId: string): Promise<boolean> {
  const found = await tx
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
  return found.length > 0;
}

/** One statement, so that of many at once each is counted. */
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
