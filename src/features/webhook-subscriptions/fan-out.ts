import { and, eq, isNull, sql } from 'drizzle-orm';
import type { Consumer } from '../../events/relay.ts';
import type { Services } from '../../kernel/context.ts';
import { webhookDeliveries } from './delivery.ts';
import { asksFor } from './event-types.ts';
import { webhookSubscriptions } from './subscription.ts';

/**
 * Writes a delivery of an event for each subscription of its project that asks for it, also while that is inactive or
 * disabled: then the delivery waits. What no subscription asks for is not even relayed.
 */
export interface FanOut extends Consumer {
  /** Whether deliveries were written since this was asked last; the transaction may have been taken back. */
  hasWritten(): boolean;
}

export function createFanOut({ ids, clock }: Pick<Services, 'ids' | 'clock'>): FanOut {
  let written = false;
  return {
    hasWritten() {
      const answer = written;
      written = false;
      return answer;
    },

    takes: () => true,

    of: (nodeId, type) => sql`exists (select 1 from ${webhookSubscriptions}
      where ${webhookSubscriptions.tenantId} = ${nodeId} and ${webhookSubscriptions.deletedAt} is null
        and ${asksFor(type)})`,

    async consume(tx, { type, tenantId, occurredAt, body }) {
      const subscriptions = await tx
        .select({ id: webhookSubscriptions.id })
        .from(webhookSubscriptions)
        .where(
          and(
            eq(webhookSubscriptions.tenantId, tenantId),
            isNull(webhookSubscriptions.deletedAt),
            // Not of what was before it. Either time may have been rounded by a millisecond.
            sql`${webhookSubscriptions.createdAt} <= ${occurredAt.toISOString()}::timestamptz + interval '1 ms'`,
            asksFor(type),
          ),
        )
        // Its deletion, which cancels what waits, comes before this or finds what is written here.
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
