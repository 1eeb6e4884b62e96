import { and, eq, isNull } from 'drizzle-orm';
import type { Executor } from '../kernel/scoped-db.ts';
import { deviceAuthorizations } from '../schema/oauth/device-authorization.ts';
import { cliCodes } from '../schema/oauth/cli-code.ts';
import { signInFlows } from '../schema/sign-in/sign-in-flow.ts';
import { projectCodes } from '../schema/oauth/project-code.ts';
import { oneTimeTokens } from '../schema/sign-in/one-time-token.ts';

/** Deletes the user's approvals of devices that no device has used yet: all of them, or those for one app. */
export async function endApprovals(tx: Executor, userId: string, appId?: string): Promise<void> {
  const { userId: approver, appId: app } = deviceAuthorizations;
  await tx
    .delete(deviceAuthorizations)
    .where(and(eq(approver, userId), appId === undefined ? undefined : eq(app, appId)));
}

/**
 * Ends every proof of identity that has not become a session yet: codes of command lines and apps, approvals of
 * devices, flows that are waiting, and links that reset the password. Otherwise an attacker who obtained a proof with
 * the old password could sign in after it was replaced. Used codes are kept, so that a second use is detected.
 *
 * The caller has locked the user's row. Code that turns such a proof into a session first takes the same lock, and then
 * finds no proof.
 */
export async function endProofs(tx: Executor, userId: string): Promise<void> {
  await tx.delete(signInFlows).where(eq(signInFlows.userId, userId));
  await tx.delete(cliCodes).where(and(eq(cliCodes.userId, userId), isNull(cliCodes.sessionId)));
  await tx.delete(projectCodes).where(and(eq(projectCodes.userId, userId), isNull(projectCodes.sessionId)));
  await endApprovals(tx, userId);
  await endResets(tx, userId);
}

/** Ends every reset link of the user. */
export const endResets = (tx: Executor, userId: string): PromiseLike<unknown> =>
  tx
    .delete(oneTimeTokens)
    .where(and(eq(oneTimeTokens.userId, userId), eq(oneTimeTokens.purpose, 'resetPassword')));
