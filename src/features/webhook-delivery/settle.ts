import { and, eq, gt } from 'drizzle-orm';
import type { ActAsSystem, SystemAct } from '../../events/system-act.ts';
import type { Clock } from '../../kernel/ports.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { projects } from '../projects/project.ts';
import { webhookAttempts, webhookDeliveries } from '../webhook-subscriptions/delivery.ts';
import { webhookSubscriptions } from '../webhook-subscriptions/subscription.ts';
import { healthAfter, type Change } from './health.ts';
import type { Claimed } from './queue.ts';
import { nextStep } from './schedule.ts';
import type { Outcome } from './sender.ts';

/** What came of an attempt: the attempt, its delivery and the state of its subscription, in one transaction. */
export interface Settling {
  readonly actAsSystem: ActAsSystem;
  readonly pool: Executor;
  readonly clock: Clock;
  readonly waitsSeconds: readonly number[];
  /** 0 ≤ random < 1 */
  readonly random: () => number;
}

type Attempt = Pick<Claimed, 'deliveryId' | 'tenantId' | 'subscriptionId' | 'number'>;

const isDelivery = ({ deliveryId, tenantId }: Attempt) =>
  and(eq(webhookDeliveries.tenantId, tenantId), eq(webhookDeliveries.id, deliveryId));

export async function settle(by: Settling, attempt: Attempt, outcome: Outcome): Promise<void> {
  const { tenantId, deliveryId, number } = attempt;
  await by.actAsSystem('deliverWebhook', async (act) => {
    const { tx } = act;
    const now = by.clock.now();
    // The subscription before its deliveries, as its deletion locks them.
    const [found] = await tx
      .select({ subscription: webhookSubscriptions, delivery: webhookDeliveries })
      .from(webhookSubscriptions)
      .innerJoin(webhookDeliveries, eq(webhookDeliveries.subscriptionId, webhookSubscriptions.id))
      .where(and(isDelivery(attempt), eq(webhookSubscriptions.tenantId, tenantId)))
      .for('no key update');
    if (!found) return;
    const { subscription, delivery } = found;
    const { attemptedAt, statusCode, latencyMs, error } = outcome;
    await tx
      .insert(webhookAttempts)
      .values({ tenantId, deliveryId, number, attemptedAt, statusCode, latencyMs, error })
      .onConflictDoNothing();

    // What was cancelled or delivered meanwhile stays so, and a failure says nothing once a later attempt is made.
    const isLast = delivery.attemptCount === number;
    if (delivery.status !== 'pending' || !(isLast || error === null)) return;
    const scheduleStep = delivery.scheduleStep + 1;
    const waitsSeconds = delivery.kind === 'probe' ? [] : by.waitsSeconds;
    const next = nextStep({ outcome, step: scheduleStep, waitsSeconds, random: by.random() });
    await tx
      .update(webhookDeliveries)
      .set({
        status: next.status,
        scheduleStep,
        nextAttemptAt: next.status === 'pending' ? new Date(now.getTime() + next.waitMs) : null,
        claimedUntil: null,
        lastStatusCode: statusCode,
        lastLatencyMs: latencyMs,
        lastError: error,
        lastResponseBody: outcome.responseBody,
        deliveredAt: next.status === 'delivered' ? now : null,
        updatedAt: now,
      })
      .where(isDelivery(attempt));
    if (subscription.deletedAt) return;
    const change = healthAfter(subscription, outcome, next.status, now);
    await tx
      .update(webhookSubscriptions)
      .set(change.health)
      .where(and(eq(webhookSubscriptions.tenantId, tenantId), eq(webhookSubscriptions.id, subscription.id)));
    if (change.event === 'webhook.recovered') await resume(tx, subscription, now);
    await tell(act, { ...subscription, ...change.health }, change);
  });
}

type Subscription = typeof webhookSubscriptions.$inferSelect;

/** What has waited goes out now, and not when its next attempt would have been. */
const resume = (tx: Executor, { id, tenantId }: Subscription, now: Date) =>
  tx
    .update(webhookDeliveries)
    .set({ nextAttemptAt: now, updatedAt: now })
    .where(
      and(
        eq(webhookDeliveries.tenantId, tenantId),
        eq(webhookDeliveries.subscriptionId, id),
        eq(webhookDeliveries.status, 'pending'),
        gt(webhookDeliveries.nextAttemptAt, now),
      ),
    );

async function tell(act: SystemAct, subscription: Subscription, { event }: Change): Promise<void> {
  if (event === null) return;
  const { id, tenantId: projectId, disabledReason } = subscription;
  const [project] = await act.tx.select().from(projects).where(eq(projects.id, projectId));
  if (!project) return;
  const { ownerId, ownerKind } = project;
  const about = {
    node: { id: projectId, scope: { tenant: `${ownerKind}Project`, id: `${ownerId}:${projectId}` } },
    data: { ...subscription, projectId },
    target: { type: 'WebhookSubscription', id },
    metadata: { disabledReason },
  } as const;
  // Written out, since a test reads from here which events there are.
  if (event === 'webhook.failing') act.record({ ...about, event: 'webhook.failing' });
  if (event === 'webhook.disabled') act.record({ ...about, event: 'webhook.disabled' });
  if (event === 'webhook.recovered') act.record({ ...about, event: 'webhook.recovered' });
}

/** Gives back an attempt of which nothing is known, so that another process makes the next one at once. */
export async function release({ pool }: Pick<Settling, 'pool'>, attempt: Attempt): Promise<void> {
  await pool
    .update(webhookDeliveries)
    .set({ claimedUntil: null })
    .where(
      and(
        isDelivery(attempt),
        eq(webhookDeliveries.attemptCount, attempt.number),
        eq(webhookDeliveries.status, 'pending'),
      ),
    );
}
