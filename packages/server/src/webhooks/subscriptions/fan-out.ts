import { and, eq, isNull, sql } from 'drizzle-orm';
import type { Consumer } from '../../events/outbox/relay.ts';
import type { Services } from '../../services.ts';
import { subscribesTo } from './event-filter.ts';
import { webhookDeliveries } from '../../schema/webhooks/webhook-delivery.ts';
import { webhookSubscriptions } from '../../schema/webhooks/webhook-subscription.ts';

interface FanOut extends Consumer {
  /** Whether deliveries were written since the last call. May be true even if their transaction was rolled back. */
  hasWritten(): boolean;
}

/**
 * SQL condition: the subscription may send. Those of a slice may not while its grant is suspended or lacks the feature
 * `webhooks`.
 */
const isSending = sql`not exists (select 1 from project_grants g where g.id = ${webhookSubscriptions.tenantId}
  and (g.status <> 'active' or 'webhooks' <> all (g.features)))`;

/**
 * Creates the consumer that writes one delivery of an event per matching subscription of its project. Deliveries of
 * inactive or disabled subscriptions wait. The relay skips events that match no subscription.
 */
export function createFanOut({ ids, clock }: Pick<Services, 'ids' | 'clock'>): FanOut {
  let written = false;
  return {
    hasWritten() {
      const wasWritten = written;
      written = false;
      return wasWritten;
    },

    takes: () => true,

    ofNodes: (nodeId, type) => sql`exists (select 1 from ${webhookSubscriptions}
      where ${webhookSubscriptions.tenantId} = ${nodeId} and ${webhookSubscriptions.deletedAt} is null
        and ${subscribesTo(type)} and ${isSending})`,

    async consume(tx, { type, tenantId, occurredAt, body }) {
      const subscriptions = await tx
        .select({ id: webhookSubscriptions.id })
        .from(webhookSubscriptions)
        .where(
          and(
            eq(webhookSubscriptions.tenantId, tenantId),
            isNull(webhookSubscriptions.deletedAt),
            // A subscription gets no earlier events. Rounding can shift each time by a millisecond.
            sql`${webhookSubscriptions.createdAt} <= ${occurredAt.toISOString()}::timestamptz + interval '1 ms'`,
            subscribesTo(type),
            isSending,
          ),
        )
        // A concurrent deletion of the subscription cancels its waiting deliveries. Because of this lock, it runs
        // before this read or after the write below.
        .for('share');
      if (subscriptions.length === 0) return;
      const now = clock.now();
      const delivery = {
        tenantId,
        eventId: body.id,
        eventType: type,
        kind: 'event',
        body: JSON.stringify(body),
        nextAttemptAt: now,
        createdAt: now,
        updatedAt: now,
      } as const;
      await tx
        .insert(webhookDeliveries)
        .values(subscriptions.map(({ id }) => ({ ...delivery, id: ids.next(), subscriptionId: id })))
        .onConflictDoNothing();
      written = true;
    },
  };
}
