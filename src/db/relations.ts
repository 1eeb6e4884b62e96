import { and, eq, inArray, isNull, sql, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { isDeepStrictEqual } from 'node:util';
import { fail } from '../errors.ts';
import type { AnyEntity, Reading, Relation } from '../kernel/entity.ts';
import type { RelatedAccess } from '../kernel/related.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { column, columnsOf } from './columns.ts';
import { SYSTEM_NODE } from './nodes.ts';
import { rowReader } from './row-reader.ts';
import { preparedRowsOf } from './prepared.ts';
import { isAnyOf } from './rows.ts';
import { visible } from './visible.ts';

/** Following relations and replacing links, within one scope. */

type Row = Record<string, unknown>;
type Links = Relation & { readonly kind: 'links' };

interface Reader extends Reading {
  readonly tx: Executor;
}

/**
 * Rows of one relation for many rows, in one statement, each list in order of creation and cut at a hundred: found
 * rows by parent key, one or a list. Only rows that the scope may show, and of these only those that the caller may
 * see. A row that is linked to many is one object.
 *
 * Whether there are more than the request may still be answered is told by the database, so that they are not even sent.
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
  const found = new Map<string, unknown>();
  if (wanted.length === 0) return found;
  const { selected, row } = rowReader(target, at);
  if (relation.kind === 'one') {
    // A role may belong to the project's owner, so a single link is followed wherever it leads: the row
    // that holds the id was itself in the scope.
    const where = and(isAnyOf(column(target, 'id'), wanted), isNull(column(target, 'deletedAt')));
    const id = column(target, 'id');
    const rows = await bounded(sql`${id}::text`, sql`1`, id, sql`${target.table} where ${where}`);
    for (const one of rows) {
      const related = row(one);
      if (!isShown || isShown(related)) found.set(one.parents, related);
    }
    return found;
  }
  const order = orderOf(target);
  const parents = sql`unnest(${`{${wanted.join()}}`}::uuid[]) parent(id)`;
  const rows = await (relation.kind === 'links'
    ? linked(relation)
    : pointing(column(target, relation.column)));
  for (const one of rows) {
    const related = row(one);
    if (isShown && !isShown(related)) continue;
    for (const parent of one.parents.split(',')) {
      const list = (found.get(parent) ?? []) as Row[];
      list.push(related);
      found.set(parent, list);
    }
  }
  return found;

  /** All rows of a source in order; if there are too many, only the first, which carries the counts. */
  async function bounded(
    ends: SQL,
    places: SQL,
    order: SQL | PgColumn,
    source: SQL,
  ): Promise<readonly Linked[]> {
    const { rows: most, readable } = budget;
    const rows = await preparedRowsOf<Linked>(
      tx,
      sql`select * from (
        select ${selected}, ${ends} as parents, row_number() over (order by ${order}) as place,
          (sum(${places}) over ())::float8 as all_places,
          (sum(octet_length(${target.table}::text)) over ())::float8 as all_bytes
        from ${source}) related
      where place = 1 or (all_places <= ${most}::float8 and all_bytes <= ${readable}::float8) order by place`,
    );
    const [first] = rows;
    if (first && first.all_places > most) budget.takeRows(first.all_places);
    if (first) budget.takeReadable(first.all_bytes);
    return rows;
  }

  // Both go from each parent along the indexes of what it leads to. `limit` and `offset` in the inner queries are what
  // the planner does not look behind, so that it chooses no other way, whatever it believes of the tables: without
  // statistics it would read all rows of the target.

  /** Many are linked to the same few rows, so each row comes once, with all that it is linked to. */
  function linked({ table: tableAt, from, target: to }: Links): Promise<readonly Linked[]> {
    const table = tableAt(scope);
    const columns = columnsOf(table);
    const [parent, end] = [columns[from] as PgColumn, columns[to] as PgColumn];
    const tenants = inArray(columns['tenantId'] as PgColumn, [scope.nodeId, SYSTEM_NODE]);
    const id = column(target, 'id');
    const source = sql`(
        select ends.id, string_agg(parent.id::text, ',') as parents, count(*) as places
        from ${parents} cross join lateral (
          select ${id} from (select ${end} as id from ${table} where ${and(sql`${parent} = parent.id`, tenants)} offset 0) link
          cross join lateral (
            select * from ${target.table} where ${and(sql`${id} = link.id`, visible(target, scope))} limit 1) ${target.table}
          order by ${order} limit 100) ends
        group by ends.id) ends
      cross join lateral (select * from ${target.table} where ${id} = ends.id limit 1) ${target.table}`;
    return bounded(sql`ends.parents`, sql`ends.places`, order, source);
  }

  function pointing(parent: PgColumn): Promise<readonly Linked[]> {
    const source = sql`${parents} cross join lateral (
        select * from (select * from ${target.table} where ${parent} = parent.id offset 0) ${target.table}
        where ${visible(target, scope)} order by ${order} limit 100) ${target.table}`;
    return bounded(sql`parent.id::text`, sql`1`, order, source);
  }
}

