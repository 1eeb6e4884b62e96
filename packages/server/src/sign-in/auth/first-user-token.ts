import { and, eq, gt, lte, sql } from 'drizzle-orm';
import { hashOneTimeToken, newOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import type { Clock } from '../../kernel/ports.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { users } from '../../schema/people/user.ts';
import { firstUserTokens } from '../../schema/operators/first-user-token.ts';

const VALID_MS = 3_600_000;

/** Whether the database has a user, including deleted users. */
async function hasUsers(db: Executor): Promise<boolean> {
  const rows = await db.select({ id: users.id }).from(users).limit(1);
  return rows.length > 0;
}

/** Replaces the token of this process. If the database already has a user, removes all tokens and returns null. */
export async function issueFirstUserToken(
  { clock }: { readonly clock: Clock },
  pool: Executor,
  issuer: string,
): Promise<string | null> {
  if (await hasUsers(pool)) {
    await pool.delete(firstUserTokens);
    return null;
  }
  const now = clock.now();
  await pool.delete(firstUserTokens).where(lte(firstUserTokens.expiresAt, now));
  const token = newOneTimeToken();
  const set = { hash: hashOneTimeToken(token), expiresAt: new Date(now.getTime() + VALID_MS) };
  await pool
    .insert(firstUserTokens)
    .values({ issuer, ...set })
    .onConflictDoUpdate({ target: firstUserTokens.issuer, set });
  return token;
}

/**
 * The state of a token, read in one statement. Between two statements the first user could be created, and the token
 * would look valid although there is a user.
 */
export async function firstUserTokenState(
  db: Executor,
  { clock }: { readonly clock: Clock },
  token: string,
): Promise<{ readonly isValid: boolean; readonly hasUsers: boolean }> {
  const isToken = and(
    eq(firstUserTokens.hash, hashOneTimeToken(token)),
    gt(firstUserTokens.expiresAt, clock.now()),
  );
  const [state] = await rowsOf<{ isValid: boolean; hasUsers: boolean }>(
    db,
    sql`select exists (select from ${firstUserTokens} where ${isToken}) as "isValid",
      exists (select from ${users}) as "hasUsers"`,
  );
  return state ?? { isValid: false, hasUsers: true };
}

/**
 * Prevents all other transactions from adding a user or using a token until this one ends, and waits for transactions
 * that are already doing so. So whatever is read afterwards still holds at the commit. Only the holder of a token gets
 * this far.
 */
export const lockUsers = (tx: Executor): PromiseLike<unknown> =>
  tx.execute(sql`lock table ${users} in share row exclusive mode`);
