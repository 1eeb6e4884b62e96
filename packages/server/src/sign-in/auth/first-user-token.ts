import { and, eq, gt, lte, sql } from 'drizzle-orm';
import { hashOneTimeToken, newOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import type { Clock } from '../../kernel/ports.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { users } from '../../schema/people/user.ts';
import { firstUserTokens } from '../../schema/operators/first-user-token.ts';

const VALID_MS = 3_600_000;

/** Whether the database has a user, deleted ones included. */
async function hasUsers(db: Executor): Promise<boolean> {
  const rows = await db.select({ id: users.id }).from(users).limit(1);
  return rows.length > 0;
}

/**
 * Replaces the token of this process. Returns null, and removes all tokens, when the database has a user already.
 */
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
 * What a token may do now. Read in one statement: between two, the first user may be created, and the token would look
 * valid beside a user.
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
 * Lets no other transaction add a user, or use a token, until the end of this one, and waits for those that are about to.
 * What is read afterwards therefore still holds at the commit. Only the holder of a token gets as far as this.
 */
export const lockUsers = (tx: Executor): PromiseLike<unknown> =>
  tx.execute(sql`lock table ${users} in share row exclusive mode`);
