import type { Actor } from '../../kernel/event.ts';
import type { Ids } from '../../kernel/ports.ts';
import type { ScopeRef } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { eventCatalogue, PING } from '../event-types/catalogue.ts';
import { webhookDeliveries } from '../../schema/webhooks/webhook-delivery.ts';

/** An event made up to test a receiver: it has no row in the feed, and its sequence is 0. */
interface TestEvent {
  readonly kind: 'test' | 'probe';
  /** An event type of the catalogue. */
  readonly type: string;
  readonly subscription: { readonly id: string; readonly tenantId: string };
  readonly scope: ScopeRef;
  readonly actor: Omit<Actor, 'name'>;
  readonly requestId: string;
  readonly now: Date;
}

/** Queues the event as a delivery that is due immediately, and returns the delivery's id. */
export async function queueTestEvent(tx: Executor, ids: Ids, testEvent: TestEvent): Promise<string> {
  const { kind, type, subscription, scope, actor, requestId, now } = testEvent;
  const id = ids.next();
  const eventId = `evt_${ids.next()}`;
  const data =
    type === PING
      ? { id: subscription.id, projectId: scope.id.split(':').at(-1) }
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
