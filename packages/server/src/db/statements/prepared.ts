import type { SQL } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import { createHash } from 'node:crypto';
import pg from 'pg';
import type { Executor } from '../../kernel/scoped-db.ts';
import { rowsOf } from './rows.ts';

/*
 * Prepared statements for raw SQL, which Drizzle cannot name. PostgreSQL parses a named statement once per connection
 * and may cache its plan; for a list with relations, parsing and planning cost more than reading. Row-level security
 * also applies to cached plans, because its policies read the session settings when the statement runs.
 */

type Send = (query: pg.QueryConfig) => Promise<pg.QueryResult>;

const senders = new WeakMap<Executor, Send>();

/** Enables prepared statements for this executor. */
export const nameStatements = (executor: Executor, send: Send): void => void senders.set(executor, send);

const dialect = new PgDialect();
const names = new Map<string, string>();
/**
 * Limits the memory, because each connection stores every prepared statement. Further statements stay unnamed, which is
 * only slower.
 */
const MAX_NAMES = 200;

function nameOf(text: string): string | undefined {
  const name = names.get(text);
  if (name !== undefined || names.size >= MAX_NAMES) return name;
  const fresh = createHash('sha256').update(text).digest('base64url');
  names.set(text, fresh);
  return fresh;
}

/**
 * Like `rowsOf`, but as a prepared statement on a PostgreSQL server. Only for statements whose text does not depend on
 * the request: everything that differs between two calls must be a parameter.
 */
export async function preparedRowsOf<T extends object>(db: Executor, statement: SQL): Promise<T[]> {
  const send = senders.get(db);
  if (!send) return rowsOf<T>(db, statement);
  const { sql: text, params: values } = dialect.sqlToQuery(statement);
  const { rows } = await send({ name: nameOf(text), text, values, types });
  return rows as T[];
}

/** Times stay text, as in Drizzle. */
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
