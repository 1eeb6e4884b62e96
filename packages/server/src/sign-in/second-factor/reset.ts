/*
 * The reset of the second factor of a user who has lost it, started by an operator (docs/operating/operators.md). It
 * takes effect after a day, and a correct code stops it, because a user who still has the factor has not lost it.
 */

import { eq, lte } from 'drizzle-orm';
import { INSTALLATION_OPERATOR } from '../../access/installation-roles.ts';
import { factorResets, mfaAttempts, mfaFactors, mfaRecoveryCodes } from '../../schema/sign-in/mfa-factor.ts';
import { passkeys } from '../../schema/sign-in/passkey.ts';
import type { ActAsSystem } from '../../events/system-act.ts';
import type { Services, Run } from '../../services.ts';
import type { Actor, Recording } from '../../kernel/event.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { userData } from '../../sessions/sign-in.ts';
import type { UserRow } from '../../schema/people/user.ts';
import { nodeOfUser, systemActor } from '../../people/user-node.ts';
import { lockUser } from '../../people/lock-user.ts';
import { installationNode, isOperator } from '../../people/operators.ts';
import { endSessions } from '../../sessions/live-sessions.ts';

/** How long a reset waits before it takes effect. */
export const RESET_DELAY_MS = 24 * 3_600_000;

type ResetRun = Pick<Run, 'tx' | 'services' | 'record' | 'invalidate'>;

/**
 * Removes authenticator apps and recovery codes, and passkeys if the operator chose that, and ends all sessions. The
 * caller has locked the user's row.
 */
export async function removeFactors(
  ctx: ResetRun,
  user: UserRow,
  actor: Actor,
  withPasskeys: boolean,
): Promise<void> {
  const { tx } = ctx;
  for (const table of [mfaFactors, mfaRecoveryCodes, mfaAttempts, factorResets])
    await tx.delete(table).where(eq(table.userId, user.id));
  if (withPasskeys) await tx.delete(passkeys).where(eq(passkeys.userId, user.id));
  ctx.invalidate(`user:${user.id}`);
  ctx.record({
    actor,
    event: 'user.mfa_changed',
    data: userData(user),
    target: { type: 'User', id: user.id },
    node: await nodeOfUser(tx, user.id),
    metadata: { act: 'factorsReset' },
    audited: true,
  });
  await endSessions(ctx, user.id, undefined, actor);
}

/** Stops a reset that has not taken effect yet; called after a correct code. */
export const stopReset = (tx: Executor, userId: string): PromiseLike<unknown> =>
  tx.delete(factorResets).where(eq(factorResets.userId, userId));

/** Carries out the resets whose waiting time is over. Never rejects; the next run does whatever is left. */
export const carryOutFactorResets = (
  services: Services,
  pool: Executor,
  actAsSystem: ActAsSystem,
  log: (error: unknown, message: string) => void,
): Promise<void> =>
  carryOut(services, pool, actAsSystem).catch((error: unknown) =>
    log(error, 'a second factor could not be reset'),
  );

/**
 * Whether the reset may still be carried out. Only an Installation Operator may remove the factor of an operator, and
 * the user may have become an operator since the reset was requested.
 */
async function mayBeReset(
  tx: Executor,
  { config }: Services,
  { userId, requestedBy }: typeof factorResets.$inferSelect,
): Promise<boolean> {
  const { operators } = config;
  if (!(await isOperator(tx, operators, userId))) return true;
  return isOperator(tx, operators, requestedBy, INSTALLATION_OPERATOR);
}

async function carryOut(services: Services, pool: Executor, actAsSystem: ActAsSystem): Promise<void> {
  const isDue = lte(factorResets.effectiveAt, services.clock.now());
  for (const { userId } of await pool.select().from(factorResets).where(isDue)) {
    await actAsSystem('resetSecondFactor', async (act) => {
      const user = await lockUser(act, userId);
      // The reset may have been stopped in the meantime, or carried out by another process.
      const [reset] = await act.tx.delete(factorResets).where(eq(factorResets.userId, userId)).returning();
      if (!reset || !user) return;
      const { reason, requestedBy } = reset;
      if (!(await mayBeReset(act.tx, services, reset))) {
        const metadata = { reason, requestedBy, cancelled: 'operator' };
        const target = { type: 'User', id: userId };
        act.record({ node: installationNode, target, metadata, audited: true });
        return;
      }
      act.record({
        node: installationNode,
        event: 'operator.acted',
        data: { id: userId, targetType: 'User', act: 'factorReset', reason },
        target: { type: 'User', id: userId },
        metadata: { reason, requestedBy },
      });
      // Every recording in `removeFactors` names its node, as a job requires, so the cast is safe.
      const record = (recording: Recording) => act.record(recording as Parameters<typeof act.record>[0]);
      const ctx = { ...act, services, record };
      await removeFactors(ctx, user, systemActor, reset.passkeys);
    });
  }
}
