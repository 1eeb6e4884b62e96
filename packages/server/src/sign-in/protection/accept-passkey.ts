import { countFailure, isLockedOut } from '../../people/lockout.ts';
import { canSignIn } from '../../sessions/password-sign-in.ts';
import type { Run } from '../../services.ts';
import type { UserRow } from '../../schema/people/user.ts';
import { nodeOfUser } from '../../people/user-node.ts';
import { lockUser } from '../../people/lock-user.ts';
import { useAssertion, type AssertionCheck, type PasskeyProof } from '../webauthn/assertion.ts';
import { stopReset } from '../second-factor/reset.ts';
import { delayToStep } from './constant-time-answer.ts';

/** A completed check of a passkey. `checkedAt` is the time at which it ended (`performance.now()`). */
export interface EndedAssertion {
  readonly check: AssertionCheck;
  readonly checkedAt: number;
}

interface AcceptedPasskey {
  readonly user: UserRow;
  readonly proof: PasskeyProof;
}

/**
 * Returns the user whom the passkey signs in, locked until commit. Returns null if the passkey is not accepted, or the
 * user may not sign in from this network. The refusal is recorded, and a wrong signature is counted unless the user is
 * locked out. For an unknown passkey nothing is recorded, and the response takes as long. The challenge is used up in
 * any case, so commit.
 */
export async function acceptPasskey(
  ctx: Run,
  { check, checkedAt }: EndedAssertion,
): Promise<AcceptedPasskey | null> {
  const { tx, services, call } = ctx;
  const { userId } = check;
  const user = userId === null ? undefined : await lockUser(ctx, userId);
  const isLocked = userId !== null && (await isLockedOut(tx, services, userId, call.network));
  const isAllowed = user !== undefined && canSignIn(user) && !isLocked;
  const proof = await useAssertion(ctx, isAllowed ? user.id : null, check);
  if (user && proof) {
    // A user who still has the factor has not lost it.
    if (proof.acr === 'aal2') await stopReset(tx, user.id);
    return { user, proof };
  }
  delayToStep(ctx, checkedAt);
  if (userId === null) {
    ctx.unchanged();
    return null;
  }
  if (user && check.isAttempt && !isLocked) await countFailure(tx, services, user.id, call.network);
  const target = { type: 'User', id: userId };
  const node = await nodeOfUser(tx, userId);
  ctx.record({ outcome: 'failed', code: 'UNAUTHENTICATED', target, node });
  return null;
}
