import { and, eq, gt, inArray, sql } from 'drizzle-orm';
import type { Kek } from '../../crypto/keys/kek.ts';
import { isAnyOf, rowsOf } from '../../db/statements/rows.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { webhookDeliveries } from '../../schema/webhooks/webhook-delivery.ts';
import { webhookSecrets } from '../../schema/webhooks/webhook-subscription.ts';
import type { Message } from './sender.ts';

/**
 * A claimed delivery. A claim is one statement that numbers each attempt and gives it a lease, during which no other
 * process attempts the delivery. A lease expires only if its process died; another process then makes the next attempt.
 */
export interface Claimed extends Message {
  readonly deliveryId: string;
  readonly tenantId: string;
  readonly subscriptionId: string;
  /** Number of the attempt. */
  readonly number: number;
  /** Whether the receiver failed or was slow the last time. */
  readonly unreliable: boolean;
}

/** A subscription to whose receiver a worker is sending now. */
export type Busy = Pick<Claimed, 'subscriptionId' | 'tenantId' | 'unreliable'>;

export interface Capacity {
  readonly busy: readonly Busy[];
  /** Free workers for reliable receivers and for unreliable ones. */
  readonly reliable: number;
  readonly unreliable: number;
}

/** Maximum number of deliveries of one subscription that a process sends concurrently. */
const CLAIM_SIZE = 10;
/** Limits of workers per project and process, so that some stay free for projects that are idle now. */
const RELIABLE_OF_A_PROJECT = 8;
const UNRELIABLE_OF_A_PROJECT = 4;

export interface SecretOptions {
  readonly pool: Executor;
  readonly kek: Pick<Kek, 'open'>;
  readonly log: (error: unknown, message: string) => void;
}

interface QueueOptions extends SecretOptions {
  readonly leaseMs: number;
}

export type Claim = (capacity: Capacity, now: Date) => Promise<readonly Claimed[]>;

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

/** SQL condition: subscription `s` belongs to a project or slice of a suspended organization; its deliveries wait. */
const isPaused = sql.raw(`exists (select from nodes n left join nodes o on o.id = n.parent_id
  left join project_grants g on g.id = n.id
  join organizations x on x.id in (n.parent_id, o.parent_id, g.organization_id) and x.suspended_at is not null
  where n.id = s.tenant_id)`);

/**
 * Creates the function that claims due deliveries. Workers are shared fairly between projects, and a project's
 * workers between its subscriptions. The project with the fewest workers is next, and ties are broken at random, so
 * neither the size nor the age of a backlog gives precedence. A claim takes up to ten deliveries of a subscription, and
 * none while this process is sending earlier ones of it. Failing or slow receivers have separate workers, and get one
 * delivery each while others wait for those workers. Waiting subscriptions are found by skipping along an index, so the
 * cost does not depend on how many deliveries each has queued.
 */
export function createClaim(options: QueueOptions): Claim {
  const { pool, leaseMs } = options;
  return async (capacity, now) => {
    const at = sql`${now.toISOString()}::timestamptz`;
    const until = sql`${new Date(now.getTime() + leaseMs).toISOString()}::timestamptz`;
    const isDue = sql`d.status = 'pending' and d.next_attempt_at <= ${at}
      and (d.claimed_until is null or d.claimed_until <= ${at})`;
    // Deliveries leased by another process are among the first due ones, so only those are checked.
    const isWithAnother = sql`exists (select from (select d.claimed_until from ${webhookDeliveries} d
      where d.subscription_id = s.id and d.status = 'pending' order by d.next_attempt_at, d.id limit ${CLAIM_SIZE}) d
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
          select * from json_to_recordset(${JSON.stringify(capacity.busy)}::json)
            as b("subscriptionId" uuid, "tenantId" uuid, unreliable boolean)
        ),
        ready as (
          select s.id, s.url, u.unreliable, row_number() over (partition by s.tenant_id, u.unreliable order by random())
            + (select count(*) from busy b where b."tenantId" = s.tenant_id and b.unreliable = u.unreliable) as turn
          from waiting w
          join webhook_subscriptions s on s.id = w.subscription_id
          cross join lateral (select s.failing_since is not null or s.slow as unreliable) u
          where s.active and s.disabled_reason is null and s.deleted_at is null and not ${isPaused}
            and exists (select from ${webhookDeliveries} d where d.subscription_id = s.id and ${isDue})
            and not exists (select from busy b where b."subscriptionId" = s.id)
            and not (u.unreliable and ${isWithAnother})
        ),
        placed as (
          select *, turn <= case when unreliable then ${UNRELIABLE_OF_A_PROJECT}::int else ${RELIABLE_OF_A_PROJECT}::int end
            and row_number() over (partition by unreliable order by turn, random())
              <= case when unreliable then ${capacity.unreliable}::int else ${capacity.reliable}::int end as served
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
            limit case when c.unreliable and c.crowded then 1 else ${CLAIM_SIZE}::int end
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

/**
 * The valid signing secrets by subscription, the newest first. A secret that cannot be decrypted is logged and left
 * out.
 */
export async function secretsOf(
  { pool, kek, log }: SecretOptions,
  subscriptionIds: readonly string[],
  now: Date,
): Promise<ReadonlyMap<string, Buffer[]>> {
  const secrets = new Map<string, Buffer[]>();
  if (subscriptionIds.length === 0) return secrets;
  const rows = await pool
    .select()
    .from(webhookSecrets)
    .where(inArray(webhookSecrets.subscriptionId, [...subscriptionIds]));
  // The current secret has no expiry.
  rows.sort((a, b) => Number(a.expiresAt !== null) - Number(b.expiresAt !== null));
  for (const { id, subscriptionId, sealed, expiresAt } of rows) {
    if (expiresAt && expiresAt <= now) continue;
    try {
      const secret = kek.open(sealed, `webhook_secrets:${id}`);
      secrets.set(subscriptionId, [...(secrets.get(subscriptionId) ?? []), secret]);
    } catch (error) {
      log(error, `the secret of the webhook subscription ${subscriptionId} cannot be opened`);
    }
  }
  return secrets;
}

/** Subscriptions of one tenant whose pending deliveries all change. */
interface SubscriptionsRef {
  readonly tenantId: string;
  readonly ids: readonly string[];
}

const pendingOf = ({ tenantId, ids }: SubscriptionsRef) =>
  and(
    eq(webhookDeliveries.tenantId, tenantId),
    isAnyOf(webhookDeliveries.subscriptionId, ids),
    eq(webhookDeliveries.status, 'pending'),
  );

/** Makes pending deliveries due now instead of at their next attempt. */
export async function resumeDeliveries(
  tx: Executor,
  subscriptions: SubscriptionsRef,
  now: Date,
): Promise<void> {
  await tx
    .update(webhookDeliveries)
    .set({ nextAttemptAt: now, updatedAt: now })
    .where(and(pendingOf(subscriptions), gt(webhookDeliveries.nextAttemptAt, now)));
}

/** Cancels pending deliveries. */
export async function cancelDeliveries(
  tx: Executor,
  subscriptions: SubscriptionsRef,
  now: Date,
): Promise<void> {
  await tx
    .update(webhookDeliveries)
    .set({ status: 'cancelled', nextAttemptAt: null, updatedAt: now })
    .where(pendingOf(subscriptions));
}
