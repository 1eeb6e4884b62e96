import { sql, type SQL } from 'drizzle-orm';
import type { Executor } from '../kernel/scoped-db.ts';
import { SYSTEM_NODE } from './nodes.ts';
import { idList, rowsOf } from './rows.ts';
import type { Reference, Table, TableGraph } from './table-graph.ts';

/** The statements of the purge: each removes a bounded number of rows, so that none runs into the time-out. */
export const BATCH = 500;

/** How many rows of which table are gone. */
export type Counts = Record<string, number>;

/** Whose time has come: deleted before a moment, or to be purged from one on. */
export interface Due {
  readonly column: 'deleted_at' | 'purge_at';
  readonly at: Date;
}

export const isDue = (alias: string, { column, at }: Due): SQL =>
  sql`${sql.identifier(alias)}.deleted_at is not null
    and ${sql.identifier(alias)}.${sql.identifier(column)} <= ${instantOf(at)}`;

/** Tables that outlive their node. Its row in `nodes` stays too, nameless: the head of the audit chain is in it. */
const kept: ReadonlySet<string> = new Set(['audit_log']);

/** Removes up to `limit` of the rows and answers how many there were. */
export async function removeSome(tx: Executor, table: string, where: SQL, limit = BATCH): Promise<number> {
  const name = sql.identifier(table);
  const [row] = await rowsOf<{ count: number }>(
    tx,
    sql`with gone as (delete from ${name} where ctid in (select ctid from ${name} where ${where} limit ${limit})
      returning 1) select count(*)::int as count from gone`,
  );
  return row?.count ?? 0;
}

/**
 * Gives up some of what waits for webhook subscriptions that nothing is sent to, and has not moved since a moment
 * (events §5). Answers how many there were.
 */
export async function cancelWaiting(tx: Executor, since: Date, now: Date): Promise<number> {
  const rows = await rowsOf(
    tx,
    sql`update webhook_deliveries set status = 'cancelled', next_attempt_at = null, updated_at = ${instantOf(now)}
      where id in (select d.id from webhook_deliveries d join webhook_subscriptions s on s.id = d.subscription_id
        where d.status = 'pending' and d.updated_at <= ${instantOf(since)}
          and not (s.active and s.disabled_reason is null and s.deleted_at is null)
        limit ${BATCH} for update of d skip locked)
      returning 1`,
  );
  return rows.length;
}

/** Nodes of a kind, by the table of the thing itself, whose time has come; in pages by id. */
export async function expiredNodes(
  tx: Executor,
  table: string,
  due: Due,
  after: string | null,
): Promise<string[]> {
  const rows = await rowsOf<{ id: string }>(
    tx,
    // Both must say so: what lives in either is not touched.
    sql`select t.id from ${sql.identifier(table)} t join nodes n on n.id = t.id
      where ${due.column === 'deleted_at' ? isDue('t', due) : sql`t.deleted_at is not null`} and ${isDue('n', due)}
        and (${after}::uuid is null or t.id > ${after}::uuid) order by t.id limit ${BATCH}`,
  );
  return rows.map(({ id }) => id);
}

/**
 * Removes some rows of a dead node, those that refer to others first, and the thing itself (`table`) last: as long as
 * that is there, a purge that was killed is taken up again.
 */
export async function purgeNode(tx: Executor, graph: TableGraph, table: string, id: string): Promise<Counts> {
  const counts: Counts = {};
  let left = BATCH;
  for (const { name, ofTenant } of graph.order) {
    if (!ofTenant || kept.has(name)) continue;
    const gone = await removeSome(tx, name, sql`tenant_id = ${id}::uuid`, left);
    if (gone > 0) counts[name] = gone;
    left -= gone;
    if (left === 0) return counts;
  }
  await tx.execute(sql`update nodes set purge_at = null where id = ${id}::uuid and purge_at is not null`);
  return add(counts, await removeWithLinks(tx, graph, table, [id]));
}

/**
 * Removes rows of live nodes that were deleted before, with the links in which they stand. What is still referred to
 * otherwise stays: the role of an accepted invitation, say. Built-in rows follow the version, not the calendar.
 */
export async function purgeRows(
  tx: Executor,
  graph: TableGraph,
  { name }: Table,
  before: Date,
): Promise<Counts> {
  const rows = await rowsOf<{ id: string }>(
    tx,
    sql`select t.id from ${sql.identifier(name)} t
      where t.deleted_at <= ${instantOf(before)} and t.tenant_id <> ${SYSTEM_NODE}::uuid
        and ${unreferenced(graph.referencesTo(name).filter(isHold))}
      order by t.deleted_at limit ${BATCH} for update of t skip locked`,
  );
  return removeWithLinks(
    tx,
    graph,
    name,
    rows.map(({ id }) => id),
  );
}

async function removeWithLinks(
  tx: Executor,
  graph: TableGraph,
  table: string,
  ids: readonly string[],
): Promise<Counts> {
  const counts: Counts = {};
  if (ids.length === 0) return counts;
  for (const { from, column } of graph.referencesTo(table).filter(isLink)) {
    const where = sql`${sql.identifier(column)} in ${idList(ids)}`;
    for (let gone = BATCH; gone === BATCH;) {
      gone = await removeSome(tx, from.name, where);
      if (gone > 0) add(counts, { [from.name]: gone });
    }
  }
  const gone = await removeSome(tx, table, sql`id in ${idList(ids)}`);
  return gone > 0 ? add(counts, { [table]: gone }) : counts;
}

const isLink = ({ cascades, identifies }: Reference): boolean => identifies && !cascades;

/** A row that goes on existing without what it names, and so keeps it. */
const isHold = ({ cascades, identifies }: Reference): boolean => !identifies && !cascades;

/** No row points at `t`. */
export const unreferenced = (references: readonly Reference[]): SQL =>
  references.length === 0
    ? sql`true`
    : sql.join(
        references.map(
          ({ from, column }) =>
            sql`not exists (select 1 from ${sql.identifier(from.name)} r where r.${sql.identifier(column)} = t.id)`,
        ),
        sql` and `,
      );

export function add(counts: Counts, more: Counts): Counts {
  for (const [table, count] of Object.entries(more)) counts[table] = (counts[table] ?? 0) + count;
  return counts;
}

export const instantOf = (date: Date): SQL => sql`${date.toISOString()}::timestamptz`;
