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
  type AnyPgColumn,
  type AnyPgTable,
  type PgColumn,
} from 'drizzle-orm/pg-core';
import { sql } from 'drizzle-orm';
import { nodes, SYSTEM_NODE } from './nodes.ts';

/** A timestamp with millisecond precision, so that a cursor compares the same value that the caller has read. */
export const time = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'date' });

export const bytea = customType<{ data: Buffer; driverData: Uint8Array }>({
  dataType: () => 'bytea',
  fromDriver: (value) => Buffer.from(value),
});

/** Columns of every entity. */
export const rowColumns = () => ({
  id: uuid('id').primaryKey(),
  createdAt: time('created_at').notNull().defaultNow(),
  updatedAt: time('updated_at').notNull().defaultNow(),
  deletedAt: time('deleted_at'),
});

/** The index for the purge, which searches for a few deleted rows among many live ones. */
export const deletedIndex = (table: string, { deletedAt }: { readonly deletedAt: AnyPgColumn }) =>
  index(`${table}_deleted`)
    .on(deletedAt)
    .where(sql`deleted_at is not null`);

/**
 * Indexes for lists of a tenant's rows, which may number a million: one index per sort order, so that the database
 * reads a page from the position of its cursor.
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

/** The tenant node that owns the row; built-in rows belong to the system node. */
export const tenantColumn = () =>
  uuid('tenant_id')
    .notNull()
    .references(() => nodes.id);

/** Only the id of the table of users, for foreign keys: importing people/user.ts would make a circular import. */
const users = pgTable('users', { id: uuid('id').primaryKey() });

/** The id of a user, or null. */
export const optionalUserColumn = (name = 'user_id') => uuid(name).references(() => users.id);

/** The id of a user, never null. */
export const userColumn = (name = 'user_id') => optionalUserColumn(name).notNull();

export const metadataColumn = () => jsonb('metadata').$type<Record<string, unknown>>().notNull().default({});

/** A table that composite foreign keys of links can refer to, so that links cannot cross tenants. */
type Linkable = AnyPgTable & { readonly id: PgColumn; readonly tenantId?: PgColumn };

/**
 * Creates a table of many-to-many links within one tenant. The composite keys make it impossible to store a link across
 * tenants; the check allows links to built-in rows. `anyTenant` is for entities that are visible in more than one scope
 * (a project in its owner's scope and in its own): such a link belongs to the scope that created it.
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
