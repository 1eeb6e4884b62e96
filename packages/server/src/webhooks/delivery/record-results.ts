import { and, asc, eq, inArray, isNotNull, sql } from 'drizzle-orm';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ActAsSystem, SystemAct } from '../../events/system-act.ts';
import { createSharedPass } from '../../events/outbox/shared-pass.ts';
import type { Clock } from '../../kernel/ports.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { projectNodeOf } from '../../members/slices.ts';
import { webhookAttempts, webhookDeliveries } from '../../schema/webhooks/webhook-delivery.ts';
import { webhookSubscriptions } from '../../schema/webhooks/webhook-subscription.ts';
import { healthAfter, type Change } from './health.ts';
import { resumeDeliveries, type Claimed } from './queue.ts';
import { nextStep } from './schedule.ts';
import type { Outcome } from './sender.ts';

interface RecordResultsOptions {
  readonly actAsSystem: ActAsSystem;
  readonly clock: Clock;
  readonly waitsSeconds: readonly number[];
  /** 0 ≤ random < 1 */
  readonly random: () => number;
  readonly log: (error: unknown, message: string) => void;
}

type Attempt = Pick<Claimed, 'deliveryId' | 'tenantId' | 'subscriptionId' | 'number'>;
type Subscription = typeof webhookSubscriptions.$inferSelect;
type Delivery = typeof webhookDeliveries.$inferSelect;

interface EndedAttempt {
  readonly attempt: Attempt;
  readonly outcome: Outcome;
}

/**
 * Resolves when the result is committed, or when the failure was logged and the attempt will be repeated after its
 * lease. Never rejects.
 */
type RecordResult = (attempt: Attempt, outcome: Outcome) => Promise<void>;

const BATCH_SIZE = 100;
/**
 * How long to wait for more results: receivers of the same event respond within a moment of each other, so batches
 * become larger.
 */
const BATCH_WAIT_MS = 10;

/**
 * Returns the function that records attempts. It writes each attempt, its delivery and the health of its subscription
 * in one transaction. Results that arrive during a transaction go into the next one, so a process never runs more than
 * one such transaction at a time, however many deliveries it sends concurrently.
 */
export function createResultRecorder(options: RecordResultsOptions): RecordResult {
  const { actAsSystem, log } = options;
  const waiting: (EndedAttempt & { readonly written: () => void })[] = [];
  const failed = (error: unknown) =>
    log(error, 'the result of a webhook could not be recorded; the webhook will be sent again');

  const write = (ended: readonly EndedAttempt[]): Promise<void> =>
    actAsSystem('deliverWebhook', (act) => writeAll(act, ended, options));

  const writeWaiting = createSharedPass(async () => {
    if (waiting.length === 0) return false;
    if (waiting.length < BATCH_SIZE) await sleep(BATCH_WAIT_MS);
    const batch = waiting.splice(0, BATCH_SIZE);
    try {
      await write(batch);
    } catch (error) {
      // A result that cannot be recorded must not block the others.
      if (batch.length === 1) failed(error);
      else for (const result of batch) await write([result]).catch(failed);
    }
    for (const { written } of batch) written();
    return true;
  }, failed);

  return (attempt, outcome) =>
    new Promise((written) => {
      waiting.push({ attempt, outcome, written });
      void writeWaiting();
    });
}

async function writeAll(
  act: SystemAct,
  ended: readonly EndedAttempt[],
  options: RecordResultsOptions,
): Promise<void> {
  const { tx } = act;
  const now = options.clock.now();
  // Lock order: subscriptions before their deliveries, as when a subscription is deleted, and each by id.
  const subscriptions = await lockedSubscriptions(tx, ended);
  const deliveries = await lockedDeliveries(tx, ended);
  const recordable = ended.filter(({ attempt }) => deliveries.has(attempt.deliveryId));
  if (recordable.length === 0) return;
  await tx.insert(webhookAttempts).values(recordable.map(attemptRow)).onConflictDoNothing();

  const settled: DeliveryPatch[] = [];
  const changes: { readonly subscription: Subscription; readonly event: Change['event'] }[] = [];
  for (const { attempt, outcome } of recordable) {
    const delivery = deliveries.get(attempt.deliveryId) as Delivery;
    // Only a pending delivery changes its status, and a failure is ignored once a later attempt has begun.
    const isLast = delivery.attemptCount === attempt.number;
    if (delivery.status !== 'pending' || !(isLast || outcome.error === null)) continue;
    const patch = patchOf(delivery, outcome, now, options);
    settled.push(patch);
    const subscription = subscriptions.get(attempt.subscriptionId);
    if (!subscription || subscription.deletedAt) continue;
    const { health, event } = healthAfter(subscription, outcome, patch.status, now);
    const changed = { ...subscription, ...health };
    subscriptions.set(subscription.id, changed);
    changes.push({ subscription: changed, event });
  }
  await updateDeliveries(tx, settled, now);
  await updateSubscriptions(tx, [
    ...new Map(changes.map((change) => [change.subscription.id, change.subscription])).values(),
  ]);
  for (const { subscription, event } of changes) {
    if (event === null) continue;
    const { id, tenantId } = subscription;
    if (event === 'webhook.recovered') await resumeDeliveries(tx, { tenantId, ids: [id] }, now);
    await recordEvent(act, subscription, event);
  }
}

