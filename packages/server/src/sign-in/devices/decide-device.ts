import { and, eq, gt, isNull } from 'drizzle-orm';
import type { Run } from '../../services.ts';
import { deviceAuthorizations } from '../../schema/oauth/device-authorization.ts';
import { startAgainError } from '../flow/flow.ts';
import type { IdentifiedPerson } from '../flow/flow-data.ts';

export const devicePage = (appUrl: string): string => `${appUrl}/device`;

/**
 * SQL condition for a device that the user can still decide about. Each device gets one decision, the first. It does
 * not affect the browser's sessions, and the browser gets no code: only the device with the device code gets tokens.
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
 * Records the approval, and returns the address of the page that confirms it.
 *
 * @throws INVALID_TOKEN if the device's request has expired or has already been decided
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

/** Records the refusal, and returns the address of the page that confirms it. */
export async function denyDevice(ctx: Run, hash: string): Promise<string> {
  await ctx.tx.update(deviceAuthorizations).set({ decision: 'denied' }).where(undecided(ctx, hash));
  return `${devicePage(ctx.services.config.appUrl)}?result=denied`;
}
