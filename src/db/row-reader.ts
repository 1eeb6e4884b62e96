import { getTableName, sql, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { AnyEntity, Reading } from '../kernel/entity.ts';
import { expression } from './columns.ts';

/**
 * Rows of lists, which come by the hundred. The query builder writes what is selected, and asks of every value of every
 * row what kind of column it comes from: that was more than all else that a list did. Here the columns of a noun are
 * written, and the way from a row of the driver to one of ours is found, once.
 */
type Row = Record<string, unknown>;

export interface RowReader {
  /** What a statement selects: columns under their own names, and each computed field under its member's. */
  readonly selected: SQL;
  /** A row of ours of one of the driver; what else the statement selects is left out. */
  readonly row: (found: Readonly<Row>) => Row;
}

interface Columns {
  readonly text: SQL;
  readonly members: readonly Member[];
}

interface Member {
  readonly member: string;
  /** In the row of the driver. */
  readonly name: string;
  /** Null: as the driver gives it. */
  readonly decode: ((value: never) => unknown) | null;
}

const known = new WeakMap<AnyEntity, Columns>();

/** `at`: what computed fields are computed for; null for none of them. */
export function rowReader(entity: AnyEntity, at: Reading | null): RowReader {
  const { text, members } = columnsOnce(entity);
  const computed = at ? Object.keys(entity.computed) : [];
  const written = computed.map(
    (name) => sql`, ${expression(entity, name, at as Reading)} as ${sql.identifier(name)}`,
  );
  return {
    selected: written.length > 0 ? sql.join([text, ...written]) : text,
    row(found) {
      const row: Row = {};
      for (const { member, name, decode } of members) {
        const value = found[name];
        row[member] = decode === null || value === null ? value : decode(value as never);
      }
      for (const name of computed) row[name] = found[name];
      return row;
    },
  };
}

function columnsOnce(entity: AnyEntity): Columns {
  const kept = known.get(entity);
  if (kept) return kept;
  const columns = Object.entries(entity.columns);
  const made = {
    text: sql.raw(columns.map(([, column]) => `"${getTableName(column.table)}"."${column.name}"`).join(', ')),
    members: columns.map(([member, column]) => ({ member, name: column.name, decode: decoderOf(column) })),
  };
  known.set(entity, made);
  return made;
}

/** The drivers give text, ids and truth values as they are. */
const decoderOf = (column: PgColumn): Member['decode'] =>
  column.dataType === 'string' || column.dataType === 'boolean'
    ? null
    : (value) => column.mapFromDriverValue(value);
