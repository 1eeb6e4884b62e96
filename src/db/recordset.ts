import { getTableColumns, sql, type SQL } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';

/**
 * Any number of rows as one parameter. A statement with a parameter for each value is another text for each number of
 * rows, which costs more to write, to send and to parse than what it does.
 */

/** `rows` as a table in a `from`: `asked(id uuid, place int)`; members are named like its columns. */
export const recordset = (rows: readonly object[], as: string): SQL =>
  sql`json_to_recordset(${JSON.stringify(rows)}::json) as ${sql.raw(as)}`;

/**
 * The columns of a table, for rows that are inserted from a recordset, where a row is `fresh`. What `without` names keeps
 * its default.
 *
 * @example sql`insert into ${table} (${names}) select ${names} from ${from(rows)}`
 */
export function insertion<T extends PgTable>(table: T, without: readonly (keyof T['_']['columns'])[] = []) {
  const columns = Object.entries(getTableColumns(table))
    .filter(([key]) => !without.includes(key))
    .map(([key, column]) => ({ key, name: column.name, type: column.getSQLType() }));
  const names = sql.raw(columns.map(({ name }) => `"${name}"`).join(', '));
  const definition = columns.map(({ name, type }) => `"${name}" ${type}`).join(', ');
  function renamed(row: Readonly<Record<string, unknown>>): object {
    const named: Record<string, unknown> = {};
    for (const { key, name } of columns) named[name] = row[key] ?? null;
    return named;
  }
  return {
    names,
    from: (rows: readonly T['$inferInsert'][]): SQL => recordset(rows.map(renamed), `fresh(${definition})`),
  };
}
