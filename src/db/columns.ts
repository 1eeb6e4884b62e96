import {
  check,
  customType,
  foreignKey,
  index,
  jsonb,
  pgTable,
  primaryKey,
  timestamp,
  uuid,
} from 'drizzle-orm/pg-core';
import type { AnyPgColumn, AnyPgTable, PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { getTableColumns, sql, type SQL } from 'drizzle-orm';
import type { AnyEntity, Reading } from '../kernel/entity.ts';
import { nodes, SYSTEM_NODE } from './nodes.ts';

/** Times are kept to the millisecond, so that what a caller reads is what a cursor compares. */
export const time = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'date' });

export const bytea = customType<{ data: Buffer; driverData: Uint8Array }>({
  dataType: () => 'bytea',
  fromDriver: (value) => Buffer.from(value),
});

/** Columns of every noun. */
export const rowColumns = () => ({
  id: uuid('id').primaryKey(),
  createdAt: time('created_at').notNull().defaultNow(),
  updatedAt: time('updated_at').notNull().defaultNow(),
  deletedAt: time('deleted_at'),
});

/** For the purge, which looks for what was deleted long ago among much that lives. */
export const deletedIndex = (table: string, { deletedAt }: { readonly deletedAt: AnyPgColumn }) =>
  index(`${table}_deleted`)
    .on(deletedAt)
    .where(sql`deleted_at is not null`);

/**
 * For lists of a tenant's rows, which may be a million: each order that callers ask for is one index, and a page of it
 * is read from where the cursor stands.
 */
export const listIndexes = (
  table: string,
  columns: { readonly id: AnyPgColumn; readonly tenantId: AnyPgColumn },
  sorted: Readonly<Record<string, AnyPgColumn>>,
) =>
  Object.entries(sorted).map(([name, column]) =>
    index(`${table}_by_${name}`)
      .on(columns.tenantId, column, columns.id)
      .where(sql`deleted_at is null`),
  );

/** The tenant node that owns the row; built-in rows belong to the installation's own node. */
export const tenantColumn = () =>
  uuid('tenant_id')
    .notNull()
    .references(() => nodes.id);

export const metadataColumn = () => jsonb('metadata').$type<Record<string, unknown>>().notNull().default({});

/** A table whose rows can be the end of a composite key: links cannot cross tenants (bar 12). */
type Linkable = AnyPgTable & { readonly id: PgColumn; readonly tenantId?: PgColumn };

/**
 * Many-to-many links inside one tenant. The composite keys make a link across tenants impossible to store;
 * the check lets a tenant's row point at a built-in one. `anyTenant` is for nouns that are shown in more than
 * one scope (a project in its owner's and in its own), where the link belongs to the scope it was made in.
 */
export function links(
  name: string,
  from: { column: string; table: () => Linkable; anyTenant?: true },
  to: { column: string; table: () => Linkable },
) {
  return pgTable(
    name,
    {
      tenantId: tenantColumn(),
      fromId: uuid(from.column).notNull(),
      toId: uuid(to.column).notNull(),
      toTenantId: uuid('to_tenant_id').notNull(),
    },
    (table) => {
      const source = from.table();
      const target = to.table();
      return [
        primaryKey({ columns: [table.tenantId, table.fromId, table.toId] }),
        from.anyTenant
          ? foreignKey({ name: `${name}_from_fk`, columns: [table.fromId], foreignColumns: [source.id] })
          : foreignKey({
              name: `${name}_from_fk`,
              columns: [table.tenantId, table.fromId],
              foreignColumns: [source.tenantId as PgColumn, source.id],
            }),
        foreignKey({
          name: `${name}_to_fk`,
          columns: [table.toTenantId, table.toId],
          foreignColumns: [target.tenantId as PgColumn, target.id],
        }),
        index(`${name}_from`).on(table.fromId),
        index(`${name}_to`).on(table.toId),
        check(
          `${name}_one_tenant`,
          sql`${table.toTenantId} = ${table.tenantId} or ${table.toTenantId} = ${sql.raw(`'${SYSTEM_NODE}'`)}`,
        ),
      ];
    },
  );
}

/** Columns of any table by their names in TypeScript. */
export const columnsOf = (table: PgTable): Record<string, PgColumn> => getTableColumns(table);

/** A column that the noun must have; a wrong name is a mistake in a declaration and stops the start. */
export function column(entity: AnyEntity, name: string): PgColumn {
  const found = entity.columns[name];
  if (!found) throw new Error(`${entity.name} has no column ${name}`);
  return found;
}

/** A column or a computed field, for lists that are searched or sorted by it. */
export function expression(entity: AnyEntity, name: string, at: Reading): PgColumn | SQL {
  const computed = entity.computed[name];
  if (!computed) return column(entity, name);
  return typeof computed === 'function' ? computed(at) : computed;
}

/** What a statement reads of a noun: its columns and its computed fields. */
export const selectionOf = (entity: AnyEntity, at: Reading): Record<string, PgColumn | SQL.Aliased> => ({
  ...entity.columns,
  ...Object.fromEntries(
    Object.keys(entity.computed).map((name) => [name, sql`${expression(entity, name, at)}`.as(name)]),
  ),
});
