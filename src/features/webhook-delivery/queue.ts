import { and, eq, gt, inArray, sql } from 'drizzle-orm';
import type { Kek } from '../../crypto/kek.ts';
import { rowsOf } from '../../db/rows.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { webhookDeliveries } from '../webhook-subscriptions/delivery.ts';
import { webhookSecrets } from '../webhook-subscriptions/subscription.ts';
import type { Message } from './sender.ts';

/**
 * Taking deliveries that are due. A claim is one statement: it gives each attempt its number and a lease. Nobody else
 * makes that attempt, and after the lease somebody makes the next one: the process that took it has died.
 *
 * It goes round: of each subscription a few are taken, and none while some of its earlier ones are being sent by this
 * process, so that a receiver that hangs keeps only its own deliveries waiting. Which subscriptions wait at all is
 * found by leaps along an index, whatever is piled up for one of them.
 */
export interface Claimed extends Message {
  readonly deliveryId: string;
  readonly tenantId: string;
  readonly subscriptionId: string;
  /** Of the attempt. */
  readonly number: number;
  /** Whether its receiver failed the last time. */
  readonly failing: boolean;
}

export interface Room {
  /** Subscriptions of which this process is sending something. */
  readonly busy: readonly string[];
  /** For how many others there is room, and for how many of them that have failed the last time. */
  readonly subscriptions: number;
  readonly failing: number;
}

/** How many of one subscription are sent side by side. */
const AT_ONCE = 10;

export interface SecretKeeping {
  readonly pool: Executor;
  readonly kek: Pick<Kek, 'open'>;
  readonly log: (error: unknown, message: string) => void;
}

export interface QueueOptions extends SecretKeeping {
  readonly leaseMs: number;
}

export type Claim = (room: Room, now: Date) => Promise<readonly Claimed[]>;

interface Row {
  readonly id: string;
  readonly tenantId: string;
  readonly subscriptionId: string;
  readonly url: string;
  readonly eventId: string;
  readonly body: string;
  readonly number: number;
  readonly failing: boolean;
}

export function createClaim(options: QueueOptions): Claim {
  const { pool, leaseMs } = options;
  return async (room, now) => {
    const at = sql`${now.toISOString()}::timestamptz`;
    const until = sql`${new Date(now.getTime() + leaseMs).toISOString()}::timestamptz`;
    const isBusy = inArray(sql`s.id`, [...room.busy]);
    const isDue = sql`d.subscription_id = s.id and d.status = 'pending' and d.next_attempt_at <= ${at}
      and (d.claimed_until is null or d.claimed_until <= ${at})`;
    const nextWaiting = (after: ReturnType<typeof sql>) =>
      sql`select d.subscription_id from ${webhookDeliveries} d where d.status = 'pending' ${after}
        order by d.subscription_id limit 1`;
    const rows = await rowsOf<Row>(
      pool,
      sql`with recursive waiting as (
          (${nextWaiting(sql``)})
          union all
          select (${nextWaiting(sql`and d.subscription_id > w.subscription_id`)})
            from waiting w where w.subscription_id is not null
        ),
        ready as (
          select s.id, s.url, s.failing_since is not null as failing,
            row_number() over (partition by s.failing_since is not null order by first.next_attempt_at, s.id) as place
          from waiting w
          join webhook_subscriptions s on s.id = w.subscription_id
          cross join lateral (
            select d.next_attempt_at from ${webhookDeliveries} d where ${isDue}
            order by d.next_attempt_at limit 1
          ) first
          where s.active and s.disabled_reason is null and s.deleted_at is null and not (${isBusy})
        ),
        taken as materialized (
          select due.id, s.url, s.failing from ready s
          cross join lateral (
            select d.id from ${webhookDeliveries} d where ${isDue}
            order by d.next_attempt_at, d.id
            limit ${AT_ONCE}
            for update skip locked
          ) due
          where s.place <= case when s.failing then ${room.failing}::int else ${room.subscriptions}::int end
        )
        update webhook_deliveries d set attempt_count = d.attempt_count + 1, claimed_until = ${until}
        from taken where d.id = taken.id
        returning d.id, d.tenant_id as "tenantId", d.subscription_id as "subscriptionId", taken.url,
          d.event_id as "eventId", d.body, d.attempt_count as number, taken.failing`,
    );
    const subscriptions = [...new Set(rows.map(({ subscriptionId }) => subscriptionId))];
    const secrets = await secretsOf(options, subscriptions, now);
    return rows.map(({ id, eventId, ...row }) => ({
      ...row,
      deliveryId: id,
      id: eventId,
      secrets: secrets.get(row.subscriptionId) ?? [],
    }));
  };
}

/** The secrets that sign now, by subscription, the newest first. One that cannot be opened is logged and left out. */
export async function secretsOf(
  { pool, kek, log }: SecretKeeping,
  subscriptionIds: readonly string[],
  now: Date,
): Promise<ReadonlyMap<string, Buffer[]>> {
  const found = new Map<string, Buffer[]>();
  if (subscriptionIds.length === 0) return found;
  const kept = await pool
    .select()
    .from(webhookSecrets)
    .where(inArray(webhookSecrets.subscriptionId, [...subscriptionIds]));
  // The current one has no end.
  kept.sort((a, b) => Number(a.expiresAt !== null) - Number(b.expiresAt !== null));
  for (const { id, subscriptionId, sealed, expiresAt } of kept) {
    if (expiresAt && expiresAt <= now) continue;
    try {
      const secret = kek.open(sealed, `webhook_secrets:${id}`);
      found.set(subscriptionId, [...(found.get(subscriptionId) ?? []), secret]);
    } catch (error) {
      log(error, `the secret of the webhook subscription ${subscriptionId} cannot be opened`);
    }
  }
  return found;
}

/** What waits for one subscription, when its state changes as a whole. */
interface Waited {
  readonly tenantId: string;
  readonly id: string;
}

const pendingOf = ({ tenantId, id }: Waited) =>
  and(
    eq(webhookDeliveries.tenantId, tenantId),
    eq(webhookDeliveries.subscriptionId, id),
    eq(webhookDeliveries.status, 'pending'),
  );

/** It goes out now, and not when its next attempt would have been. */
export async function resumeDeliveries(tx: Executor, subscription: Waited, now: Date): Promise<void> {
  await tx
    .update(webhookDeliveries)
    .set({ nextAttemptAt: now, updatedAt: now })
    .where(and(pendingOf(subscription), gt(webhookDeliveries.nextAttemptAt, now)));
}

export async function cancelDeliveries(tx: Executor, subscription: Waited, now: Date): Promise<void> {
  await tx
    .update(webhookDeliveries)
    .set({ status: 'cancelled', nextAttemptAt: null, updatedAt: now })
    .where(pendingOf(subscription));
}
