import { sql, type SQL } from 'drizzle-orm';
import { nodes } from '../db/nodes.ts';
import { insertion, recordset } from '../db/recordset.ts';
import { instant, isAnyOf, rowsOf } from '../db/rows.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import type { Left } from './counters.ts';
import type { Relay } from './relay.ts';
import { auditLog, events } from './tables.ts';

/** What the recorder has sealed and numbered, written. */
export type AuditRow = typeof auditLog.$inferInsert;
export type EventRow = typeof events.$inferInsert;

const audited = insertion(auditLog);
// Whether they are to be relayed is asked where they are written.
const told = insertion(events, ['relayAt', 'relayAttempts']);

/** What a node's counters are at from now on, and by how much the version of its policy rises. */
export interface Head extends Left {
  readonly policy: number;
  /** What is carried on here: of the last entry and the last event so far. */
  readonly hashBefore: string;
  readonly eventBefore: number;
  /** Whether nothing may be written when the node is deleted. */
  readonly live: boolean;
}

export interface Appended {
  readonly now: Date;
  readonly transaction?: string;
}

const HEAD =
  'head(id uuid, policy int, "auditSequence" bigint, "eventSequence" bigint, hash text, "hashBefore" text, "eventBefore" bigint, live boolean)';

/**
 * Takes the nodes' locks, in the order of their ids, and writes entries and counters if nobody else has written since what
 * is carried on. One new version of each node's row, since whoever reads it meanwhile has to step over those that are
 * dead.
 * @param also columns to be selected along
 * @returns what was selected, and the time of the database
 * @throws division_by_zero, which `hasMovedOn` knows, when one of the nodes has other counters by now, or is deleted
 */
export async function appendEntries(
  tx: Executor,
  entries: readonly AuditRow[],
  heads: readonly Head[],
  also?: SQL,
): Promise<Appended> {
  const ids = heads.map(({ id }) => id);
  const appended = sql`, appended as (insert into ${auditLog} (${audited.names})
      select ${audited.names} from ${audited.from(entries)} where (select ok from checked) = 1)`;
  const [row] = await rowsOf<{ now: string | Date; transaction?: string }>(
    tx,
    sql`with locked as materialized (
        select id, audit_hash, event_sequence, deleted_at from ${nodes}
        where ${isAnyOf(nodes.id, ids)} order by id for no key update),
      moved as (
        update ${nodes} n set policy_version = n.policy_version + head.policy, audit_hash = head.hash,
          audit_sequence = head."auditSequence", event_sequence = head."eventSequence"
        from ${recordset(heads, HEAD)} join locked on locked.id = head.id and locked.audit_hash = head."hashBefore"
          and locked.event_sequence = head."eventBefore" and (locked.deleted_at is null or not head.live)
        where n.id = head.id returning n.id),
      checked as materialized (select 1 / (count(*) = ${heads.length}::int)::int as ok from moved)
      ${entries.length > 0 ? appended : undefined}
      select clock_timestamp() as now ${also && sql`, ${also}`} from checked where ok = 1`,
  );
  if (!row) throw new Error('an append was neither done nor refused');
  return { ...row, now: instant(row.now) };
}

/**
 * A statement of its own behind `appendEntries`: whether anybody takes the events is asked in the state of the database
 * under the nodes' locks, and not in that of before they were waited for.
 * @returns whether any of them is to be relayed
 */
export async function appendEvents(
  tx: Executor,
  emitted: readonly EventRow[],
  due: Relay['due'],
): Promise<boolean> {
  const [row] = await rowsOf<{ due: boolean }>(
    tx,
    sql`with emitted as (insert into ${events} (${told.names}, relay_at)
        select ${told.names}, ${relayedAt(emitted, due)} from ${told.from(emitted)} returning relay_at)
      select exists (select 1 from emitted where relay_at is not null) as due`,
  );
  return row?.due ?? false;
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
