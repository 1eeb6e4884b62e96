import { and, asc, eq, isNull, sql, type SQL } from 'drizzle-orm';
import type { ActAsSystem } from '../../events/system-act.ts';
import type { Clock, Ids } from '../../kernel/ports.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { PING } from '../event-types/catalogue.ts';
import { projects } from '../projects/project.ts';
import { webhookDeliveries } from '../webhook-subscriptions/delivery.ts';
import { webhookSubscriptions } from '../webhook-subscriptions/subscription.ts';
import { secretsOf, type Claimed, type SecretKeeping } from './queue.ts';
import { queueTrial } from './trial.ts';

/**
 * Asks receivers that were given up for failing whether they are back, with a ping every six hours (events §5). A ping
 * is a delivery of which this process makes the one attempt; the row of the subscription says when the last was, so of
 * several processes one asks.
 */
export interface ProbeOptions extends SecretKeeping {
  readonly actAsSystem: ActAsSystem;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly leaseMs: number;
  readonly run: (claimed: Claimed) => Promise<void>;
}

const HOURS_BETWEEN = 6;
const SIDE_BY_SIDE = 20;

/** Resolves when all that were due have been asked. Never rejects. */
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
      for (let first = 0; first < due.length; first += SIDE_BY_SIDE) {
        await Promise.all(due.slice(first, first + SIDE_BY_SIDE).map(({ id }) => probe(id)));
      }
    } catch (error) {
      log(error, 'receivers of disabled webhook subscriptions could not be asked');
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
    const [project] = await tx.select().from(projects).where(eq(projects.id, subscription.tenantId));
    if (!project) return undefined;
    await forgetProbes(tx, id, now);
    const { ownerId, ownerKind } = project;
    const deliveryId = await queueTrial(tx, ids, {
      kind: 'probe',
      type: PING,
      subscription,
      scope: { tenant: `${ownerKind}Project`, id: `${ownerId}:${project.id}` },
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

/** What a process left behind that died while it asked: nobody waits for it any more. */
const forgetProbes = (tx: Executor, subscriptionId: string, now: Date) =>
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
