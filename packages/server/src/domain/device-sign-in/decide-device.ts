import { and, eq, gt, isNull } from 'drizzle-orm';
import type { Executor } from '../../kernel/scoped-db.ts';
import { startAgainError } from '../sign-in-flow/flow.ts';
import type { IdentifiedPerson } from '../sign-in-flow/flow-data.ts';
import type { Run } from '../../kernel/context.ts';
import { deviceAuthorizations } from '../../schema/oauth/device-authorization.ts';
import { devicePage } from './begin-device.ts';

/**
 * The decision of the user about a device. Each device gets one: the first. It ends nothing that the browser has, and the
 * browser gets no code: only the device with the device code gets tokens.
 */
const undecided = ({ services }: Pick<Run, 'services'>, hash: string) =>
  and(
    eq(deviceAuthorizations.hash, hash),
    isNull(deviceAuthorizations.decision),
    gt(deviceAuthorizations.expiresAt, services.clock.now()),
  );

interface Approval {
  readonly userId: string;
  readonly user: Pick<IdentifiedPerson, 'amr' | 'authenticatedAt'>;
  /** The organization whose provider vouched for the user. */
  readonly boundTo: string | null;
  readonly acr: 'aal1' | 'aal2';
  readonly scopes: readonly string[] | null;
  readonly organizationId: string | null;
}

/**
 * Records the approval, and returns the address of the page that says so.
 * @throws INVALID_TOKEN when its request has expired, or someone else has decided
 */
export async function approveDevice(ctx: Run, hash: string, approval: Approval): Promise<string> {
  const { userId, user, boundTo, acr, scopes, organizationId } = approval;
  const approved = await ctx.tx
    .update(deviceAuthorizations)
    .set({
      decision: 'approved',
      userId,
      acr,
      amr: [...user.amr],
      authenticatedAt: new Date(user.authenticatedAt),
      organizationId,
      boundTo,
      consentedScopes: scopes && [...scopes],
    })
    .where(undecided(ctx, hash))
    .returning({ hash: deviceAuthorizations.hash });
  if (approved.length === 0) throw startAgainError();
  return `${devicePage(ctx.services.config.appUrl)}?result=approved`;
}

/** Records the refusal, and returns the address of the page that says so. */
export async function denyDevice(ctx: Run, hash: string): Promise<string> {
  await ctx.tx.update(deviceAuthorizations).set({ decision: 'denied' }).where(undecided(ctx, hash));
  return `${devicePage(ctx.services.config.appUrl)}?result=denied`;
}

/** Ends approvals of the user that no device has used yet: all, or those for one app. */
export async function endApprovals(tx: Executor, userId: string, appId?: string): Promise<void> {
  const { userId: approver, appId: app } = deviceAuthorizations;
  await tx
    .delete(deviceAuthorizations)
    .where(and(eq(approver, userId), appId === undefined ? undefined : eq(app, appId)));
}
