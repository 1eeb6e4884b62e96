import { sql } from 'drizzle-orm';
import { nodes } from '../../schema/nodes.ts';
import { preparedRowsOf } from '../../db/statements/prepared.ts';
import { instant, isAnyOf } from '../../db/statements/rows.ts';
import type { Executor } from '../../kernel/scoped-db.ts';

/** The counters of a locked node, before the next entry. */
export interface LockedHead {
  readonly auditSequence: number;
  readonly eventSequence: number;
  /** Hash of the last entry; the next entry contains it. */
  readonly hash: string;
  readonly deleted: boolean;
  /** Database time when the lock was taken. All entries that are written under the lock get this time. */
  readonly now: Date;
}

/**
 * Locks the nodes until the end of the transaction, in the order of their ids, and reads their counters. No other
 * transaction changes the counters before the commit. Omits nodes that do not exist.
 */
export async function lockChainHeads(tx: Executor, ids: readonly string[]): Promise<Map<string, LockedHead>> {
  const rows = await preparedRowsOf<HeadRow>(
    tx,
    // The time is read after the lock, so that entries have the same order by time as by sequence.
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

interface HeadRow {
  readonly id: string;
  readonly audit_sequence: string | number;
  readonly event_sequence: string | number;
  readonly audit_hash: string;
  readonly deleted: boolean;
  readonly now: string | Date;
}