interface Linked extends Row {
  /** Keys of those that it belongs to, with commas between. */
  readonly parents: string;
  /** For all rows together: the number of places where they are answered, and their size as text. */
  readonly all_places: number;
  readonly all_bytes: number;
}

/** Rows without a time of creation, parts of another, come in the order of their first sort field. */
const orderOf = (target: AnyEntity) =>
  target.columns['createdAt']
    ? sql`${column(target, 'createdAt')}, ${column(target, 'id')}`
    : sql`${column(target, target.sort[0] as string)}`;

/**
 * Links a row that was just made, to which nothing is linked yet. One statement: the ends are locked as they are read.
 * @throws NOT_FOUND when an id is not visible in this scope
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
  const named = ['tenantId', relation.from, relation.target, relation.targetTenant].map((name) =>
    sql.identifier((columns[name] as PgColumn).name),
  );
  const linked = await preparedRowsOf(
    tx,
    sql`insert into ${table} (${sql.join(named, sql`, `)})
      select ${scope.nodeId}::uuid, ${id}::uuid, ${column(target, 'id')}, ${column(target, 'tenantId')}
      from ${target.table} where ${and(isAnyOf(column(target, 'id'), ids), visible(target, scope))}
      for share returning 1 as linked`,
  );
  if (linked.length !== ids.length) throw unknownEnd(relation);
}

const unknownEnd = ({ input }: Links) =>
  fail('NOT_FOUND', { fix: `Name only rows of this scope in ${input}.` });

/**
 * Replaces the rows that `id` is linked to. Null when the set was the same already.
 * @throws NOT_FOUND when an id is not visible in this scope
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
  if (rows.length !== ids.length) throw unknownEnd(relation);
  const table = relation.table(scope);
  const link = columnsOf(table);
  const mine = and(eq(link['tenantId'] as PgColumn, scope.nodeId), eq(link[relation.from] as PgColumn, id));
  // Links to rows that were deleted since are still stored, and count for nothing.
  const before = (
    (await tx
      .select({ id: link[relation.target] as PgColumn })
      .from(table)
      .innerJoin(target.table, eq(link[relation.target] as PgColumn, column(target, 'id')))
      .where(and(mine, visible(target, scope)))) as Row[]
  ).map((row) => row['id'] as string);
  if (isDeepStrictEqual([...before].sort(), [...ids].sort())) return null;
  await tx.delete(table).where(mine);
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

/** The value by which a row is found in a relation: its own id, or the id that it points with. */
export function parentKey(entity: AnyEntity, name: string, row: Row): string {
  const relation = entity.relations[name] as Relation;
  return (relation.kind === 'one' ? row[relation.column] : row['id']) as string;
}

/** How many rows were found under one key. */
export const countOf = (found: unknown): number => (Array.isArray(found) ? found.length : found ? 1 : 0);

/** What a relation answers when it leads nowhere. */
export const none = (entity: AnyEntity, name: string): null | [] =>
  entity.relations[name]?.kind === 'one' ? null : [];
