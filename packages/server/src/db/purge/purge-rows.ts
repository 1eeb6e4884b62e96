import { sql, type SQL } from 'drizzle-orm';
import type { Executor } from '../../kernel/scoped-db.ts';
import { SYSTEM_NODE } from '../../schema/nodes.ts';
import { idList, rowsOf } from '../statements/rows.ts';
import type { Reference, Table, TableGraph } from './table-graph.ts';

/** The maximum number of rows that one statement of the purge deletes, so that no statement times out. */
export const BATCH = 500;

/** Number of deleted rows by table. */
export type Counts = Record<string, number>;

/** Selects soft-deleted rows by time: `deleted_at` or `purge_at` before `at`. */
export interface Due {
  readonly column: 'deleted_at' | 'purge_at';
  readonly at: Date;
}

export const isDue = (alias: string, { column, at }: Due): SQL =>
  sql`${sql.identifier(alias)}.deleted_at is not null
    and ${sql.identifier(alias)}.${sql.identifier(column)} <= ${timestampOf(at)}`;

/**
 * Tables whose rows outlive their node. The row in `nodes` stays too, because it stores the chain head; it contains no
 * name.
 */
const retainedTables: ReadonlySet<string> = new Set(['audit_log']);

/** Deletes up to `limit` of the rows, and returns how many it deleted. */
export async function deleteBatch(tx: Executor, table: string, where: SQL, limit = BATCH): Promise<number> {
  const name = sql.identifier(table);
  const [row] = await rowsOf<{ count: number }>(
    tx,
    sql`with deleted as (delete from ${name} where ctid in (select ctid from ${name} where ${where} limit ${limit})
      returning 1) select count(*)::int as count from deleted`,
  );
  return row?.count ?? 0;
}

/**
 * Cancels a batch of pending deliveries that have not changed since `since`, and whose webhook subscription is inactive
 * (events §5). Returns how many it cancelled.
 */
export async function cancelStalledDeliveries(tx: Executor, since: Date, now: Date): Promise<number> {
  const rows = await rowsOf(
    tx,
    sql`update webhook_deliveries set status = 'cancelled', next_attempt_at = null, updated_at = ${timestampOf(now)}
      where id in (select d.id from webhook_deliveries d join webhook_subscriptions s on s.id = d.subscription_id
        where d.status = 'pending' and d.updated_at <= ${timestampOf(since)}
          and not (s.active and s.disabled_reason is null and s.deleted_at is null)
        limit ${BATCH} for update of d skip locked)
      returning 1`,
  );
  return rows.length;
}

/** Returns a batch of ids, in order, after the id `after`: the nodes in this table whose retention has ended. */
export async function expiredNodes(
  tx: Executor,
  table: string,
  due: Due,
  after: string | null,
): Promise<string[]> {
  const rows = await rowsOf<{ id: string }>(
    tx,
    // Requires both rows to be deleted, so that a node that is live in either table stays.
    sql`select t.id from ${sql.identifier(table)} t join nodes n on n.id = t.id
      where ${due.column === 'deleted_at' ? isDue('t', due) : sql`t.deleted_at is not null`} and ${isDue('n', due)}
        and (${after}::uuid is null or t.id > ${after}::uuid) order by t.id limit ${BATCH}`,
  );
  return rows.map(({ id }) => id);
}

/**
 * Deletes a batch of rows of a deleted node: referencing rows before referenced rows, and the row in `table` last. As
 * long as that row exists, the next run continues an interrupted purge.
 */
export async function purgeNode(tx: Executor, graph: TableGraph, table: string, id: string): Promise<Counts> {
  const counts: Counts = {};
  let remaining = BATCH;
  for (const { name, ofTenant } of graph.order) {
    if (!ofTenant || retainedTables.has(name)) continue;
    const deleted = await deleteBatch(tx, name, sql`tenant_id = ${id}::uuid`, remaining);
    if (deleted > 0) counts[name] = deleted;
    remaining -= deleted;
    if (remaining === 0) return counts;
  }
  await tx.execute(sql`update nodes set purge_at = null where id = ${id}::uuid and purge_at is not null`);
  return addCounts(counts, await deleteWithLinks(tx, graph, table, [id]));
}

/**
 * Deletes a batch of the rows in this table that were soft-deleted before `before`, together with their links. A row
 * with any other reference stays, for example the role of an accepted invitation. Built-in rows are never purged; a
 * release declares them.
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
      where t.deleted_at <= ${timestampOf(before)} and t.tenant_id <> ${SYSTEM_NODE}::uuid
        and ${unreferenced(graph.referencesTo(name).filter(isBlocking))}
      order by t.deleted_at limit ${BATCH} for update of t skip locked`,
  );
  return deleteWithLinks(
    tx,
    graph,
    name,
    rows.map(({ id }) => id),
  );
}

async function deleteWithLinks(
  tx: Executor,
  graph: TableGraph,
  table: string,
  ids: readonly string[],
): Promise<Counts> {
  const counts: Counts = {};
  if (ids.length === 0) return counts;
  for (const { from, column } of graph.referencesTo(table).filter(isLink)) {
    const where = sql`${sql.identifier(column)} in ${idList(ids)}`;
    for (let deleted = BATCH; deleted === BATCH;) {
      deleted = await deleteBatch(tx, from.name, where);
      if (deleted > 0) addCounts(counts, { [from.name]: deleted });
    }
  }
  const deleted = await deleteBatch(tx, table, sql`id in ${idList(ids)}`);
  return deleted > 0 ? addCounts(counts, { [table]: deleted }) : counts;
}

/**
 * Whether the referencing row is a link: the reference is part of its key, so it has no meaning without the referenced
 * row, and the database does not delete it by cascade.
 */
const isLink = ({ cascades, identifies }: Reference): boolean => identifies && !cascades;

/** Whether the reference comes from an independent row, which prevents the deletion of the referenced row. */
const isBlocking = ({ cascades, identifies }: Reference): boolean => !identifies && !cascades;

/** SQL condition: no row refers to `t`. */
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

export function addCounts(counts: Counts, more: Counts): Counts {
  for (const [table, count] of Object.entries(more)) counts[table] = (counts[table] ?? 0) + count;
  return counts;
}

export const timestampOf = (date: Date): SQL => sql`${date.toISOString()}::timestamptz`;
