import { sql } from 'drizzle-orm';
import type { Database } from './open.ts';
import { rowsOf } from '../statements/rows.ts';

/** A current value for the metrics, with name and help text. */
export interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly value: number;
}

interface Backlog {
  readonly mails: number;
  readonly events: number;
  readonly event_age: number;
  readonly deliveries: number;
  readonly delivery_age: number;
}

/**
 * Reads the backlogs in the database and the state of the pool. Each count uses a partial index that contains only
 * waiting rows. The age of the oldest row shows whether a long backlog is stuck.
 */
export async function readGauges(database: Database): Promise<Gauge[]> {
  const [backlog] = await rowsOf<Backlog>(
    database.pool,
    sql`select (select count(*)::int from mails) as mails,
      due.count as events, due.age as event_age, late.count as deliveries, late.age as delivery_age
    from (select count(*)::int as count, coalesce(extract(epoch from now() - min(occurred_at)), 0)::float8 as age
        from events where relay_at is not null) due,
      (select count(*)::int as count,
          greatest(coalesce(extract(epoch from now() - min(next_attempt_at)), 0), 0)::float8 as age
        from webhook_deliveries where status = 'pending') late`,
  );
  const { mails, events, event_age, deliveries, delivery_age } = backlog as Backlog;
  const pool = database.connections?.();
  return [
    ...(pool
      ? [
          { name: 'db_connections', help: 'Connections of the pool that are open', value: pool.open },
          { name: 'db_connections_idle', help: 'Open connections that are idle', value: pool.idle },
          { name: 'db_waiting', help: 'Calls that wait for a connection', value: pool.waiting },
        ]
      : []),
    { name: 'mails_waiting', help: 'Mails that are not sent yet', value: mails },
    {
      name: 'relay_waiting',
      help: 'Events that are not relayed to notifications and webhooks yet',
      value: events,
    },
    { name: 'relay_lag_seconds', help: 'Age of the oldest of these events', value: event_age },
    { name: 'webhooks_waiting', help: 'Webhook deliveries that are pending', value: deliveries },
    {
      name: 'webhooks_lag_seconds',
      help: 'How long the oldest due delivery has been due',
      value: delivery_age,
    },
  ];
}
