import { sql, type SQL } from 'drizzle-orm';
import { nodes } from '../db/nodes.ts';
import { insertion, recordset } from '../db/recordset.ts';
import { preparedRowsOf } from '../db/prepared.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import type { Relay } from './relay.ts';
import { auditLog, events } from './tables.ts';

/** What the recorder has sealed and numbered, under the locks of its nodes (`lockCounters`). */
export interface Composed {
  readonly entries: readonly AuditRow[];
  readonly emitted: readonly EventRow[];
  readonly heads: readonly Head[];
}

export type AuditRow = typeof auditLog.$inferInsert;
export type EventRow = typeof events.$inferInsert;

/** What a node's counters are at after it, and by how much the version of its policy rises. */
export interface Head {
  readonly id: string;
  readonly policy: number;
  readonly auditSequence: number;
  readonly eventSequence: number;
  readonly hash: string;
}

export interface Appended {
  /** Whether any of the events is to be relayed. */
  readonly due: boolean;
  readonly transaction?: string;
}

const audited = insertion(auditLog);
// Whether they are to be relayed is asked where they are written.
const emittable = insertion(events, ['relayAt', 'relayAttempts']);

const HEAD = 'head(id uuid, policy int, "auditSequence" bigint, "eventSequence" bigint, hash text)';

/**
 * Writes entries, events and counters in one statement. Whether anybody takes an event is asked in the same statement,
 * which sees what was committed before the locks were taken.
 * @param also columns to be selected along
 */
export async function append(
  tx: Executor,
  { entries, emitted, heads }: Composed,
  due: Relay['due'],
  also?: SQL,
): Promise<Appended> {
  const appending = sql`, appended as (insert into ${auditLog} (${audited.names})
      select ${audited.names} from ${audited.from(entries)})`;
  const emitting = sql`, emitted as (insert into ${events} (${emittable.names}, relay_at)
      select ${emittable.names}, ${relayedAt(emitted, due)} from ${emittable.from(emitted)} returning relay_at)`;
  const isDue =
    emitted.length > 0 ? sql`exists (select from emitted where relay_at is not null)` : sql`false`;
  const [row] = await preparedRowsOf<Appended>(
    tx,
    sql`with counted as (
        update ${nodes} n set policy_version = n.policy_version + head.policy, audit_hash = head.hash,
          audit_sequence = head."auditSequence", event_sequence = head."eventSequence"
        from ${recordset(heads, HEAD)} where n.id = head.id)
      ${entries.length > 0 ? appending : undefined} ${emitted.length > 0 ? emitting : undefined}
      select ${isDue} as due ${also && sql`, ${also}`}`,
  );
  return row as Appended;
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
