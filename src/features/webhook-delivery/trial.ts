import type { Actor } from '../../kernel/event.ts';
import type { Ids } from '../../kernel/ports.ts';
import type { ScopeRef } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { eventCatalogue, PING } from '../event-types/catalogue.ts';
import { webhookDeliveries } from '../webhook-subscriptions/delivery.ts';

/** What is sent without having happened: no row of the feed, and no place in its sequence, which is 0. */
export interface Trial {
  readonly kind: 'test' | 'probe';
  /** A name of the catalogue. */
  readonly type: string;
  readonly subscription: { readonly id: string; readonly tenantId: string };
  readonly scope: ScopeRef;
  readonly actor: Omit<Actor, 'name'>;
  readonly requestId: string;
  readonly now: Date;
}

/** Queues it as a delivery that is due at once, and answers the delivery's id. */
export async function queueTrial(tx: Executor, ids: Ids, trial: Trial): Promise<string> {
  const { kind, type, subscription, scope, actor, requestId, now } = trial;
  const id = ids.next();
  const eventId = `evt_${ids.next()}`;
  const data =
    type === PING
      ? { id: subscription.id, projectId: subscription.tenantId }
      : { ...eventCatalogue.get(type)?.example, test: true };
  const body = JSON.stringify({
    id: eventId,
    type,
    version: 1,
    timestamp: now.toISOString(),
    sequence: 0,
    scope,
    actor: { type: actor.type, id: actor.id, userId: actor.userId },
    requestId,
    data,
  });
  await tx.insert(webhookDeliveries).values({
    id,
    tenantId: subscription.tenantId,
    subscriptionId: subscription.id,
    eventId,
    eventType: type,
    kind,
    body,
    nextAttemptAt: now,
    createdAt: now,
    updatedAt: now,
  });
  return id;
}
