import { and, count, eq, isNull, sql } from 'drizzle-orm';
import { nodes } from '../../db/nodes.ts';
import { fail } from '../../errors.ts';
import type { Services } from '../../kernel/context.ts';
import type { RowOf } from '../../kernel/entity.ts';
import type { Executor, ScopedDb } from '../../kernel/scoped-db.ts';
import { WebhookDelivery, webhookDeliveries } from './delivery.ts';
import { WebhookSubscription, webhookSubscriptions } from './subscription.ts';

interface InScope {
  readonly tx: Executor;
  readonly db: ScopedDb;
  readonly services: Pick<Services, 'clock' | 'config'>;
}

/**
 * To be asked after the insert: of several that are made at once, those beyond the limit find out here, since the
 * node's lock, which the mutation needs anyway, lets one of them count at a time. @throws CONFLICT
 */
export async function assertWithinLimit({ tx, db, services }: InScope): Promise<void> {
  const { nodeId } = db.scope;
  const { maxPerProject } = services.config.webhooks;
  await tx.select({ id: nodes.id }).from(nodes).where(eq(nodes.id, nodeId)).for('no key update');
  const [found] = await tx
    .select({ count: count() })
    .from(webhookSubscriptions)
    .where(and(eq(webhookSubscriptions.tenantId, nodeId), isNull(webhookSubscriptions.deletedAt)));
  if ((found?.count ?? 0) <= maxPerProject) return;
  throw fail('CONFLICT', {
    details: [{ path: 'scope', code: 'limit' }],
    fix: `A project has at most ${maxPerProject} webhook subscriptions: delete one that is no longer needed.`,
  });
}

/** The row as it is, and nobody changes it before this transaction ends. @throws NOT_FOUND */
export async function lockSubscription(
  { tx, db }: Pick<InScope, 'tx' | 'db'>,
  id: string,
): Promise<RowOf<typeof WebhookSubscription>> {
  await tx
    .select({ id: webhookSubscriptions.id })
    .from(webhookSubscriptions)
    .where(and(eq(webhookSubscriptions.tenantId, db.scope.nodeId), eq(webhookSubscriptions.id, id)))
    .for('no key update');
  return db.get(WebhookSubscription, id);
}

/** Until when the secret before the current one signs too. */
export async function markRotated({ tx, db }: Pick<InScope, 'tx' | 'db'>, id: string, until: Date | null) {
  await tx
    .update(webhookSubscriptions)
    .set({ previousSecretExpiresAt: until, updatedAt: sql`now()` })
    .where(and(eq(webhookSubscriptions.tenantId, db.scope.nodeId), eq(webhookSubscriptions.id, id)));
  return db.get(WebhookSubscription, id);
}

/**
 * Makes a delivery due at once, with the whole schedule before it; its attempts are counted on.
 * @throws NOT_FOUND, INVALID_STATE for one that was cancelled, or whose subscription is gone
 */
export async function replay(
  { tx, db, services }: InScope,
  id: string,
): Promise<RowOf<typeof WebhookDelivery>> {
  const now = services.clock.now();
  const subscription = sql`(select 1 from ${webhookSubscriptions} s where s.id = ${webhookDeliveries.subscriptionId}
    and s.deleted_at is null for share)`;
  const moved = await tx
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
  if (moved.length === 0) {
    const state = row.status === 'cancelled' ? 'cancelled' : 'deleted';
    throw fail('INVALID_STATE', { params: { state } });
  }
  return row;
}
