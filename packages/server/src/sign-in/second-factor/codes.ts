/*
 * Verification of a second factor, for every operation that requires one. Everything here runs under the lock on the
 * user's row, so that attempts are counted, and time steps consumed, one at a time.
 */

import { and, eq, isNull, lt, or } from 'drizzle-orm';
import { matchingStep } from '../../crypto/tokens/totp.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import type { Run } from '../../services.ts';
import * as lockOut from '../../people/lockout.ts';
import { isEnrolled } from '../../people/enrolment.ts';
import { mfaFactors } from '../../schema/sign-in/mfa-factor.ts';
import { hasPasskey } from '../webauthn/has-passkey.ts';
import { useAssertion, type AssertionCheck } from '../webauthn/assertion.ts';
import { countFailure, isLockedOut } from './attempts.ts';
import { stopReset } from './reset.ts';
import { consumeRecoveryCode } from './recovery-codes.ts';

export type FactorRow = typeof mfaFactors.$inferSelect;

export const sealContextOf = (factorId: string): string => `mfa_factors:${factorId}`;

export const factorsOf = (tx: Executor, userId: string): PromiseLike<FactorRow[]> =>
  tx
    .select()
    .from(mfaFactors)
    .where(eq(mfaFactors.userId, userId))
    .orderBy(mfaFactors.createdAt, mfaFactors.id);

/** The second factor as the user sent it: a code of their authenticator app, a passkey, or a recovery code. */
export interface SecondFactorInput {
  readonly code?: string | undefined;
  readonly recoveryCode?: string | undefined;
  /** The checked passkey, with the methods (`amr`) of the sign-in that it completes. */
  readonly passkey?: { readonly check: AssertionCheck; readonly after: readonly string[] } | undefined;
}

/** Verifies and consumes a second factor of the user. */
export async function verifySecondFactor(
  ctx: Run,
  userId: string,
  { code, recoveryCode, passkey }: SecondFactorInput,
): Promise<boolean> {
  const { tx } = ctx;
  const isCorrect = passkey
    ? await completeWithPasskey(ctx, userId, passkey)
    : await verifyWithLimit(ctx, userId, async () => {
        if (code === undefined)
          return (await hasAnyFactor(tx, userId)) && consumeRecoveryCode(ctx, userId, recoveryCode ?? '');
        const enabled = (await factorsOf(tx, userId)).filter(({ isEnabled }) => isEnabled);
        return (await consumeCode(ctx, enabled, code)) !== undefined;
      });
  if (isCorrect) await stopReset(ctx.tx, userId);
  return isCorrect;
}

/** Whether the user has a factor that recovery codes can replace: an enabled authenticator app, or a passkey. */
export const hasAnyFactor = async (tx: Executor, userId: string): Promise<boolean> =>
  (await isEnrolled(tx, userId)) || hasPasskey(tx, userId);

/**
 * Accepts a passkey as the second factor. If the passkey did not verify its user, it cannot complete a sign-in that
 * began with a passkey: it may be the same one, and its thief would then have both factors.
 */
async function completeWithPasskey(
  ctx: Run,
  userId: string,
  { check, after }: NonNullable<SecondFactorInput['passkey']>,
): Promise<boolean> {
  const { tx, services, call } = ctx;
  const isLocked =
    (await isLockedOut(ctx, userId)) || (await lockOut.isLockedOut(tx, services, userId, call.network));
  const proof = await useAssertion(ctx, isLocked ? null : userId, check);
  if (proof) return proof.acr === 'aal2' || !after.includes('pop');
  if (check.isAttempt && !isLocked) await countFailures(ctx, userId);
  return false;
}

async function countFailures(ctx: Run, userId: string): Promise<void> {
  await countFailure(ctx, userId);
  await lockOut.countFailure(ctx.tx, ctx.services, userId, ctx.call.network);
}

/**
 * Runs the check and counts a failure. After five wrong codes, or too many wrong secrets of any kind, nothing is
 * checked or counted any more.
 */
export async function verifyWithLimit(
  ctx: Run,
  userId: string,
  verify: () => Promise<boolean>,
): Promise<boolean> {
  const { tx, services, call } = ctx;
  if (await isLockedOut(ctx, userId)) return false;
  if (await lockOut.isLockedOut(tx, services, userId, call.network)) return false;
  if (await verify()) return true;
  await countFailures(ctx, userId);
  return false;
}

/** Finds the factor that generated the code and consumes its time step; undefined if no factor matches. */
export async function consumeCode(
  { tx, services }: Run,
  factors: readonly FactorRow[],
  typed: string,
): Promise<FactorRow | undefined> {
  const { kek, clock } = services;
  const [code, now] = [typed.replaceAll(' ', ''), clock.now()];
  for (const { id, sealedSecret, lastStep } of factors) {
    const step = matchingStep(kek.open(sealedSecret, sealContextOf(id)), code, now, lastStep);
    if (step === null) continue;
    const [used] = await tx
      .update(mfaFactors)
      .set({ lastStep: step, lastUsedAt: now })
      .where(and(eq(mfaFactors.id, id), or(isNull(mfaFactors.lastStep), lt(mfaFactors.lastStep, step))))
      .returning();
    if (used) return used;
  }
  return undefined;
}
