import { and, asc, eq, inArray, isNotNull, lte, or, sql, type SQL } from 'drizzle-orm';
import { isRetryable, type Database } from '../db/open.ts';
import type { Actor, Changes } from '../kernel/event.ts';
import type { ScopeRef } from '../kernel/scope.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { sharedPass } from './shared-pass.ts';
import { events } from './tables.ts';

/**
 * From the outbox to whoever wants to know. An event that a consumer takes is written as due (`relay_at`) in the
 * transaction of its mutation. The relay locks due events, hands each to its consumers, and marks it, all in one
 * transaction: what the consumers write is there exactly once, whichever process does it and whenever one is killed.
 *
 * Each event has a savepoint of its own. One that fails is put off, longer each time, and keeps no other from its turn;
 * it is tried again until the purge removes events of its age.
 */
export interface RelayedEvent {
  readonly type: string;
  /** The node that it belongs to. */
  readonly tenantId: string;
  readonly occurredAt: Date;
  readonly body: EventBody;
}

/** The part of the envelope (events §2) that consumers read. */
export interface EventBody {
  readonly id: string;
  readonly scope: ScopeRef;
  readonly actor: Omit<Actor, 'name'>;
  readonly data: Readonly<Record<string, unknown>>;
  readonly changes?: Changes;
}

/** Writes what follows from an event, in the transaction that marks it as relayed. It speaks to nobody outside. */
export interface Consumer {
  readonly takes: (type: string) => boolean;
  /** Of which nodes it takes those, as a condition; absent: of all. It is asked of events of other nodes too. */
  readonly of?: (nodeId: SQL, type: string) => SQL;
  readonly consume: (tx: Executor, event: RelayedEvent) => Promise<void>;
}

export interface Relay {
  /** Whether events of this type in this node are to be relayed at all: known, or a condition for the database. */
  due(type: string, nodeId: SQL): boolean | SQL;
  /** Relays what is due and resolves when nothing is; never rejects. Calls that meet share one pass. */
  flush(): Promise<void>;
  /** Ends a pass with its batch. */
  stop(): Promise<void>;
}

export interface RelayOptions {
  readonly database: Pick<Database, 'transaction'>;
  readonly consumers: readonly Consumer[];
  /** Told after the commit of each batch: mails may wait now. */
  readonly relayed: () => void;
  readonly log: (error: unknown, message: string) => void;
}

/** Short transactions: on the embedded database everybody else waits for them. */
const BATCH = 50;
const FIRST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 3_600_000;

const waitAfter = (attempts: number): number => Math.min(FIRST_WAIT_MS * 2 ** attempts, LONGEST_WAIT_MS);

export function createRelay({ database, consumers, relayed, log }: RelayOptions): Relay {
  let stopping = false;

  /** Answers how many events were tried. */
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
            for (const one of consumers) if (one.takes(type)) await one.consume(savepoint, event);
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

  const flush = sharedPass(
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
      const taking = consumers.filter((one) => one.takes(type));
      const conditions = taking.flatMap((one) => one.of?.(nodeId, type) ?? []);
      if (conditions.length < taking.length) return true;
      return or(...conditions) ?? false;
    },
    flush,
    async stop() {
      stopping = true;
      await flush();
    },
  };
}
