/*
 * The relay. The transaction of a mutation marks the events that a consumer takes as due (`relay_at`). The relay locks
 * due events, passes each to its consumers and marks it as relayed, all in one transaction. So the writes of consumers
 * happen exactly once, even if a process is killed.
 *
 * Each event has a savepoint. An event that fails is retried with growing delays and does not block others, until the
 * purge deletes it.
 */

import { and, asc, eq, inArray, isNotNull, lte, or, sql, type SQL } from 'drizzle-orm';
import { isRetryable, type Database } from '../../db/connection/open.ts';
import type { Actor, Changes } from '../../kernel/event.ts';
import type { ScopeRef } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { createSharedPass } from './shared-pass.ts';
import { events } from '../../schema/events/event.ts';

/** An event as consumers receive it. */
export interface RelayedEvent {
  readonly type: string;
  /** The tenant node of the event. */
  readonly tenantId: string;
  readonly occurredAt: Date;
  readonly body: EventBody;
}

/** The members of the envelope (events §2) that consumers read. */
interface EventBody {
  readonly id: string;
  readonly scope: ScopeRef;
  readonly actor: Omit<Actor, 'name'>;
  readonly data: Readonly<Record<string, unknown>>;
  readonly changes?: Changes;
}

/**
 * Writes the consequences of an event, in the transaction that marks it as relayed. Must not call external services.
 */
export interface Consumer {
  readonly takes: (type: string) => boolean;
  /**
   * SQL condition on the nodes whose events it takes. If absent, all. `consume` may still get events of other nodes.
   */
  readonly ofNodes?: (nodeId: SQL, type: string) => SQL;
  readonly consume: (tx: Executor, event: RelayedEvent) => Promise<void>;
}

export interface Relay {
  /** Whether events of this type in this node must be relayed, as a constant or as an SQL condition. */
  due(type: string, nodeId: SQL): boolean | SQL;
  /** Relays all due events; never rejects. Concurrent calls share one pass. */
  flush(): Promise<void>;
  /** Stops after the current batch. */
  stop(): Promise<void>;
}

interface RelayOptions {
  readonly database: Pick<Database, 'transaction'>;
  readonly consumers: readonly Consumer[];
  /** Called after the commit of each batch, which may have queued mails or deliveries. */
  readonly onRelayed: () => void;
  readonly log: (error: unknown, message: string) => void;
}

/** Small, because all other transactions of the embedded database wait while a batch runs. */
const BATCH = 50;
const FIRST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 3_600_000;

const waitAfter = (attempts: number): number => Math.min(FIRST_WAIT_MS * 2 ** attempts, LONGEST_WAIT_MS);

export function createRelay({ database, consumers, onRelayed: relayed, log }: RelayOptions): Relay {
  let stopping = false;

  /** Relays one batch, and returns how many events it tried. */
  const relayBatch = (): Promise<number> =>
    database.transaction(async (tx) => {
      const due = await tx
        .select()
        .from(events)
        .where(and(isNotNull(events.relayAt), lte(events.relayAt, sql`now()`)))
        .orderBy(asc(events.relayAt), asc(events.id))
        .limit(BATCH)
        .for('update', { skipLocked: true });
      const done: string[] = [];
      for (const { id, type, tenantId, occurredAt, body, relayAttempts } of due) {
        const event = { type, tenantId, occurredAt, body: body as EventBody };
        try {
          await tx.transaction(async (savepoint) => {
            for (const consumer of consumers)
              if (consumer.takes(type)) await consumer.consume(savepoint, event);
          });
          done.push(id);
        } catch (error) {
          if (isRetryable(error)) throw error;
          log(error, `an event of type ${type} could not be relayed and will be tried again`);
          const wait = sql`now() + ${waitAfter(relayAttempts)} * interval '1 millisecond'`;
          await tx
            .update(events)
            .set({ relayAt: wait, relayAttempts: relayAttempts + 1 })
            .where(eq(events.id, id));
        }
      }
      if (done.length > 0) await tx.update(events).set({ relayAt: null }).where(inArray(events.id, done));
      return due.length;
    });

  const flush = createSharedPass(
    async () => {
      if (stopping) return false;
      const tried = await relayBatch();
      if (tried > 0) relayed();
      return tried === BATCH;
    },
    (error) => log(error, 'events could not be relayed'),
  );

  return {
    due(type, nodeId) {
      const interested = consumers.filter((consumer) => consumer.takes(type));
      const conditions = interested.flatMap((consumer) => consumer.ofNodes?.(nodeId, type) ?? []);
      if (conditions.length < interested.length) return true;
      return or(...conditions) ?? false;
    },
    flush,
    async stop() {
      stopping = true;
      await flush();
    },
  };
}
