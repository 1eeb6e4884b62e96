import { eq } from 'drizzle-orm';
import { isDeepStrictEqual } from 'node:util';
import { fail } from '../../errors.ts';
import { callerOf, type Principal } from '../../kernel/context.ts';
import type { Changes } from '../../kernel/event.ts';
import type { accounts } from '../identity/account.ts';
import { accountsOf, createAccount } from '../identity/account.ts';
import { recordUpdated, type Run, type UserRow } from '../identity/sign-in.ts';
import { lockUser } from '../identity/verification.ts';
import { users } from '../users/user.ts';

/** What a user changes about himself. */
export type OwnRun = Run & { readonly principal: Principal | null };

/** The caller's own row, locked until commit. @throws UNAUTHENTICATED when he was deleted meanwhile */
export async function lockSelf(ctx: OwnRun): Promise<UserRow> {
  const user = await lockUser(ctx, callerOf(ctx).userId);
  if (!user) throw fail('UNAUTHENTICATED');
  return user;
}

type Patch = {
  readonly [K in 'name' | 'locale' | 'pictureUrl']?: UserRow[K] | undefined;
};

/** Changes what is named and differs; records `user.updated` of that, or nothing. */
export async function changeSelf(ctx: OwnRun, patch: Patch): Promise<UserRow> {
  const { tx, services } = ctx;
  const before = await lockSelf(ctx);
  const changed = Object.entries(patch).filter(
    ([name, value]) => value !== undefined && !isDeepStrictEqual(value, before[name as keyof Patch]),
  );
  if (changed.length === 0) {
    ctx.unchanged();
    return before;
  }
  const [after] = await tx
    .update(users)
    .set({ ...Object.fromEntries(changed), updatedAt: services.clock.now() })
    .where(eq(users.id, before.id))
    .returning();
  const row = after as UserRow;
  const changes: Changes = Object.fromEntries(
    changed.map(([name, value]) => [name, { from: before[name as keyof Patch], to: value }]),
  );
  await recordUpdated(ctx, row, changes);
  return row;
}

type AccountRow = typeof accounts.$inferSelect;

/** The account of the type that he lacks. @throws CONFLICT when he has it */
export async function addAccount(
  ctx: OwnRun,
  type: 'personal' | 'organization' | undefined,
): Promise<{ readonly account: AccountRow; readonly accounts: AccountRow[] }> {
  // One at a time for each user: the row is locked.
  const { id: userId } = await lockSelf(ctx);
  const owned = await accountsOf(ctx.tx, userId);
  const has = (one: 'personal' | 'organization') => owned.some((account) => account.type === one);
  const wanted = type ?? (has('personal') ? 'organization' : 'personal');
  if (has(wanted)) throw fail('CONFLICT', { details: [{ path: 'type', code: 'taken' }] });
  const account = await createAccount(ctx, userId, wanted);
  ctx.touch(`user:${userId}`);
  ctx.record({
    target: { type: 'Account', id: account.id },
    node: { id: account.id, scope: { tenant: 'account', id: account.id } },
  });
  return { account, accounts: [...owned, account] };
}
