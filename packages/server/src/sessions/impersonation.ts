import type { Actor } from '../kernel/event.ts';
import type { Run } from '../services.ts';
import { nodeOfUser } from '../people/user-node.ts';
import { installationNode } from '../people/operators.ts';

/** Seconds for which an operator may act for a user at most. */
export const IMPERSONATION_SECONDS = 900;

interface Subject {
  /** The session. */
  readonly id: string;
  readonly userId: string;
}

/** Records the end of an impersonation in the log of the installation; the log of the user shows the ended session. */
export function recordImpersonationEnd(
  ctx: Pick<Run, 'record'>,
  { id, userId }: Subject,
  actor?: Actor,
): void {
  ctx.record({
    actor,
    node: installationNode,
    event: 'impersonation.ended',
    data: { id, userId, reason: null },
    target: { type: 'User', id: userId },
    audited: true,
  });
}

/** Records the start in both logs; the entry of the user has an actor without the name of the operator. */
export async function recordImpersonationStart(
  ctx: Run,
  { id, userId }: Subject,
  { reason, actor }: { readonly reason: string; readonly actor: Actor },
): Promise<void> {
  const started = {
    event: 'impersonation.started',
    data: { id, userId, reason },
    target: { type: 'User', id: userId },
    metadata: { reason, impersonationId: id },
  } as const;
  ctx.record({ ...started, node: installationNode });
  const node = await nodeOfUser(ctx.tx, userId);
  if (node) ctx.record({ ...started, node, actor, audited: true });
}
