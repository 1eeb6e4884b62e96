import type { SQL } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import { createHash } from 'node:crypto';
import pg from 'pg';
import type { Executor } from '../kernel/scoped-db.ts';
import { rowsOf } from './rows.ts';

/**
 * Prepared statements for SQL that is written out, which the query builder cannot name. PostgreSQL parses what has a name
 * once for a connection and may keep its plan; of a list with its relations parsing and planning is more than reading.
 * The policies of row-level security hold in a plan that is kept: what they ask is asked when it runs.
 */
type Send = (query: pg.QueryConfig) => Promise<pg.QueryResult>;

const senders = new WeakMap<Executor, Send>();

/** From now on statements of this executor can have names. */
export const nameStatements = (executor: Executor, send: Send): void => void senders.set(executor, send);

const dialect = new PgDialect();
const names = new Map<string, string>();
/** A connection keeps each; what comes later has no name, and is no more than slower. */
const MAX_NAMES = 200;

function nameOf(text: string): string | undefined {
  const name = names.get(text);
  if (name !== undefined || names.size >= MAX_NAMES) return name;
  const fresh = createHash('sha256').update(text).digest('base64url');
  names.set(text, fresh);
  return fresh;
}

/**
 * As `rowsOf`, by a prepared statement on PostgreSQL. For statements that callers cannot vary: what differs between two
 * calls is a parameter.
 */
export async function preparedRowsOf<T extends object>(db: Executor, statement: SQL): Promise<T[]> {
  const send = senders.get(db);
  if (!send) return rowsOf<T>(db, statement);
  const { sql: text, params: values } = dialect.sqlToQuery(statement);
  const { rows } = await send({ name: nameOf(text), text, values, types });
  return rows as T[];
}

/** Times stay text, as the query builder leaves them. */
const times = new Set<number>([
  pg.types.builtins.TIMESTAMPTZ,
  pg.types.builtins.TIMESTAMP,
  pg.types.builtins.DATE,
]);
const asText = (value: string): string => value;
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number): ((value: string) => unknown) =>
    times.has(oid) ? asText : (pg.types.getTypeParser(oid) as (value: string) => unknown),
};
