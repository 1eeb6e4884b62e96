import { and, eq, isNull, lt, or } from 'drizzle-orm';
import { matchingStep } from '../../crypto/totp.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import type { Run } from '../identity/sign-in.ts';
import * as lockOut from '../me/failed-attempts.ts';
import { mfaFactors } from '../mfa/mfa-factor.ts';
import { countFailure, isLockedOut } from './attempts.ts';
import { useRecoveryCode } from './recovery-codes.ts';

/**
 * Giving a second factor, the same for every door that asks for one. Everything here runs under the lock of the user's
 * row, so that attempts are counted and steps used one after the other.
 */
export type FactorRow = typeof mfaFactors.$inferSelect;

export const sealedFor = (factorId: string): string => `mfa_factors:${factorId}`;

export const factorsOf = (tx: Executor, userId: string): PromiseLike<FactorRow[]> =>
  tx
    .select()
    .from(mfaFactors)
    .where(eq(mfaFactors.userId, userId))
    .orderBy(mfaFactors.createdAt, mfaFactors.id);

/** What somebody gives: what his app shows, or in its place a recovery code. */
export interface Given {
  readonly code?: string | undefined;
  readonly recoveryCode?: string | undefined;
}

/** Whether this is the user's second factor now; it is used up. */
export async function givesFactor(ctx: Run, userId: string, { code, recoveryCode }: Given): Promise<boolean> {
  const enabled = (await factorsOf(ctx.tx, userId)).filter(({ isEnabled }) => isEnabled);
  return accepted(ctx, userId, async () =>
    code === undefined
      ? enabled.length > 0 && useRecoveryCode(ctx, userId, recoveryCode ?? '')
      : (await useCode(ctx, enabled, code)) !== undefined,
  );
}

/**
 * Whether the code counts. After five wrong ones, or where too many secrets of any kind were wrong, nothing is looked
 * at, and nothing more is counted.
 */
export async function accepted(ctx: Run, userId: string, fits: () => Promise<boolean>): Promise<boolean> {
  const { tx, services, call } = ctx;
  if (await isLockedOut(ctx, userId)) return false;
  if (await lockOut.isLockedOut(tx, services, userId, call.network)) return false;
  if (await fits()) return true;
  await countFailure(ctx, userId);
  await lockOut.countFailure(tx, services, userId, call.network);
  return false;
}

/** The factor whose code this is, and whose step it uses up; undefined when it is none's. */
export async function useCode(
  { tx, services }: Run,
  factors: readonly FactorRow[],
  typed: string,
): Promise<FactorRow | undefined> {
  const { kek, clock } = services;
  const [code, now] = [typed.replaceAll(' ', ''), clock.now()];
  for (const { id, sealedSecret, lastStep } of factors) {
    const step = matchingStep(kek.open(sealedSecret, sealedFor(id)), code, now, lastStep);
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
