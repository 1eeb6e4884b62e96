import { and, eq, sql } from 'drizzle-orm';
import { fail } from '../../errors.ts';
import type { Services } from '../../services.ts';
import type { RowOf } from '../../kernel/entity.ts';
import type { Executor, ScopedDb } from '../../kernel/scoped-db.ts';
import { WebhookDelivery, webhookDeliveries } from '../../schema/webhooks/webhook-delivery.ts';
import { WebhookSubscription, webhookSubscriptions } from '../../schema/webhooks/webhook-subscription.ts';

interface ScopedRun {
  readonly tx: Executor;
  readonly db: ScopedDb;
  readonly services: Pick<Services, 'clock'>;
}

/** Returns the subscription, locked until the commit. @throws NOT_FOUND */
export async function lockSubscription(
  { tx, db }: Pick<ScopedRun, 'tx' | 'db'>,
  id: string,
): Promise<RowOf<typeof WebhookSubscription>> {
  await tx
    .select({ id: webhookSubscriptions.id })
    .from(webhookSubscriptions)
    .where(and(eq(webhookSubscriptions.tenantId, db.scope.nodeId), eq(webhookSubscriptions.id, id)))
    .for('no key update');
  return db.get(WebhookSubscription, id);
}

/** Stores until when the former secret is valid, and returns the changed row. */
export async function markRotated({ tx, db }: Pick<ScopedRun, 'tx' | 'db'>, id: string, until: Date | null) {
  await tx
    .update(webhookSubscriptions)
    .set({ previousSecretExpiresAt: until, updatedAt: sql`now()` })
    .where(and(eq(webhookSubscriptions.tenantId, db.scope.nodeId), eq(webhookSubscriptions.id, id)));
  return db.get(WebhookSubscription, id);
}

/**
 * Makes a delivery due now and restarts its schedule. The numbers of its attempts continue.
 * @throws NOT_FOUND, INVALID_STATE if it was cancelled or its subscription was deleted
 */
export async function replay(
  { tx, db, services }: ScopedRun,
  id: string,
): Promise<RowOf<typeof WebhookDelivery>> {
  const now = services.clock.now();
  const subscription = sql`(select 1 from ${webhookSubscriptions} s where s.id = ${webhookDeliveries.subscriptionId}
    and s.deleted_at is null for share)`;
  const updated = await tx
    .update(webhookDeliveries)
    .set({ status: 'pending', nextAttemptAt: now, scheduleStep: 0, deliveredAt: null, updatedAt: now })
    .where(
      and(
        eq(webhookDeliveries.tenantId, db.scope.nodeId),
        eq(webhookDeliveries.id, id),
        sql`${webhookDeliveries.status} <> 'cancelled'`,
        sql`exists ${subscription}`,
      ),
    )
    .returning({ id: webhookDeliveries.id });
  const row = await db.get(WebhookDelivery, id);
  if (updated.length === 0) {
    const state = row.status === 'cancelled' ? 'cancelled' : 'deleted';
    throw fail('INVALID_STATE', { params: { state } });
  }
  return row;
}
