import { endUnboundSessions } from '../../domain/memberships/app-sessions.ts';
import type { Context } from '../../kernel/context.ts';

/** Applies a change of the verified domains to the members: to the cached scope, and to sessions of apps that are no longer enough. */
export async function applyVerifiedDomains(
  ctx: Parameters<typeof endUnboundSessions>[0] & Pick<Context, 'invalidate'>,
  organizationId: string,
): Promise<void> {
  ctx.invalidate(`node:${organizationId}`);
  await endUnboundSessions(ctx, organizationId);
}
