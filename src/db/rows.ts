import { sql, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Executor } from '../kernel/scoped-db.ts';

/**
 * Rows of a statement that is written out, for the joins and trees that a builder would only obscure. `T` says what
 * the statement selects. Times come as text from one driver and as Date from the other: see `instant`.
 */
export async function rowsOf<T extends object>(db: Executor, statement: SQL): Promise<T[]> {
  const result: unknown = await db.execute(statement);
  return (result as { rows: T[] }).rows;
}

/** A time of such a row. */
export const instant = (value: string | Date): Date => new Date(value);

/** What stands behind `in`: ids, or nothing at all, which nothing is equal to. */
export const idList = (ids: readonly string[]): SQL =>
  ids.length === 0
    ? sql`(null::uuid)`
    : sql`(${sql.join(
        ids.map((id) => sql`${id}::uuid`),
        sql`, `,
      )})`;

/**
 * Stands behind `=`. One parameter, so one text however many ids: fifty would be most of what building, sending and reading
 * a statement costs.
 */
export const anyOf = (ids: readonly string[]): SQL => sql`any(${`{${ids.join()}}`}::uuid[])`;

export const isAnyOf = (what: PgColumn, ids: readonly string[]): SQL => sql`${what} = ${anyOf(ids)}`;
