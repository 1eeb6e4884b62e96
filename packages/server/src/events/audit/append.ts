import { sql, type SQL } from 'drizzle-orm';
import { nodes } from '../../schema/nodes.ts';
import { insertion, recordset } from '../../db/statements/recordset.ts';
import { preparedRowsOf } from '../../db/statements/prepared.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import type { Relay } from '../outbox/relay.ts';
import { auditLog } from '../../schema/events/audit-log-entry.ts';
import { events } from '../../schema/events/event.ts';

/** Rows to write, already numbered and sealed. The caller holds the locks of their nodes (`lockChainHeads`). */
export interface Records {
  readonly entries: readonly AuditRow[];
  readonly events: readonly EventRow[];
  readonly heads: readonly ChainHead[];
}

export type AuditRow = typeof auditLog.$inferInsert;
export type EventRow = typeof events.$inferInsert;

/** The new counters of a node, and by how much its policy version increases. */
export interface ChainHead {
  readonly id: string;
  readonly policy: number;
  readonly auditSequence: number;
  readonly eventSequence: number;
  readonly hash: string;
}

interface Appended {
  /** Whether any of the events must be relayed. */
  readonly needsRelay: boolean;
  readonly transaction?: string;
}

const auditColumns = insertion(auditLog);
// Without the columns that the statement computes (`relay_at`) or that keep their default.
const eventColumns = insertion(events, ['relayAt', 'relayAttempts']);

const HEAD = 'head(id uuid, policy int, "auditSequence" bigint, "eventSequence" bigint, hash text)';

/**
 * Writes entries, events and counters in one statement. The same statement decides which events have a consumer, so
 * that the decision sees everything that was committed before the locks were taken.
 *
 * @param extraColumns columns that the statement selects in addition
 */
export async function append(
  tx: Executor,
  { entries, events: eventRows, heads }: Records,
  due: Relay['due'],
  extraColumns?: SQL,
): Promise<Appended> {
  const insertEntries = sql`, appended as (insert into ${auditLog} (${auditColumns.names})
      select ${auditColumns.names} from ${auditColumns.from(entries)})`;
  const insertEvents = sql`, emitted as (insert into ${events} (${eventColumns.names}, relay_at)
      select ${eventColumns.names}, ${relayTime(eventRows, due)} from ${eventColumns.from(eventRows)} returning relay_at)`;
  const hasDueEvent =
    eventRows.length > 0 ? sql`exists (select from emitted where relay_at is not null)` : sql`false`;
  const [row] = await preparedRowsOf<Appended>(
    tx,
    sql`with counted as (
        update ${nodes} n set policy_version = n.policy_version + head.policy, audit_hash = head.hash,
          audit_sequence = head."auditSequence", event_sequence = head."eventSequence"
        from ${recordset(heads, HEAD)} where n.id = head.id)
      ${entries.length > 0 ? insertEntries : undefined} ${eventRows.length > 0 ? insertEvents : undefined}
      select ${hasDueEvent} as "needsRelay" ${extraColumns && sql`, ${extraColumns}`}`,
  );
  return row as Appended;
}

/** SQL for `relay_at`: the time of the event if a consumer takes its type in its node, else null. */
function relayTime(rows: readonly EventRow[], due: Relay['due']): SQL {
  const cases = [...new Set(rows.map(({ type }) => type))].map((type) => {
    const condition = due(type, sql`fresh.tenant_id`);
    const guard = typeof condition === 'boolean' ? sql.raw(`${condition}`) : condition;
    return sql`when fresh.type = ${type} and ${guard} then fresh.occurred_at`;
  });
  return sql`case ${sql.join(cases, sql` `)} end`;
}
