import { getTableColumns, sql, type SQL } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';

/*
 * Passes any number of rows as one parameter. With one parameter per value, the statement text would differ for each
 * number of rows, and building, sending and parsing it would cost more than running it.
 */

/**
 * `rows` as a table in a FROM clause, for example `item(id uuid, position int)`. Members must be named like the
 * columns.
 */
export const recordset = (rows: readonly object[], as: string): SQL =>
  sql`json_to_recordset(${JSON.stringify(rows)}::json) as ${sql.raw(as)}`;

/**
 * The columns of a table, for INSERT … SELECT from a recordset with the alias `fresh`. Columns in `without` keep their
 * default. Columns in `fixed` are set for new rows only.
 *
 * @example sql`insert into ${table} (${names}) select ${names} from ${from(rows)}`
 */
export function insertion<T extends PgTable>(
  table: T,
  without: readonly (keyof T['_']['columns'])[] = [],
  fixed: readonly (keyof T['_']['columns'])[] = [],
) {
  const columns = Object.entries(getTableColumns(table))
    .filter(([key]) => !without.includes(key))
    .map(([key, column]) => ({ key, name: column.name, type: column.getSQLType() }));
  const names = sql.raw(columns.map(({ name }) => `"${name}"`).join(', '));
  const definition = columns.map(({ name, type }) => `"${name}" ${type}`).join(', ');
  function byColumnName(row: Readonly<Record<string, unknown>>): object {
    const byName: Record<string, unknown> = {};
    for (const { key, name } of columns) byName[name] = row[key] ?? null;
    return byName;
  }
  return {
    names,
    /** For `on conflict (id) do update set`: every column except the key, the tenant and the `fixed` columns. */
    updates: sql.raw(
      columns
        .filter(({ key, name }) => name !== 'id' && name !== 'tenant_id' && !fixed.includes(key))
        .map(({ name }) => `"${name}" = excluded."${name}"`)
        .join(', '),
    ),
    from: (rows: readonly T['$inferInsert'][]): SQL =>
      recordset(rows.map(byColumnName), `fresh(${definition})`),
  };
}
