import { eq } from 'drizzle-orm';
import { isDeepStrictEqual } from 'node:util';
import { fail } from '../errors.ts';
import { callerOf, type Principal } from '../kernel/context.ts';
import type { Run } from '../services.ts';
import type { Changes } from '../kernel/event.ts';
import type { accounts } from '../schema/people/account.ts';
import { accountsOf, createAccount } from '../people/account.ts';
import { recordUpdated } from '../sessions/sign-in.ts';
import { type UserRow, users } from '../schema/people/user.ts';
import { lockUser } from '../people/lock-user.ts';

/** The context of an operation in which users change their own data. */
export type OwnRun = Run & { readonly principal: Principal | null };

/** Returns the caller's row, locked until the commit. @throws UNAUTHENTICATED if another request deleted the user */
export async function lockSelf(ctx: OwnRun): Promise<UserRow> {
  const user = await lockUser(ctx, callerOf(ctx).userId);
  if (!user) throw fail('UNAUTHENTICATED');
  return user;
}

type Patch = {
  readonly [K in 'name' | 'locale' | 'pictureUrl']?: UserRow[K] | undefined;
};

/** Changes the fields of the patch that differ and records `user.updated`. Records nothing if no field differs. */
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

/** Creates an account, by default of the type that the caller does not have. @throws CONFLICT if they have the type */
export async function addAccount(
  ctx: OwnRun,
  type: 'personal' | 'organization' | undefined,
): Promise<{ readonly account: AccountRow; readonly accounts: AccountRow[] }> {
  // The lock on the user's row prevents two concurrent calls from creating the same account.
  const { id: userId } = await lockSelf(ctx);
  const owned = await accountsOf(ctx.tx, userId);
  const has = (accountType: 'personal' | 'organization') =>
    owned.some((account) => account.type === accountType);
  const missing = type ?? (has('personal') ? 'organization' : 'personal');
  if (has(missing)) throw fail('CONFLICT', { details: [{ path: 'type', code: 'taken' }] });
  const account = await createAccount(ctx, userId, missing);
  ctx.invalidate(`user:${userId}`);
  ctx.record({
    target: { type: 'Account', id: account.id },
    node: { id: account.id, scope: { tenant: 'account', id: account.id } },
  });
  return { account, accounts: [...owned, account] };
}
