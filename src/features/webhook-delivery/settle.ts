import { and, asc, eq, inArray, isNotNull, sql } from 'drizzle-orm';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ActAsSystem, SystemAct } from '../../events/system-act.ts';
import { sharedPass } from '../../events/shared-pass.ts';
import type { Clock } from '../../kernel/ports.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { projects } from '../projects/project.ts';
import { webhookAttempts, webhookDeliveries } from '../webhook-subscriptions/delivery.ts';
import { webhookSubscriptions } from '../webhook-subscriptions/subscription.ts';
import { healthAfter, type Change } from './health.ts';
import { resumeDeliveries, type Claimed } from './queue.ts';
import { nextStep } from './schedule.ts';
import type { Outcome } from './sender.ts';

/**
 * Writes down what came of attempts: each attempt, its delivery, and the state of its subscription, in one transaction.
 * What ends while one is being written goes into the next: however many are sent side by side, the database sees one
 * transaction at a time from this process.
 */
export interface SettlingOptions {
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

interface Ended {
  readonly attempt: Attempt;
  readonly outcome: Outcome;
}

/** Resolves when it is committed, or was logged and will be made again after its lease. Never rejects. */
export type Settle = (attempt: Attempt, outcome: Outcome) => Promise<void>;

const TOGETHER = 100;
/** Receivers that were sent the same event answer within a moment of each other: worth waiting for. */
const MOMENT_MS = 10;

export function createSettle(options: SettlingOptions): Settle {
  const { actAsSystem, log } = options;
  const waiting: (Ended & { readonly written: () => void })[] = [];
  const failed = (error: unknown) =>
    log(error, 'what came of a webhook could not be written down; it will be sent again');

  const write = (ended: readonly Ended[]): Promise<void> =>
    actAsSystem('deliverWebhook', (act) => writeAll(act, ended, options));

  const writeWaiting = sharedPass(async () => {
    if (waiting.length === 0) return false;
    if (waiting.length < TOGETHER) await sleep(MOMENT_MS);
    const batch = waiting.splice(0, TOGETHER);
    try {
      await write(batch);
    } catch (error) {
      // One that cannot be written must not keep the others from it.
      if (batch.length === 1) failed(error);
      else for (const one of batch) await write([one]).catch(failed);
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

async function writeAll(act: SystemAct, ended: readonly Ended[], options: SettlingOptions): Promise<void> {
  const { tx } = act;
  const now = options.clock.now();
  // Subscriptions before their deliveries, as a deletion locks them, and each in a fixed order.
  const subscriptions = await lockedSubscriptions(tx, ended);
  const deliveries = await lockedDeliveries(tx, ended);
  const known = ended.filter(({ attempt }) => deliveries.has(attempt.deliveryId));
  if (known.length === 0) return;
  await tx.insert(webhookAttempts).values(known.map(attemptRow)).onConflictDoNothing();

  const settled: DeliveryPatch[] = [];
  const changes: { readonly subscription: Subscription; readonly event: Change['event'] }[] = [];
  for (const { attempt, outcome } of known) {
    const delivery = deliveries.get(attempt.deliveryId) as Delivery;
    // What was cancelled or delivered meanwhile stays so, and a failure says nothing once a later attempt is made.
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
    ...new Map(changes.map((one) => [one.subscription.id, one.subscription])).values(),
  ]);
  for (const { subscription, event } of changes) {
    if (event === null) continue;
    if (event === 'webhook.recovered') await resumeDeliveries(tx, subscription, now);
    await tell(act, subscription, event);
  }
}

async function lockedSubscriptions(
  tx: Executor,
  ended: readonly Ended[],
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

async function lockedDeliveries(tx: Executor, ended: readonly Ended[]): Promise<Map<string, Delivery>> {
  const ids = ended.map(({ attempt }) => attempt.deliveryId);
  const rows = await tx
    .select()
    .from(webhookDeliveries)
    .where(inArray(webhookDeliveries.id, ids))
    .orderBy(asc(webhookDeliveries.id))
    .for('no key update');
  return new Map(rows.map((row) => [row.id, row]));
}

const attemptRow = ({ attempt, outcome }: Ended) => {
  const { tenantId, deliveryId, number } = attempt;
  const { attemptedAt, statusCode, latencyMs, error } = outcome;
  return { tenantId, deliveryId, number, attemptedAt, statusCode, latencyMs, error };
};

type DeliveryPatch = ReturnType<typeof patchOf>;

function patchOf(delivery: Delivery, outcome: Outcome, now: Date, options: SettlingOptions) {
  const step = delivery.scheduleStep + 1;
  // A probe is a question: no answer is one too.
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

async function tell(act: SystemAct, subscription: Subscription, event: Change['event']): Promise<void> {
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

/** The same for all of them. */
export async function releaseAll(pool: Executor): Promise<void> {
  await pool
    .update(webhookDeliveries)
    .set({ claimedUntil: null })
    .where(and(isNotNull(webhookDeliveries.claimedUntil), eq(webhookDeliveries.status, 'pending')));
}
