import type { OperatorAct } from '../schema/operators/operator.ts';
import { callerOf } from '../kernel/context.ts';
import type { Context, Run } from '../services.ts';
import type { Actor, NodeRef } from '../kernel/event.ts';
import { installationNode } from '../people/operators.ts';

/** The part of a mutation's context that operations of operators on users and organizations use. */
export type ActRun = Run & Pick<Context, 'principal'>;

interface Act {
  readonly act: OperatorAct;
  readonly reason: string;
  readonly target: { readonly type: 'User' | 'Organization'; readonly id: string };
  /** The tenant concerned: the account of the user, or the organization; undefined for a user without an account. */
  readonly node: NodeRef | undefined;
  /** The event to emit in the tenant, if there is one. */
  readonly event?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** The operator as the log and the events of a tenant show them: by their id, without their name. */
export const operatorActor = (ctx: Pick<Context, 'principal'>): Actor => {
  const { userId } = callerOf(ctx);
  return { type: 'user', id: userId, userId, name: 'Installation operator' };
};

/**
 * Records an operation of an operator in the log of the installation and in that of the tenant, each with the reason.
 * The event of the installation notifies the people whom the operation concerns.
 */
export function recordAct(ctx: ActRun, { act, reason, target, node, event, data }: Act): void {
  const { type: targetType, id } = target;
  const metadata = { reason };
  ctx.record({
    node: installationNode,
    event: 'operator.acted',
    data: { id, targetType, act, reason },
    target,
    metadata,
  });
  if (node) ctx.record({ actor: operatorActor(ctx), node, event, data, target, metadata, audited: true });
}
