import { sql, type SQL } from 'drizzle-orm';
import { nodes } from '../db/nodes.ts';
import { insertion, recordset } from '../db/recordset.ts';
import { rowsOf } from '../db/rows.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import type { Relay } from './relay.ts';
import { auditLog, events } from './tables.ts';

/** What the recorder has sealed and numbered, written. */
export type AuditRow = typeof auditLog.$inferInsert;
export type EventRow = typeof events.$inferInsert;

const audited = insertion(auditLog);
// Whether they are to be relayed is asked where they are written.
const told = insertion(events, ['relayAt', 'relayAttempts']);

/** The hash of its last entry, which the next one carries on. */
export interface Head {
  readonly id: string;
  readonly hash: string;
}

/**
 * One statement, because the nodes are locked by now and others wait for it.
 * @returns whether any of the events is to be relayed
 */
export async function append(
  tx: Executor,
  entries: readonly AuditRow[],
  emitted: readonly EventRow[],
  heads: readonly Head[],
  due: Relay['due'],
): Promise<boolean> {
  const emit =
    emitted.length > 0
      ? sql`insert into ${events} (${told.names}, relay_at) select ${told.names}, ${relayedAt(emitted, due)}
        from ${told.from(emitted)} returning relay_at`
      : null;
  if (entries.length === 0) {
    if (!emit) return false;
    return (await rowsOf<{ relay_at: unknown }>(tx, emit)).some(({ relay_at }) => relay_at !== null);
  }
  const rows = await rowsOf<{ due: boolean }>(
    tx,
    sql`with appended as (insert into ${auditLog} (${audited.names}) select ${audited.names} from ${audited.from(entries)})
      ${emit ? sql`, emitted as (${emit})` : sql``}
      update ${nodes} n set audit_hash = head.hash
      from ${recordset(heads, 'head(id uuid, hash text)')} where n.id = head.id
      returning ${emit ? sql`exists (select 1 from emitted where relay_at is not null)` : sql`false`} as due`,
  );
  return rows.some(({ due }) => due);
}

/** At once, if whoever takes events of the type takes those of the node. */
function relayedAt(emitted: readonly EventRow[], due: Relay['due']): SQL {
  const cases = [...new Set(emitted.map(({ type }) => type))].map((type) => {
    const condition = due(type, sql`fresh.tenant_id`);
    const also = typeof condition === 'boolean' ? sql.raw(`${condition}`) : condition;
    return sql`when fresh.type = ${type} and ${also} then fresh.occurred_at`;
  });
  return sql`case ${sql.join(cases, sql` `)} end`;
}
