import { and, eq } from 'drizzle-orm';
import { mfaFactors } from '../../schema/sign-in/mfa-factor.ts';
import { userData } from '../../sessions/sign-in.ts';
import type { Run } from '../../services.ts';
import type { UserRow } from '../../schema/people/user.ts';
import { nodeOfUser, userAsActor } from '../../people/user-node.ts';
import { sealContextOf } from './codes.ts';
import { replaceRecoveryCodes } from './recovery-codes.ts';

/**
 * Adds an authenticator app whose first code was correct, and returns the recovery codes. The caller holds the lock on
 * the user, who has no factor yet.
 */
export async function addFirstFactor(
  ctx: Run,
  user: UserRow,
  { secret, step }: { readonly secret: Buffer; readonly step: number },
): Promise<string[]> {
  const { tx, services } = ctx;
  const { kek, ids, clock } = services;
  const [id, now] = [ids.next(), clock.now()];
  // Apps whose set-up was never completed would count toward the maximum.
  await tx.delete(mfaFactors).where(and(eq(mfaFactors.userId, user.id), eq(mfaFactors.isEnabled, false)));
  await tx.insert(mfaFactors).values({
    id,
    userId: user.id,
    type: 'totp',
    name: 'Authenticator',
    sealedSecret: kek.seal(secret, sealContextOf(id)),
    isEnabled: true,
    lastStep: step,
    lastUsedAt: now,
    createdAt: now,
  });
  ctx.invalidate(`user:${user.id}`);
  ctx.record({
    actor: userAsActor(user),
    event: 'user.mfa_changed',
    data: userData(user),
    target: { type: 'User', id: user.id },
    node: await nodeOfUser(tx, user.id),
    metadata: { act: 'factorEnabled', factorId: id },
  });
  return replaceRecoveryCodes(ctx, user.id);
}
