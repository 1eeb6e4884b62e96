import type { Actor } from '../kernel/event.ts';
import type { Run } from '../services.ts';
import { nodeOfUser } from '../people/user-node.ts';
import { installationNode } from '../people/operators.ts';

/** Maximum duration of an impersonation, in seconds. It cannot be extended. */
export const IMPERSONATION_SECONDS = 900;

interface Subject {
  /** Id of the session. */
  readonly id: string;
  readonly userId: string;
}

/** Records the end of an impersonation in the installation's log; the user's log shows the ended session. */
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

/** Records the start in both logs. The entry in the user's log has an actor without the operator's name. */
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
