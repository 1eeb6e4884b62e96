import { and, eq, gt, inArray, sql } from 'drizzle-orm';
import type { Kek } from '../../crypto/kek.ts';
import { rowsOf } from '../../db/rows.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { webhookDeliveries } from '../webhook-subscriptions/delivery.ts';
import { webhookSecrets } from '../webhook-subscriptions/subscription.ts';
import type { Message } from './sender.ts';

/**
 * Takes deliveries that are due. A claim is one statement: it gives each attempt its number and a lease. No other
 * process makes that attempt. If the lease runs out, the process that took it has died, and another makes the next
 * attempt.
 *
 * Workers are shared between projects, and the share of a project between its subscriptions. The project with the
 * fewest workers comes next; among equals the choice is random. So neither the size nor the age of a backlog gives
 * precedence. A claim takes a few deliveries of one subscription, and none while this process is sending earlier ones
 * of it. Receivers that fail or are slow have workers of their own, and one delivery each while others wait for those
 * workers. The subscriptions that wait are found by skipping along an index, whatever is queued for one of them.
 */
export interface Claimed extends Message {
  readonly deliveryId: string;
  readonly tenantId: string;
  readonly subscriptionId: string;
  /** Of the attempt. */
  readonly number: number;
  /** Whether its receiver failed or was slow the last time. */
  readonly unreliable: boolean;
}

/** A subscription to whose receiver a worker is sending. */
export type Busy = Pick<Claimed, 'subscriptionId' | 'tenantId' | 'unreliable'>;

export interface Room {
  readonly busy: readonly Busy[];
  /** Workers that are free, for receivers that answer in time and for the others. */
  readonly reliable: number;
  readonly unreliable: number;
}

/** How many of one subscription are sent side by side. */
const AT_ONCE = 10;
/** The most workers of one process for one project, so that a project that was quiet finds some that are free. */
const RELIABLE_OF_A_PROJECT = 8;
const UNRELIABLE_OF_A_PROJECT = 4;

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
  readonly unreliable: boolean;
}

export function createClaim(options: QueueOptions): Claim {
  const { pool, leaseMs } = options;
  return async (room, now) => {
    const at = sql`${now.toISOString()}::timestamptz`;
    const until = sql`${new Date(now.getTime() + leaseMs).toISOString()}::timestamptz`;
    const isDue = sql`d.status = 'pending' and d.next_attempt_at <= ${at}
      and (d.claimed_until is null or d.claimed_until <= ${at})`;
    // Deliveries that another process has leased are among the first that are due, so they are not looked for further
    // behind.
    const isWithAnother = sql`exists (select from (select d.claimed_until from ${webhookDeliveries} d
      where d.subscription_id = s.id and d.status = 'pending' order by d.next_attempt_at, d.id limit ${AT_ONCE}) d
      where d.claimed_until > ${at})`;
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
        busy as (
          select * from json_to_recordset(${JSON.stringify(room.busy)}::json)
            as b("subscriptionId" uuid, "tenantId" uuid, unreliable boolean)
        ),
        ready as (
          select s.id, s.url, u.unreliable, row_number() over (partition by s.tenant_id, u.unreliable order by random())
            + (select count(*) from busy b where b."tenantId" = s.tenant_id and b.unreliable = u.unreliable) as turn
          from waiting w
          join webhook_subscriptions s on s.id = w.subscription_id
          cross join lateral (select s.failing_since is not null or s.slow as unreliable) u
          where s.active and s.disabled_reason is null and s.deleted_at is null
            and exists (select from ${webhookDeliveries} d where d.subscription_id = s.id and ${isDue})
            and not exists (select from busy b where b."subscriptionId" = s.id)
            and not (u.unreliable and ${isWithAnother})
        ),
        placed as (
          select *, turn <= case when unreliable then ${UNRELIABLE_OF_A_PROJECT}::int else ${RELIABLE_OF_A_PROJECT}::int end
            and row_number() over (partition by unreliable order by turn, random())
              <= case when unreliable then ${room.unreliable}::int else ${room.reliable}::int end as served
          from ready
        ),
        crowds as (
          select *, not bool_and(served) over (partition by unreliable) as crowded from placed
        ),
        taken as materialized (
          select due.id, c.url, c.unreliable from crowds c
          cross join lateral (
            select d.id from ${webhookDeliveries} d where d.subscription_id = c.id and ${isDue}
            order by d.next_attempt_at, d.id
            limit case when c.unreliable and c.crowded then 1 else ${AT_ONCE}::int end
            for update skip locked
          ) due
          where c.served
        )
        update webhook_deliveries d set attempt_count = d.attempt_count + 1, claimed_until = ${until}
        from taken where d.id = taken.id
        returning d.id, d.tenant_id as "tenantId", d.subscription_id as "subscriptionId", taken.url,
          d.event_id as "eventId", d.body, d.attempt_count as number, taken.unreliable`,
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
