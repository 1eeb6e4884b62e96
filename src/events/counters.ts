import { sql } from 'drizzle-orm';
import { nodes } from '../db/nodes.ts';
import { preparedRowsOf } from '../db/prepared.ts';
import { instant, isAnyOf } from '../db/rows.ts';
import type { Executor } from '../kernel/scoped-db.ts';

/** What a node's counters are at before what is written next. */
export interface Counters {
  readonly auditSequence: number;
  readonly eventSequence: number;
  /** Of its last entry, which the next one carries on. */
  readonly hash: string;
  readonly deleted: boolean;
  /** When the lock was taken, by the clock of the database: the time of what is written under it. */
  readonly now: Date;
}

/**
 * Locks the nodes until the end of the transaction, in the order of their ids, and reads their counters: nobody else
 * writes to them between this and the commit. A node that does not exist is left out.
 */
export async function lockCounters(tx: Executor, ids: readonly string[]): Promise<Map<string, Counters>> {
  const rows = await preparedRowsOf<CounterRow>(
    tx,
    // The time is read after the lock: entries of a node are in the order of both.
    sql`with locked as materialized (
        select id, audit_sequence, event_sequence, audit_hash, deleted_at is not null as deleted from ${nodes}
        where ${isAnyOf(nodes.id, ids)} order by id for no key update)
      select *, clock_timestamp() as now from locked`,
  );
  return new Map(
    rows.map((row) => [
      row.id,
      {
        auditSequence: Number(row.audit_sequence),
        eventSequence: Number(row.event_sequence),
        hash: row.audit_hash,
        deleted: row.deleted,
        now: instant(row.now),
      },
    ]),
  );
}

interface CounterRow {
  readonly id: string;
  readonly audit_sequence: string | number;
  readonly event_sequence: string | number;
  readonly audit_hash: string;
  readonly deleted: boolean;
  readonly now: string | Date;
}
