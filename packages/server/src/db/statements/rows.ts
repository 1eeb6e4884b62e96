import { sql, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Executor } from '../../kernel/scoped-db.ts';

/**
 * Returns the rows of a raw SQL statement, for joins and trees that a query builder would obscure. `T` describes the
 * selection. One driver returns times as text and the other as Date; see `instant`.
 */
export async function rowsOf<T extends object>(db: Executor, statement: SQL): Promise<T[]> {
  const result: unknown = await db.execute(statement);
  return (result as { rows: T[] }).rows;
}

/** Converts a time in a row of `rowsOf`. */
export const instant = (value: string | Date): Date => new Date(value);

/** The right side of `in`. An empty list matches no row. */
export const idList = (ids: readonly string[]): SQL =>
  ids.length === 0
    ? sql`(null::uuid)`
    : sql`(${sql.join(
        ids.map((id) => sql`${id}::uuid`),
        sql`, `,
      )})`;

/**
 * The right side of `=`. Passes all ids as one parameter, so that the text of the statement does not depend on their
 * number: with fifty parameters, building, sending and parsing the statement would take most of its time.
 */
export const anyOf = (ids: readonly string[]): SQL => sql`any(${`{${ids.join()}}`}::uuid[])`;

export const isAnyOf = (what: PgColumn, ids: readonly string[]): SQL => sql`${what} = ${anyOf(ids)}`;
