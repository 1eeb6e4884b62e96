import { and, asc, desc, eq, inArray, sql, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { fail } from '../errors.ts';
import type { AnyEntity } from '../kernel/entity.ts';
import type { Executor, ListInput, Page } from '../kernel/scoped-db.ts';
import { column } from './columns.ts';
import type { Cursors } from './cursor.ts';
import { sortable } from './listing.ts';

/** One page of rows (conventions §7), whoever they belong to: a scope (scoped-db.ts) or the caller (`pageOfOwn`). */
type Row = Record<string, unknown>;

interface Listing {
  readonly entity: AnyEntity;
  readonly select: Record<string, PgColumn | SQL.Aliased>;
  readonly sortBy: (field: string) => PgColumn | SQL;
  /** Whose rows, and which of them. */
  readonly where: SQL | undefined;
  /** What a cursor is good for, beside the list's own parameters: operation, caller, scope. */
  readonly boundTo: readonly unknown[];
  readonly input: ListInput;
}

/** @throws VALIDATION_ERROR for a page together with a cursor, INVALID_CURSOR */
export async function readPage(
  tx: Executor,
  cursors: Cursors,
  { entity, select, sortBy, where, boundTo, input }: Listing,
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
  const [counted] = (await tx
    .select({ count: sql<number>`count(*)::int` })
    .from(entity.table)
    .where(where)) as { count: number }[];
  const rows = (await tx
    .select({ ...select, cursorValue: sql<string>`(${sorted})::text` })
    .from(entity.table)
    .where(and(where, past))
    .orderBy(order(sorted), order(id))
    .limit(limit + 1)
    .offset(after ? 0 : ((page ?? 1) - 1) * limit)) as (Row & { cursorValue: string })[];
  const hasNextPage = rows.length > limit;
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const nextCursor =
    hasNextPage && last ? cursors.seal({ value: last.cursorValue, id: last['id'] as string }, binding) : null;
  return { items, totalCount: counted?.count ?? 0, hasNextPage, nextCursor };
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
    select: { ...entity.columns },
    sortBy: (field) => column(entity, field),
    where: and(eq(column(entity, 'userId'), userId), named, ...filters),
    boundTo: [list, userId],
    input,
  });
}
