import { LRUCache } from 'lru-cache';
import { createHash } from 'node:crypto';
import type pg from 'pg';

/**
 * Names for statements that come again and again. PostgreSQL parses and plans what has a name once for a connection, where
 * to plan a list with its relations costs it more than to read it. Whether one plan is good for all values is its own
 * judgement, made for each statement from what both would cost.
 *
 * A name is given for good, because each connection keeps what has one, and so to few texts only: those that come often.
 */
export type StatementNames = (text: string) => string | undefined;

const MOST = 100;
/** So often has a text to come, among the last thousand different ones, before it is named. */
const OFTEN = 20;
const REMEMBERED = 1000;

export function createStatementNames(): StatementNames {
  const names = new Map<string, string>();
  const seen = new LRUCache<string, number>({ max: REMEMBERED });
  return (text) => {
    const known = names.get(text);
    if (known !== undefined || names.size >= MOST) return known;
    const times = (seen.get(text) ?? 0) + 1;
    if (times < OFTEN) return void seen.set(text, times);
    seen.delete(text);
    const name = createHash('sha256').update(text).digest('base64url');
    names.set(text, name);
    return name;
  };
}

/** From now on, whatever the query builder asks of this connection. */
export function nameStatements(client: pg.ClientBase, nameOf: StatementNames): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  const named = (statement: unknown, ...rest: unknown[]): unknown => {
    const name = isNameless(statement) ? nameOf(statement.text) : undefined;
    return query(name === undefined ? statement : { ...(statement as object), name }, ...rest);
  };
  client.query = named as typeof client.query;
}

/** As the query builder writes it: neither bare text nor what puts itself on the line, like a cursor. */
const isNameless = (statement: unknown): statement is pg.QueryConfig & { readonly text: string } =>
  typeof statement === 'object' &&
  statement !== null &&
  'text' in statement &&
  typeof statement.text === 'string' &&
  !('name' in statement && statement.name) &&
  !('submit' in statement);
