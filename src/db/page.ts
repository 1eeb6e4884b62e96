import { and, asc, desc, eq, inArray, sql, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { fail } from '../errors.ts';
import type { AnyEntity } from '../kernel/entity.ts';
import type { Executor, ListInput, Page } from '../kernel/scoped-db.ts';
import { column } from './columns.ts';
import type { Cursors } from './cursor.ts';
import { sortable } from './listing.ts';
import { rowReader, type RowReader } from './row-reader.ts';
import { preparedRowsOf } from './prepared.ts';
import { rowsOf } from './rows.ts';
import type { Totals } from './totals.ts';

/** One page of rows (conventions §7), whoever they belong to: a scope (scoped-db.ts) or the caller (`pageOfOwn`). */
type Row = Record<string, unknown>;

interface Listing {
  readonly entity: AnyEntity;
  readonly reader: RowReader;
  readonly sortBy: (field: string) => PgColumn | SQL;
  /** Whose rows: those of any of these. No row is in two. */
  readonly alternatives: readonly SQL[];
  /** And which of them. */
  readonly where: SQL | undefined;
  /** What a cursor is good for, beside the list's own parameters: operation, caller, scope. */
  readonly boundTo: readonly unknown[];
  readonly input: ListInput;
  /** The tenant whose version tells whether the number of rows is still the same; without one it is counted. */
  readonly counted?: { readonly totals: Totals; readonly nodeId: string; readonly as: string } | undefined;
}

/** Not as a parameter: for a plan that is kept PostgreSQL takes an unknown limit to be a tenth of all rows. */
const inText = (clause: 'limit' | 'offset', count: number): SQL => sql.raw(`${clause} ${count}`);

/** What is selected beside the columns of a row. */
interface Found extends Row {
  readonly cursor_value: string;
  readonly total?: number;
  readonly version?: string | null;
}

/**
 * One statement; a second one if nobody knows how many rows there are and no row came to tell.
 * @throws VALIDATION_ERROR for a page together with a cursor, INVALID_CURSOR
 */
export async function readPage(
  tx: Executor,
  cursors: Cursors,
  { entity, reader, sortBy, alternatives, where, boundTo, input, counted }: Listing,
): Promise<Page<Row>> {
  if (input.page !== undefined && input.cursor !== undefined) {
    throw fail('VALIDATION_ERROR', { details: [{ path: 'cursor', code: 'excluded' }] });
  }
  const limit = input.limit ?? 50;
  const sortField = input.sortField ?? entity.sort[0] ?? 'createdAt';
  const direction = input.sortOrder ?? entity.order;
  const sorted = sortable(sortBy(sortField));
  const id = column(entity, 'id');
  const { cursor, limit: _, page, relations: __, ...bound } = input as Row & ListInput;
  const binding = JSON.stringify([...boundTo, sortField, direction, bound]);
  const after = cursor === undefined ? null : cursors.open(cursor, binding);
  const past = after
    ? sql`(${sorted}, ${id}) ${sql.raw(direction === 'ASC' ? '>' : '<')} (${after.value}, ${after.id})`
    : undefined;
  const order = direction === 'ASC' ? asc : desc;
  const skipped = after ? 0 : ((page ?? 1) - 1) * limit;

  const matching = alternatives.map((one) => and(one, where) as SQL);
  const total = sql`(${sql.join(
    matching.map((one) => sql`(select count(*) from ${entity.table} where ${one})`),
    sql` + `,
  )})::int`;
  const version = counted && sql`(select n.policy_version from nodes n where n.id = ${counted.nodeId})::text`;
  const list = counted && JSON.stringify([counted.nodeId, entity.name, counted.as, bound]);
  const known = list === undefined ? undefined : counted?.totals.get(list);

  const ordered = sql`order by ${order(sorted)}, ${order(id)}`;
  const [only, ...others] = matching.map((one) => sql`${entity.table} where ${and(one, past)}`);
  const few = (one: SQL): SQL =>
    sql`(select * from ${one} ${ordered} ${inText('limit', skipped + limit + 1)})`;
  // Each alternative comes in order along an index of its own; what is put together has the name of the table.
  const source =
    only && others.length > 0
      ? sql`(${sql.join([only, ...others].map(few), sql` union all `)}) as ${entity.table}`
      : only;
  // With filters of the caller there are too many to keep; this is the list as most ask for it.
  const isPlain =
    limit === 50 &&
    skipped === 0 &&
    Object.entries(bound).every(([name, value]) => name === 'scope' || value === undefined);
  const rows = await (isPlain ? preparedRowsOf : rowsOf)<Found>(
    tx,
    sql`select ${reader.selected}, (${sorted})::text as cursor_value
        ${version ? sql`, ${version} as version` : undefined}${known ? undefined : sql`, ${total} as total`}
      from ${source} ${ordered} ${inText('limit', limit + 1)} ${inText('offset', skipped)}`,
  );

  async function count(): Promise<Found> {
    const [row] = await rowsOf<Found>(tx, sql`select ${total} as total, ${version ?? sql`null`} as version`);
    return row as Found;
  }

  /** Of what was read with the rows, unless there were none, or the tenant changed since they were counted. */
  async function counting(): Promise<Partial<Found>> {
    const [row] = rows;
    if (!row) return after || skipped > 0 ? count() : { total: 0 };
    return known && known.version !== row.version ? count() : row;
  }

  const told = await counting();
  if (list !== undefined && told.total !== undefined && told.version) {
    counted?.totals.set(list, { count: told.total, version: told.version });
  }
  const items = rows.slice(0, limit).map(reader.row);
  const hasNextPage = rows.length > limit;
  const last = rows[limit - 1];
  const nextCursor =
    hasNextPage && last
      ? cursors.seal({ value: last.cursor_value, id: last['id'] as string }, binding)
      : null;
  return { items, totalCount: told.total ?? known?.count ?? 0, hasNextPage, nextCursor };
}

interface Own<E extends AnyEntity> {
  readonly entity: E;
  /** The operation. */
  readonly list: string;
  readonly input: ListInput;
  readonly userId: string;
  readonly filters?: readonly (SQL | undefined)[];
}

/**
 * Rows of one user, where there is no scope: those whose `user_id` names him, and a cursor that is good for him alone.
 * For nouns without computed fields, search and tags.
 * @throws VALIDATION_ERROR, INVALID_CURSOR
 */
export function pageOfOwn<E extends AnyEntity>(
  tx: Executor,
  cursors: Cursors,
  { entity, list, input, userId, filters = [] }: Own<E>,
): Promise<Page<E['table']['$inferSelect']>> {
  const { ids } = input;
  const named = ids && (ids.length > 0 ? inArray(column(entity, 'id'), [...ids]) : sql`false`);
  return readPage(tx, cursors, {
    entity,
    reader: rowReader(entity, null),
    sortBy: (field) => column(entity, field),
    alternatives: [eq(column(entity, 'userId'), userId)],
    where: and(named, ...filters),
    boundTo: [list, userId],
    input,
  });
}
