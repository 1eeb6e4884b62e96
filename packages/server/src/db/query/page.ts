import { and, asc, desc, eq, inArray, sql, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { fail } from '../../errors.ts';
import type { AnyEntity } from '../../kernel/entity.ts';
import type { Executor, ListInput, Page } from '../../kernel/scoped-db.ts';
import { column } from './entity-columns.ts';
import type { Cursors } from './cursor.ts';
import { sortable } from './listing.ts';
import { rowReader, type RowReader } from './row-reader.ts';
import { preparedRowsOf } from '../statements/prepared.ts';
import { rowsOf } from '../statements/rows.ts';
import type { Totals } from './totals.ts';

/* Reads one page of a list (conventions §7): rows of a scope (scoped-db.ts) or of the caller (`pageOfOwn`). */

type Row = Record<string, unknown>;

interface PageQuery {
  readonly entity: AnyEntity;
  readonly reader: RowReader;
  readonly sortBy: (field: string) => PgColumn | SQL;
  /** Conditions on the owner, joined by OR. A row matches at most one of them. */
  readonly alternatives: readonly SQL[];
  /** Condition on all rows, joined by AND. */
  readonly where: SQL | undefined;
  /** Values that a cursor is bound to, in addition to the list parameters: operation, caller, scope. */
  readonly cursorBinding: readonly unknown[];
  readonly input: ListInput;
  /** The tenant whose policy version validates a cached total. If absent, the rows are counted each time. */
  readonly totalsBy?: { readonly totals: Totals; readonly nodeId: string; readonly as: string } | undefined;
}

/** Not a parameter, because for a generic plan PostgreSQL assumes that an unknown limit returns a tenth of all rows. */
const literalClause = (clause: 'limit' | 'offset', count: number): SQL => sql.raw(`${clause} ${count}`);

/** The row with the members that are selected in addition to the entity's columns. */
interface PageRow extends Row {
  readonly cursor_value: string;
  /** Selected under a fixed name, because the id column differs: for a member it is the user's id. */
  readonly cursor_id: string;
  readonly total?: number;
  readonly version?: string | null;
}

/**
 * Reads a page with one statement. A second one counts the rows if the cached total is outdated, or if the page is
 * empty and is not the first page.
 *
 * @throws VALIDATION_ERROR for a page together with a cursor, INVALID_CURSOR
 */
export async function readPage(
  tx: Executor,
  cursors: Cursors,
  { entity, reader, sortBy, alternatives, where, cursorBinding, input, totalsBy }: PageQuery,
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
  const binding = JSON.stringify([...cursorBinding, sortField, direction, bound]);
  const after = cursor === undefined ? null : cursors.open(cursor, binding);
  const afterCursor = after
    ? sql`(${sorted}, ${id}) ${sql.raw(direction === 'ASC' ? '>' : '<')} (${after.value}, ${after.id})`
    : undefined;
  const order = direction === 'ASC' ? asc : desc;
  const skipped = after ? 0 : ((page ?? 1) - 1) * limit;

  const conditions = alternatives.map((alternative) => and(alternative, where) as SQL);
  const total = sql`(${sql.join(
    conditions.map((condition) => sql`(select count(*) from ${entity.table} where ${condition})`),
    sql` + `,
  )})::int`;
  const version =
    totalsBy && sql`(select n.policy_version from nodes n where n.id = ${totalsBy.nodeId})::text`;
  const totalsKey = totalsBy && JSON.stringify([totalsBy.nodeId, entity.name, totalsBy.as, bound]);
  const cachedTotal = totalsKey === undefined ? undefined : totalsBy?.totals.get(totalsKey);

  const ordered = sql`order by ${order(sorted)}, ${order(id)}`;
  const [firstSource, ...otherSources] = conditions.map(
    (condition) => sql`${entity.table} where ${and(condition, afterCursor)}`,
  );
  const limited = (rowsFrom: SQL): SQL =>
    sql`(select * from ${rowsFrom} ${ordered} ${literalClause('limit', skipped + limit + 1)})`;
  // PostgreSQL reads each alternative in the order of an index. The union gets the name of the table, so that the same
  // select list works for both forms.
  const source =
    firstSource && otherSources.length > 0
      ? sql`(${sql.join([firstSource, ...otherSources].map(limited), sql` union all `)}) as ${entity.table}`
      : firstSource;
  // Only the most common form of a list is prepared: filters produce too many different statements.
  const isPlain =
    limit === 50 &&
    skipped === 0 &&
    Object.entries(bound).every(([name, value]) => name === 'scope' || value === undefined);
  const rows = await (isPlain ? preparedRowsOf : rowsOf)<PageRow>(
    tx,
    sql`select ${reader.selected}, (${sorted})::text as cursor_value, ${id} as cursor_id
        ${version ? sql`, ${version} as version` : undefined}${cachedTotal ? undefined : sql`, ${total} as total`}
      from ${source} ${ordered} ${literalClause('limit', limit + 1)} ${literalClause('offset', skipped)}`,
  );

  async function countRows(): Promise<PageRow> {
    const [row] = await rowsOf<PageRow>(
      tx,
      sql`select ${total} as total, ${version ?? sql`null`} as version`,
    );
    return row as PageRow;
  }

  /** Takes the total from the first row. Counts the rows if the cached total is outdated, or a later page is empty. */
  async function totalOf(): Promise<Partial<PageRow>> {
    const [row] = rows;
    if (!row) return after || skipped > 0 ? countRows() : { total: 0 };
    return cachedTotal && cachedTotal.version !== row.version ? countRows() : row;
  }

  const counts = await totalOf();
  if (totalsKey !== undefined && counts.total !== undefined && counts.version) {
    totalsBy?.totals.set(totalsKey, { count: counts.total, version: counts.version });
  }
  const items = rows.slice(0, limit).map(reader.row);
  const hasNextPage = rows.length > limit;
  const last = rows[limit - 1];
  const nextCursor =
    hasNextPage && last ? cursors.seal({ value: last.cursor_value, id: last.cursor_id }, binding) : null;
  return { items, totalCount: counts.total ?? cachedTotal?.count ?? 0, hasNextPage, nextCursor };
}

interface OwnRows<E extends AnyEntity> {
  readonly entity: E;
  /** The name of the list operation. Cursors are bound to it. */
  readonly list: string;
  readonly input: ListInput;
  readonly userId: string;
  readonly filters?: readonly (SQL | undefined)[];
}

/**
 * Reads a page of the rows with this `user_id`, without a scope. The cursor is bound to the user. For entities without
 * computed fields, search and tags.
 *
 * @throws VALIDATION_ERROR, INVALID_CURSOR
 */
export function pageOfOwn<E extends AnyEntity>(
  tx: Executor,
  cursors: Cursors,
  { entity, list, input, userId, filters = [] }: OwnRows<E>,
): Promise<Page<E['table']['$inferSelect']>> {
  const { ids } = input;
  const idFilter = ids && (ids.length > 0 ? inArray(column(entity, 'id'), [...ids]) : sql`false`);
  return readPage(tx, cursors, {
    entity,
    reader: rowReader(entity, null),
    sortBy: (field) => column(entity, field),
    alternatives: [eq(column(entity, 'userId'), userId)],
    where: and(idFilter, ...filters),
    cursorBinding: [list, userId],
    input,
  });
}
