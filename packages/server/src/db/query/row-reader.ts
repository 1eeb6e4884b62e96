import { getTableName, sql, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { AnyEntity, ReadContext } from '../../kernel/entity.ts';
import { expression } from './entity-columns.ts';

type Row = Record<string, unknown>;

export interface RowReader {
  /** The select list: columns by their database names, computed fields by their TypeScript names. */
  readonly selected: SQL;
  /** Decodes a row of the driver. Omits everything that `selected` does not contain. */
  readonly row: (driverRow: Readonly<Row>) => Row;
}

interface Columns {
  readonly text: SQL;
  readonly members: readonly Member[];
}

interface Member {
  readonly member: string;
  /** The name in the driver's row. */
  readonly name: string;
  /** Null if the driver's value is used as it is. */
  readonly decode: ((value: unknown) => unknown) | null;
}

const columnsByEntity = new WeakMap<AnyEntity, Columns>();

/**
 * Returns the reader that decodes rows of an entity's lists. Drizzle builds the selection for every statement and looks
 * up the column type for every value, which takes longer than the rest of a list. Here the selection and the decoders
 * of an entity are computed once.
 *
 * `at`: scope and time for computed fields; null for no computed fields.
 */
export function rowReader(entity: AnyEntity, at: ReadContext | null): RowReader {
  const { text, members } = columnsFor(entity);
  const computed = at ? Object.keys(entity.computed) : [];
  const computedColumns = computed.map(
    (name) => sql`, ${expression(entity, name, at as ReadContext)} as ${sql.identifier(name)}`,
  );
  return {
    selected: computedColumns.length > 0 ? sql.join([text, ...computedColumns]) : text,
    row(driverRow) {
      const row: Row = {};
      for (const { member, name, decode } of members) {
        const value = driverRow[name];
        row[member] = decode === null || value === null ? value : decode(value);
      }
      for (const name of computed) row[name] = driverRow[name];
      return row;
    },
  };
}

function columnsFor(entity: AnyEntity): Columns {
  const cached = columnsByEntity.get(entity);
  if (cached) return cached;
  const columns = Object.entries(entity.columns);
  const columnsOfRow = {
    text: sql.raw(columns.map(([, column]) => `"${getTableName(column.table)}"."${column.name}"`).join(', ')),
    members: columns.map(([member, column]) => ({ member, name: column.name, decode: decoderOf(column) })),
  };
  columnsByEntity.set(entity, columnsOfRow);
  return columnsOfRow;
}

/** Null for text, ids and booleans, which the drivers already return in their final form. */
const decoderOf = (column: PgColumn): Member['decode'] =>
  column.dataType === 'string' || column.dataType === 'boolean'
    ? null
    : (value) => column.mapFromDriverValue(value);
