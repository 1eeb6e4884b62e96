import { and, asc, eq, isNull, sql, type SQL } from 'drizzle-orm';
import type { ActAsSystem } from '../../events/system-act.ts';
import type { Clock, Ids } from '../../kernel/ports.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { PING } from '../event-types/catalogue.ts';
import { projectNodeOf } from '../../members/slices.ts';
import { webhookDeliveries } from '../../schema/webhooks/webhook-delivery.ts';
import { webhookSubscriptions } from '../../schema/webhooks/webhook-subscription.ts';
import { secretsOf, type Claimed, type SecretOptions } from './queue.ts';
import { queueTestEvent } from './test-event.ts';

interface ProbeOptions extends SecretOptions {
  readonly actAsSystem: ActAsSystem;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly leaseMs: number;
  readonly run: (claimed: Claimed) => Promise<void>;
}

const HOURS_BETWEEN = 6;
const CONCURRENT_PROBES = 20;

/**
 * Creates the probe. Every six hours it pings receivers whose subscriptions were disabled because they failed (events
 * §5). A ping is a delivery with a single attempt, made by this process. The subscription's row stores the time of the
 * last ping, so only one of several processes sends it. The probe resolves when all due receivers were pinged. It never
 * rejects.
 */
export function createProbe(options: ProbeOptions): () => Promise<void> {
  const { pool, clock, log, run } = options;

  const probe = async (id: string): Promise<void> => {
    const claimed = await claimProbe(id, options);
    if (claimed) await run(claimed);
  };

  return async () => {
    try {
      const due = await pool
        .select({ id: webhookSubscriptions.id })
        .from(webhookSubscriptions)
        .where(isDue(clock.now()))
        .orderBy(asc(webhookSubscriptions.disabledAt));
      for (let first = 0; first < due.length; first += CONCURRENT_PROBES) {
        await Promise.all(due.slice(first, first + CONCURRENT_PROBES).map(({ id }) => probe(id)));
      }
    } catch (error) {
      log(error, 'receivers of disabled webhook subscriptions could not be pinged');
    }
  };
}

const isDue = (now: Date): SQL =>
  and(
    eq(webhookSubscriptions.disabledReason, 'failing'),
    webhookSubscriptions.active,
    isNull(webhookSubscriptions.deletedAt),
    sql`greatest(${webhookSubscriptions.disabledAt}, ${webhookSubscriptions.lastProbeAt})
      <= ${now.toISOString()}::timestamptz - ${HOURS_BETWEEN} * interval '1 hour'`,
  ) as SQL;

async function claimProbe(id: string, options: ProbeOptions): Promise<Claimed | undefined> {
  const { actAsSystem, clock, ids, leaseMs } = options;
  const now = clock.now();
  const delivery = await actAsSystem('probeWebhook', async ({ tx }) => {
    const [subscription] = await tx
      .update(webhookSubscriptions)
      .set({ lastProbeAt: now })
      .where(and(eq(webhookSubscriptions.id, id), isDue(now)))
      .returning();
    if (!subscription) return undefined;
    const place = await projectNodeOf(tx, subscription.tenantId);
    if (!place) return undefined;
    await endProbes(tx, id, now);
    const deliveryId = await queueTestEvent(tx, ids, {
      kind: 'probe',
      type: PING,
      subscription,
      scope: place.node.scope,
      actor: { type: 'system', id: null, userId: null },
      requestId: `job-${ids.random()}`,
      now,
    });
    const [claimed] = await tx
      .update(webhookDeliveries)
      .set({ attemptCount: 1, claimedUntil: new Date(now.getTime() + leaseMs) })
      .where(eq(webhookDeliveries.id, deliveryId))
      .returning();
    return claimed && { ...claimed, url: subscription.url };
  });
  if (!delivery) return undefined;
  const { id: deliveryId, tenantId, eventId, body, url, attemptCount: number } = delivery;
  const secrets = (await secretsOf(options, [id], now)).get(id) ?? [];
  const attempt = { deliveryId, tenantId, subscriptionId: id, url, id: eventId, body, number, secrets };
  return { ...attempt, unreliable: true };
}

/** Ends the pings of a process that stopped before it recorded their results. */
const endProbes = (tx: Executor, subscriptionId: string, now: Date) =>
  tx
    .update(webhookDeliveries)
    .set({ status: 'exhausted', nextAttemptAt: null, claimedUntil: null, updatedAt: now })
    .where(
      and(
        eq(webhookDeliveries.subscriptionId, subscriptionId),
        eq(webhookDeliveries.status, 'pending'),
        eq(webhookDeliveries.kind, 'probe'),
      ),
    );
