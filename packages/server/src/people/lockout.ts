import { and, count, eq, gt, gte, lte, sql } from 'drizzle-orm';
import type { Services } from '../services.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { users } from '../schema/people/user.ts';
import { failedAttempts, accountFailures, knownNetworks } from '../schema/sign-in/failed-attempt.ts';

/*
 * The lockout (identity §3), shared by all operations that check a secret of an account.
 *
 * First rule: after too many wrong secrets for one account from one network, the service checks no more secrets from
 * there until the window ends. From other networks the user signs in as usual; locking the whole account would let an
 * attacker lock its user out. Second rule, against an attacker with many networks: after more than a hundred wrong
 * secrets in a day, the service checks secrets only from networks where the user has signed in in the last 30 days.
 *
 * An operation calls `isLockedOut` twice: in `prepare`, to save the hash, and again under the lock of the user's row,
 * even if the secret was correct. It also counts a wrong secret under that lock, so that concurrent guesses are counted
 * one after the other.
 */

const MAX_FAILURES_A_DAY = 100;
const DAY_MS = 86_400_000;
const KNOWN_NETWORK_MS = 30 * DAY_MS;

type LockoutServices = Pick<Services, 'clock' | 'config'>;

/**
 * The latest plausible end of a window. A later end was written before the clock was set back and would lock the
 * network out for that long, so it does not count. Twice the window length, because the clocks of processes differ.
 */
const latestPlausibleEnd = ({ auth }: Services['config'], now: Date): Date =>
  new Date(now.getTime() + 2 * auth.lockoutWindowMinutes * 60_000);

/** Whether the service must not check a secret of this user from this network now. */
export async function isLockedOut(
  db: Executor,
  { clock, config }: LockoutServices,
  userId: string,
  network: string,
): Promise<boolean> {
  const now = clock.now();
  const lockedNetwork = db
    .select({ network: failedAttempts.network })
    .from(failedAttempts)
    .where(
      and(
        eq(failedAttempts.userId, userId),
        eq(failedAttempts.network, network),
        gt(failedAttempts.windowEndsAt, now),
        lte(failedAttempts.windowEndsAt, latestPlausibleEnd(config, now)),
        gte(failedAttempts.failures, config.auth.lockoutMaxFailures),
      ),
    );
  const failuresOfDay = db
    .select({ failures: count() })
    .from(accountFailures)
    .where(
      and(eq(accountFailures.userId, userId), gt(accountFailures.failedAt, new Date(now.getTime() - DAY_MS))),
    );
  const knownNetwork = db
    .select({ network: knownNetworks.network })
    .from(knownNetworks)
    .where(
      and(
        eq(knownNetworks.userId, userId),
        eq(knownNetworks.network, network),
        gt(knownNetworks.signedInAt, new Date(now.getTime() - KNOWN_NETWORK_MS)),
      ),
    );
  const [lockedOutUser] = await db
    .select({ id: users.id })
    .from(users)
    .where(
      and(
        eq(users.id, userId),
        sql`(exists ${lockedNetwork} or ((${failuresOfDay}) > ${MAX_FAILURES_A_DAY} and not exists ${knownNetwork}))`,
      ),
    );
  return lockedOutUser !== undefined;
}

/** Counts a wrong secret. Later failures do not extend the window of the network. */
export async function countFailure(
  tx: Executor,
  { clock, config, ids }: LockoutServices & Pick<Services, 'ids'>,
  userId: string,
  network: string,
): Promise<void> {
  const now = clock.now();
  const windowEndsAt = new Date(now.getTime() + config.auth.lockoutWindowMinutes * 60_000);
  const latestEnd = latestPlausibleEnd(config, now).toISOString();
  const isOver = sql`(${failedAttempts.windowEndsAt} <= ${now.toISOString()}::timestamptz
    or ${failedAttempts.windowEndsAt} > ${latestEnd}::timestamptz)`;
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
  await tx.insert(accountFailures).values({ id: ids.next(), userId, failedAt: now });
}

/** Remembers the network of a complete sign-in. If the user has a second factor, call it only after that factor. */
export async function rememberNetwork(
  tx: Executor,
  { clock }: Pick<Services, 'clock'>,
  userId: string,
  network: string,
): Promise<void> {
  const signedInAt = clock.now();
  await tx
    .insert(knownNetworks)
    .values({ userId, network, signedInAt })
    .onConflictDoUpdate({ target: [knownNetworks.userId, knownNetworks.network], set: { signedInAt } });
}

/** Forgets the failures of all networks. Call it after the user has proved their identity by mail. */
export async function endLockout(tx: Executor, userId: string): Promise<void> {
  await tx.delete(failedAttempts).where(eq(failedAttempts.userId, userId));
  await tx.delete(accountFailures).where(eq(accountFailures.userId, userId));
}
