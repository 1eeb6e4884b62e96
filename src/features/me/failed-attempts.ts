import { and, count, eq, gt, gte, lte, sql } from 'drizzle-orm';
import {
  index,
  integer,
  pgTable,
  primaryKey,
  text as textColumn,
  uuid as uuidColumn,
} from 'drizzle-orm/pg-core';
import { time } from '../../db/columns.ts';
import type { Services } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { users } from '../users/user.ts';

/**
 * The lock-out of identity §3, one for all doors at which a secret of an account can be guessed. Its first rule: after
 * too many wrong secrets for one account from one network nothing more is evaluated from there until the window ends.
 * From elsewhere the user signs in as ever: locking the account itself would let anybody lock anybody out. The second
 * rule is for a guesser with many networks: after more than a hundred wrong secrets in a day, only those networks are
 * listened to from which the user has signed in of late.
 *
 * A door asks twice. `isLockedOut` in `prepare` saves the hash from being looked at. Under the lock of the user's row
 * it asks again, also when the secret was right, and counts a wrong one there: guesses at once are answered in one
 * order, of which only the first few tell anything.
 */
const MAX_FAILURES_A_DAY = 100;
const DAY_MS = 86_400_000;
const KNOWN_MS = 30 * DAY_MS;

const userColumn = () =>
  uuidColumn('user_id')
    .notNull()
    .references(() => users.id);

/** Wrong secrets of an account from a network, in a window that begins with the first of them. */
export const failedAttempts = pgTable(
  'failed_attempts',
  {
    userId: userColumn(),
    network: textColumn('network').notNull(),
    failures: integer('failures').notNull(),
    windowEndsAt: time('window_ends_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.network] })],
);

/**
 * Each wrong secret of the last day, so that its 24 hours may begin at any time. There are never many: beyond a hundred
 * only known networks add to them, and each of those no faster than the first rule allows.
 */
export const accountFailures = pgTable(
  'account_failures',
  { id: uuidColumn('id').primaryKey(), userId: userColumn(), failedAt: time('failed_at').notNull() },
  (table) => [index('account_failures_user').on(table.userId, table.failedAt)],
);

/** Where an account was signed in from, second factor included, and when last. */
export const knownNetworks = pgTable(
  'known_networks',
  {
    userId: userColumn(),
    network: textColumn('network').notNull(),
    signedInAt: time('signed_in_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.network] })],
);

type Ports = Pick<Services, 'clock' | 'config'>;

/**
 * A window that ends later was dated by a clock that was set back since, and would shut its network out for as long. Twice
 * the length, for clocks of processes that differ.
 */
const farthestEnd = ({ auth }: Services['config'], now: Date): Date =>
  new Date(now.getTime() + 2 * auth.lockoutWindowMinutes * 60_000);

/** Whether no secret of this user is to be evaluated for this network now. */
export async function isLockedOut(
  db: Executor,
  { clock, config }: Ports,
  userId: string,
  network: string,
): Promise<boolean> {
  const now = clock.now();
  const tooManyHere = db
    .select({ network: failedAttempts.network })
    .from(failedAttempts)
    .where(
      and(
        eq(failedAttempts.userId, userId),
        eq(failedAttempts.network, network),
        gt(failedAttempts.windowEndsAt, now),
        lte(failedAttempts.windowEndsAt, farthestEnd(config, now)),
        gte(failedAttempts.failures, config.auth.lockoutMaxFailures),
      ),
    );
  const today = db
    .select({ failures: count() })
    .from(accountFailures)
    .where(
      and(eq(accountFailures.userId, userId), gt(accountFailures.failedAt, new Date(now.getTime() - DAY_MS))),
    );
  const known = db
    .select({ network: knownNetworks.network })
    .from(knownNetworks)
    .where(
      and(
        eq(knownNetworks.userId, userId),
        eq(knownNetworks.network, network),
        gt(knownNetworks.signedInAt, new Date(now.getTime() - KNOWN_MS)),
      ),
    );
  const [found] = await db
    .select({ id: users.id })
    .from(users)
    .where(
      and(
        eq(users.id, userId),
        sql`(exists ${tooManyHere} or ((${today}) > ${MAX_FAILURES_A_DAY} and not exists ${known}))`,
      ),
    );
  return found !== undefined;
}

/** One more wrong secret. The window of a network begins with the first and is not drawn out by those that follow. */
export async function countFailure(
  tx: Executor,
  { clock, config, ids }: Ports & Pick<Services, 'ids'>,
  userId: string,
  network: string,
): Promise<void> {
  const now = clock.now();
  const windowEndsAt = new Date(now.getTime() + config.auth.lockoutWindowMinutes * 60_000);
  const farthest = farthestEnd(config, now).toISOString();
  const isOver = sql`(${failedAttempts.windowEndsAt} <= ${now.toISOString()}::timestamptz
    or ${failedAttempts.windowEndsAt} > ${farthest}::timestamptz)`;
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

/** A complete sign-in: where a second factor is asked for, not before it was given. */
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

/** Forgets the failures of all networks: whoever reset the password by mail has proved who he is. */
export async function endLockOut(tx: Executor, userId: string): Promise<void> {
  await tx.delete(failedAttempts).where(eq(failedAttempts.userId, userId));
  await tx.delete(accountFailures).where(eq(accountFailures.userId, userId));
}