async function lockedSubscriptions(
  tx: Executor,
  ended: readonly EndedAttempt[],
): Promise<Map<string, Subscription>> {
  const ids = [...new Set(ended.map(({ attempt }) => attempt.subscriptionId))];
  const rows = await tx
    .select()
    .from(webhookSubscriptions)
    .where(inArray(webhookSubscriptions.id, ids))
    .orderBy(asc(webhookSubscriptions.id))
    .for('no key update');
  return new Map(rows.map((row) => [row.id, row]));
}

async function lockedDeliveries(
  tx: Executor,
  ended: readonly EndedAttempt[],
): Promise<Map<string, Delivery>> {
  const ids = ended.map(({ attempt }) => attempt.deliveryId);
  const rows = await tx
    .select()
    .from(webhookDeliveries)
    .where(inArray(webhookDeliveries.id, ids))
    .orderBy(asc(webhookDeliveries.id))
    .for('no key update');
  return new Map(rows.map((row) => [row.id, row]));
}

const attemptRow = ({ attempt, outcome }: EndedAttempt) => {
  const { tenantId, deliveryId, number } = attempt;
  const { attemptedAt, statusCode, latencyMs, error } = outcome;
  return { tenantId, deliveryId, number, attemptedAt, statusCode, latencyMs, error };
};

type DeliveryPatch = ReturnType<typeof patchOf>;

function patchOf(delivery: Delivery, outcome: Outcome, now: Date, options: RecordResultsOptions) {
  const step = delivery.scheduleStep + 1;
  // A probe has only one attempt, so its failure is final.
  const waitsSeconds = delivery.kind === 'probe' ? [] : options.waitsSeconds;
  const next = nextStep({ outcome, step, waitsSeconds, random: options.random() });
  return {
    id: delivery.id,
    status: next.status,
    schedule_step: step,
    next_attempt_at: next.status === 'pending' ? new Date(now.getTime() + next.waitMs) : null,
    last_status_code: outcome.statusCode,
    last_latency_ms: outcome.latencyMs,
    last_error: outcome.error,
    last_response_body: outcome.responseBody,
    delivered_at: next.status === 'delivered' ? now : null,
  };
}

async function updateDeliveries(tx: Executor, patches: readonly DeliveryPatch[], now: Date): Promise<void> {
  if (patches.length === 0) return;
  await tx.execute(
    sql`update webhook_deliveries d
      set status = p.status, schedule_step = p.schedule_step, next_attempt_at = p.next_attempt_at,
        claimed_until = null, last_status_code = p.last_status_code, last_latency_ms = p.last_latency_ms,
        last_error = p.last_error, last_response_body = p.last_response_body, delivered_at = p.delivered_at,
        updated_at = ${now.toISOString()}::timestamptz
      from json_to_recordset(${JSON.stringify(patches)}::json) as p(id uuid, status text, schedule_step integer,
        next_attempt_at timestamptz, last_status_code integer, last_latency_ms integer, last_error text,
        last_response_body text, delivered_at timestamptz)
      where d.id = p.id`,
  );
}

async function updateSubscriptions(tx: Executor, changed: readonly Subscription[]): Promise<void> {
  if (changed.length === 0) return;
  await tx.execute(
    sql`update webhook_subscriptions s
      set disabled_reason = p."disabledReason", disabled_at = p."disabledAt", failing_since = p."failingSince",
        slow = p.slow, warned_at = p."warnedAt", exhausted_in_a_row = p."exhaustedInARow", last_delivered_at = p."lastDeliveredAt"
      from json_to_recordset(${JSON.stringify(changed)}::json) as p(id uuid, "disabledReason" text,
        "disabledAt" timestamptz, "failingSince" timestamptz, slow boolean, "warnedAt" timestamptz,
        "exhaustedInARow" integer, "lastDeliveredAt" timestamptz)
      where s.id = p.id`,
  );
}

async function recordEvent(
  act: SystemAct,
  subscription: Subscription,
  event: Change['event'],
): Promise<void> {
  const { id, tenantId, disabledReason, policyKey } = subscription;
  const place = await projectNodeOf(act.tx, tenantId);
  if (!place) return;
  const about = {
    node: place.node,
    data: {
      ...subscription,
      projectId: place.project.id,
      managed: policyKey === null ? null : 'policy',
    },
    target: { type: 'WebhookSubscription', id },
    metadata: { disabledReason },
  } as const;
  // Written out, because a test reads the recorded event types from this source.
  if (event === 'webhook.failing') act.record({ ...about, event: 'webhook.failing' });
  if (event === 'webhook.disabled') act.record({ ...about, event: 'webhook.disabled' });
  if (event === 'webhook.recovered') act.record({ ...about, event: 'webhook.recovered' });
}

/** Releases the lease of an attempt whose result is unknown, so that another process repeats it immediately. */
export async function release(pool: Executor, { deliveryId, tenantId, number }: Attempt): Promise<void> {
  await pool
    .update(webhookDeliveries)
    .set({ claimedUntil: null })
    .where(
      and(
        eq(webhookDeliveries.tenantId, tenantId),
        eq(webhookDeliveries.id, deliveryId),
        eq(webhookDeliveries.attemptCount, number),
        eq(webhookDeliveries.status, 'pending'),
      ),
    );
}

export async function releaseAll(pool: Executor): Promise<void> {
  await pool
    .update(webhookDeliveries)
    .set({ claimedUntil: null })
    .where(and(isNotNull(webhookDeliveries.claimedUntil), eq(webhookDeliveries.status, 'pending')));
}
