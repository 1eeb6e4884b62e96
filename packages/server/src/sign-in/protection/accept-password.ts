import { eq } from 'drizzle-orm';
import { passwords } from '../../schema/sign-in/authentication-method.ts';
import { countFailure, isLockedOut } from '../../people/lockout.ts';
import type { PasswordCheck } from '../../sessions/password-sign-in.ts';
import type { Run } from '../../services.ts';
import type { UserRow } from '../../schema/people/user.ts';
import { nodeOfUser } from '../../people/user-node.ts';
import { lockUser } from '../../people/lock-user.ts';
import { delayToStep } from './constant-time-answer.ts';

/** A completed check of a password. `hashedAt` is the time at which it ended (`performance.now()`). */
export interface EndedCheck extends PasswordCheck {
  readonly hashedAt: number;
}

/**
 * Returns the user whose password was correct, locked until commit. Returns null if it was wrong, or the user may not
 * sign in from this network. Such an attempt is recorded, and counted unless the user is locked out. For an address
 * without a user nothing is recorded, and the response takes as long as for a wrong password.
 */
export async function acceptPassword(ctx: Run, checked: EndedCheck): Promise<UserRow | null> {
  const { tx, services, call } = ctx;
  const { user: candidate, matched, rehashed, hashedAt } = checked;
  if (!candidate) {
    ctx.unchanged();
    delayToStep(ctx, hashedAt);
    return null;
  }
  const node = await nodeOfUser(tx, candidate.id);
  const user = await lockUser(ctx, candidate.id);
  const [stored] = user ? await tx.select().from(passwords).where(eq(passwords.userId, user.id)) : [];
  const lockedOut = await isLockedOut(tx, services, candidate.id, call.network);
  // Since the check, another request may have changed the password, disabled the user or counted a failure.
  const isValid = user?.status === 'active' && !lockedOut && matched !== null && stored?.hash === matched;
  if (!user || !isValid) {
    if (user && !lockedOut) await countFailure(tx, services, user.id, call.network);
    delayToStep(ctx, hashedAt);
    const target = { type: 'User', id: candidate.id };
    ctx.record({ outcome: 'failed', code: 'UNAUTHENTICATED', target, node });
    return null;
  }
  if (rehashed !== null) {
    const updatedAt = services.clock.now();
    await tx.update(passwords).set({ hash: rehashed, updatedAt }).where(eq(passwords.userId, user.id));
  }
  return user;
}
