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

/** What a node's counters are at from now on, and by how much the version of its policy rises. */
export interface Head {
  readonly id: string;
  readonly policy: number;
  readonly auditSequence: number;
  readonly eventSequence: number;
  /** Of its last entry, which the next one carries on. */
  readonly hash: string;
}

const HEAD = 'head(id uuid, policy int, "auditSequence" bigint, "eventSequence" bigint, hash text)';

/**
 * One statement, because the nodes are locked by now and others wait for it; and one new version of each node's row,
 * since whoever reads it meanwhile has to step over those that are dead.
 * @returns whether any of the events is to be relayed
 */
export async function append(
  tx: Executor,
  entries: readonly AuditRow[],
  emitted: readonly EventRow[],
  heads: readonly Head[],
  due: Relay['due'],
): Promise<boolean> {
  const written = [
    ...(entries.length > 0
      ? [
          sql`appended as (insert into ${auditLog} (${audited.names})
            select ${audited.names} from ${audited.from(entries)})`,
        ]
      : []),
    ...(emitted.length > 0
      ? [
          sql`emitted as (insert into ${events} (${told.names}, relay_at)
            select ${told.names}, ${relayedAt(emitted, due)} from ${told.from(emitted)} returning relay_at)`,
        ]
      : []),
  ];
  const rows = await rowsOf<{ due: boolean }>(
    tx,
    sql`${written.length > 0 ? sql`with ${sql.join(written, sql`, `)}` : undefined}
      update ${nodes} n set policy_version = n.policy_version + head.policy, audit_hash = head.hash,
        audit_sequence = head."auditSequence", event_sequence = head."eventSequence"
      from ${recordset(heads, HEAD)} where n.id = head.id
      returning ${emitted.length > 0 ? sql`exists (select 1 from emitted where relay_at is not null)` : sql`false`} as due`,
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
