import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { getTableColumns, sql, type SQL } from 'drizzle-orm';
import type { AnyEntity, ReadContext } from '../../kernel/entity.ts';

/** Columns of a table by their TypeScript names. */
export const columnsOf = (table: PgTable): Record<string, PgColumn> => getTableColumns(table);

/**
 * Returns a column of an entity. An unknown name is a mistake in a declaration, and prevents the start of the process.
 */
export function column(entity: AnyEntity, name: string): PgColumn {
  const entityColumn = entity.columns[name];
  if (!entityColumn) throw new Error(`${entity.name} has no column ${name}`);
  return entityColumn;
}

/** Returns a column or computed field, for search and sorting. */
export function expression(entity: AnyEntity, name: string, at: ReadContext): PgColumn | SQL {
  const computed = entity.computed[name];
  if (!computed) return column(entity, name);
  return typeof computed === 'function' ? computed(at) : computed;
}

/** The selection of a statement: the columns and computed fields of an entity. */
export const selectionOf = (entity: AnyEntity, at: ReadContext): Record<string, PgColumn | SQL.Aliased> => ({
  ...entity.columns,
  ...Object.fromEntries(
    Object.keys(entity.computed).map((name) => [name, sql`${expression(entity, name, at)}`.as(name)]),
  ),
});
