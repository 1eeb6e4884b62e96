import { and, eq, inArray, isNull, sql, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { isDeepStrictEqual } from 'node:util';
import { fail } from '../../errors.ts';
import type { AnyEntity, ReadContext, Relation } from '../../kernel/entity.ts';
import type { RelatedAccess } from '../../kernel/related.ts';
import { definingNodeOf } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { column, columnsOf } from './entity-columns.ts';
import { SYSTEM_NODE } from '../../schema/nodes.ts';
import { rowReader } from './row-reader.ts';
import { preparedRowsOf } from '../statements/prepared.ts';
import { isAnyOf } from '../statements/rows.ts';
import { visible } from './visible-rows.ts';

/* Reads relations and replaces links within one scope. */

type Row = Record<string, unknown>;
type Links = Relation & { readonly kind: 'links' };

interface Reader extends ReadContext {
  readonly tx: Executor;
}

/**
 * Reads one relation of many rows with one statement. Returns related rows by parent key: a single row, or a list of at
 * most 100 rows in order of creation. Includes only rows that are visible in the scope and that the caller may read. A
 * row that is linked to several parents is one object.
 *
 * The database compares the number and size of the rows with the request's budget, so that it never sends too many.
 * @throws FORBIDDEN, QUERY_TOO_COMPLEX
 */
export async function readRelation(
  { tx, filterOf, budget, ...at }: Reader & RelatedAccess,
  entity: AnyEntity,
  name: string,
  keys: readonly string[],
): Promise<Map<string, unknown>> {
  budget.assertNotExceeded();
  const { scope } = at;
  const relation = entity.relations[name] as Relation;
  const isShown = filterOf({ name, relation });
  const target = relation.to();
  const wanted = [...new Set(keys.filter(Boolean))];
  const byParent = new Map<string, unknown>();
  if (wanted.length === 0) return byParent;
  const { selected, row } = rowReader(target, at);
  if (relation.kind === 'one') {
    // The target is not restricted to the scope, because a role may belong to the project's owner. This is safe,
    // because the row with the reference was visible in the scope.
    const where = and(isAnyOf(column(target, 'id'), wanted), isNull(column(target, 'deletedAt')));
    const id = column(target, 'id');
    const rows = await readWithinBudget(sql`${id}::text`, sql`1`, id, sql`${target.table} where ${where}`);
    for (const linked of rows) {
      const related = row(linked);
      if (!isShown || isShown(related)) byParent.set(linked.parents, related);
    }
    return byParent;
  }
  const order = orderOf(target);
  const parents = sql`unnest(${`{${wanted.join()}}`}::uuid[]) parent(id)`;
  const rows = await (relation.kind === 'links'
    ? linked(relation)
    : readReferencing(column(target, relation.column)));
  for (const linked of rows) {
    const related = row(linked);
    if (isShown && !isShown(related)) continue;
    for (const parent of linked.parents.split(',')) {
      const list = (byParent.get(parent) ?? []) as Row[];
      list.push(related);
      byParent.set(parent, list);
    }
  }
  return byParent;

  /** Reads all rows of a source in order. If they exceed the budget, only the first row with the counts is read. */
  async function readWithinBudget(
    ends: SQL,
    count: SQL,
    order: SQL | PgColumn,
    source: SQL,
  ): Promise<readonly Linked[]> {
    const { rows: maxRows, readable: maxBytes } = budget;
    const rows = await preparedRowsOf<Linked>(
      tx,
      sql`select * from (
        select ${selected}, ${ends} as parents, row_number() over (order by ${order}) as row_position,
          (sum(${count}) over ())::float8 as all_rows,
          (sum(octet_length(${target.table}::text)) over ())::float8 as all_bytes
        from ${source}) related
      where row_position = 1 or (all_rows <= ${maxRows}::float8 and all_bytes <= ${maxBytes}::float8) order by row_position`,
    );
    const [first] = rows;
    if (first && first.all_rows > maxRows) budget.takeRows(first.all_rows);
    if (first) budget.takeReadable(first.all_bytes);
    return rows;
  }

  // `linked` and `readReferencing` start at each parent and follow an index to its related rows. LIMIT and OFFSET in
  // their subqueries are optimization fences: without statistics the planner would read all rows of the target instead.

  /** Many parents are often linked to few rows, so each row is sent once, together with all its parents. */
  function linked({ table: tableAt, from, target: to }: Links): Promise<readonly Linked[]> {
    const table = tableAt(scope);
    const columns = columnsOf(table);
    const [parent, end] = [columns[from] as PgColumn, columns[to] as PgColumn];
    // In a granted scope, links of a role belong to the project, but the roles of a user belong to the slice.
    const home = entity.columns['isSystem'] ? definingNodeOf(scope) : scope.nodeId;
    const tenants = inArray(columns['tenantId'] as PgColumn, [home, SYSTEM_NODE]);
    const id = column(target, 'id');
    const source = sql`(
        select ends.id, string_agg(parent.id::text, ',') as parents, count(*) as parent_count
        from ${parents} cross join lateral (
          select ${id} from (select ${end} as id from ${table} where ${and(sql`${parent} = parent.id`, tenants)} offset 0) link
          cross join lateral (
            select * from ${target.table} where ${and(sql`${id} = link.id`, visible(target, scope))} limit 1) ${target.table}
          order by ${order} limit 100) ends
        group by ends.id) ends
      cross join lateral (select * from ${target.table} where ${id} = ends.id limit 1) ${target.table}`;
    return readWithinBudget(sql`ends.parents`, sql`ends.parent_count`, order, source);
  }

  function readReferencing(parent: PgColumn): Promise<readonly Linked[]> {
    const source = sql`${parents} cross join lateral (
        select * from (select * from ${target.table} where ${parent} = parent.id offset 0) ${target.table}
        where ${visible(target, scope)} order by ${order} limit 100) ${target.table}`;
    return readWithinBudget(sql`parent.id::text`, sql`1`, order, source);
  }
}

interface Linked extends Row {
  /** Keys of the parents, separated by commas. */
  readonly parents: string;
  /** How often the rows occur in the response, and their size as text; both for all rows together. */
  readonly all_rows: number;
  readonly all_bytes: number;
}

/** Sorts by creation. Entities without a creation time are parts of another entity, and use their first sort field. */
const orderOf = (target: AnyEntity) =>
  target.columns['createdAt']
    ? sql`${column(target, 'createdAt')}, ${column(target, 'id')}`
    : sql`${column(target, target.sort[0] as string)}`;

/**
 * Links a newly created row, which has no links yet. One statement reads and locks the targets.
 *
 * @throws NOT_FOUND if an id is not visible in this scope
 */
export async function link(
  { tx, scope }: Pick<Reader, 'tx' | 'scope'>,
  relation: Links,
  id: string,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const target = relation.to();
  const table = relation.table(scope);
  const columns = columnsOf(table);
  const columnNames = ['tenantId', relation.from, relation.target, relation.targetTenant].map((name) =>
    sql.identifier((columns[name] as PgColumn).name),
  );
  const linked = await preparedRowsOf(
    tx,
    sql`insert into ${table} (${sql.join(columnNames, sql`, `)})
      select ${scope.nodeId}::uuid, ${id}::uuid, ${column(target, 'id')}, ${column(target, 'tenantId')}
      from ${target.table} where ${and(isAnyOf(column(target, 'id'), ids), visible(target, scope))}
      for share returning 1 as linked`,
  );
  if (linked.length !== ids.length) throw unknownTarget(relation);
}

const unknownTarget = ({ input }: Links) =>
  fail('NOT_FOUND', { fix: `Name only rows of this scope in ${input}.` });

/**
 * Replaces the links of `id`. Returns null if the set is unchanged.
 *
 * @throws NOT_FOUND if an id is not visible in this scope
 */
export async function relink(
  { tx, scope }: Pick<Reader, 'tx' | 'scope'>,
  relation: Links,
  id: string,
  ids: readonly string[],
): Promise<{ from: string[]; to: string[] } | null> {
  const target = relation.to();
  const rows =
    ids.length === 0
      ? []
      : ((await tx
          .select({ id: column(target, 'id'), tenantId: column(target, 'tenantId') })
          .from(target.table)
          .where(and(inArray(column(target, 'id'), [...ids]), visible(target, scope)))
          .for('share')) as Row[]);
  if (rows.length !== ids.length) throw unknownTarget(relation);
  const table = relation.table(scope);
  const link = columnsOf(table);
  const ofRow = and(eq(link['tenantId'] as PgColumn, scope.nodeId), eq(link[relation.from] as PgColumn, id));
  // Links to deleted rows are still stored, but have no effect, so they are ignored.
  const before = (
    (await tx
      .select({ id: link[relation.target] as PgColumn })
      .from(table)
      .innerJoin(target.table, eq(link[relation.target] as PgColumn, column(target, 'id')))
      .where(and(ofRow, visible(target, scope)))) as Row[]
  ).map((row) => row['id'] as string);
  if (isDeepStrictEqual([...before].sort(), [...ids].sort())) return null;
  await tx.delete(table).where(ofRow);
  if (rows.length > 0) {
    await tx.insert(table).values(
      rows.map((row) => ({
        tenantId: scope.nodeId,
        [relation.from]: id,
        [relation.target]: row['id'],
        [relation.targetTenant]: row['tenantId'],
      })),
    );
  }
  return { from: [...before].sort(), to: [...ids].sort() };
}

/** The key of a row in a relation: its own id, or for a single reference the foreign key. */
export function parentKey(entity: AnyEntity, name: string, row: Row): string {
  const relation = entity.relations[name] as Relation;
  return (relation.kind === 'one' ? row[relation.column] : row['id']) as string;
}

/** The number of related rows under one key. */
export const countOf = (related: unknown): number =>
  Array.isArray(related) ? related.length : related ? 1 : 0;

/** The value of a relation without related rows. */
export const emptyRelation = (entity: AnyEntity, name: string): null | [] =>
  entity.relations[name]?.kind === 'one' ? null : [];
