import { readFileSync } from 'node:fs';
import { inject } from 'vitest';
import { sql } from 'drizzle-orm';
import { openEmbedded, type Database } from '../../../src/db/connection/open.ts';
import { rowsOf } from '../../../src/db/statements/rows.ts';
import type { Executor } from '../../../src/kernel/scoped-db.ts';
import { preparedFiles } from './prepared-files.ts';

/** An embedded database that the services of a worker use in turn. */
interface Reusable {
  readonly database: Database;
  readonly statements: string[];
  /** Whether a test added or changed tables, triggers or settings. */
  isAltered: boolean;
}

/** Idle databases to keep, at about 100 MB each. */
const MOST_IDLE = 2;
/** Only larger tables are vacuumed: until then, deleted rows keep their space, which is harmless in small tables. */
const LARGE_TABLE_BYTES = 256 * 1024;

const altering = /^\s*(alter|create|drop|grant|revoke)\b/i;

const idle: Reusable[] = [];

/**
 * An embedded database with the rows of the prepared one, or with those of another database. A new instance takes a
 * second of CPU time, mostly for garbage collection, because it reserves 128 MB. So a closed one is kept
 * for the worker's next service, and only its rows are replaced, which takes a twentieth of that.
 */
export async function embeddedDatabase(
  rowsOfOther?: Rows,
): Promise<{ readonly database: Database; readonly statements: string[] }> {
  const reusable = (await takeIdle()) ?? (await openReusable());
  const { database, statements } = reusable;
  if (rowsOfOther) await replaceRows(database.pool, rowsOfOther);
  statements.length = 0;
  return { statements, database: { ...database, close: () => keep(reusable) } };
}

async function takeIdle(): Promise<Reusable | undefined> {
  const reusable = idle.pop();
  if (!reusable) return undefined;
  try {
    await replaceRows(reusable.database.pool, preparedRows());
    return reusable;
  } catch {
    // A test left it unusable.
    await reusable.database.close().catch(() => undefined);
    return takeIdle();
  }
}

async function openReusable(): Promise<Reusable> {
  const statements: string[] = [];
  const state = { statements, isAltered: false };
  const database = await openEmbedded(null, preparedFiles(), (text) => {
    statements.push(text);
    state.isAltered ||= altering.test(text);
  });
  return Object.assign(state, { database });
}

async function keep(reusable: Reusable): Promise<void> {
  if (idle.length < MOST_IDLE && !reusable.isAltered) idle.push(reusable);
  else await reusable.database.close();
}

/** Disables triggers and foreign keys, so that the order of the tables doesn't matter. */
async function replaceRows(db: Executor, rows: Rows): Promise<void> {
  await db.execute(sql`reset all`);
  // Cached plans suit the number of rows that the former service had.
  await db.execute(sql`discard plans`);
  const large: string[] = [];
  await db.transaction(async (tx) => {
    await tx.execute(sql`set local session_replication_role = replica`);
    const tables = await rowsOf<{ name: string; isLarge: boolean }>(
      tx,
      sql`select quote_ident(relname) as name, pg_total_relation_size(oid) > ${LARGE_TABLE_BYTES} as "isLarge"
          from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`,
    );
    for (const { name, isLarge } of tables) {
      await tx.execute(sql.raw(`delete from ${name}`));
      if (isLarge) large.push(name);
    }
    for (const [name, json] of Object.entries(rows)) {
      const table = sql.identifier(name);
      await tx.execute(
        sql`insert into ${table} select * from json_populate_recordset(null::${table}, ${json}::json)`,
      );
    }
  });
  if (large.length > 0) await db.execute(sql.raw(`vacuum ${large.join(', ')}`));
}

/** The rows of a database as JSON, by table. */
type Rows = Readonly<Record<string, string>>;

let read: { readonly path: string; readonly rows: Rows } | undefined;

function preparedRows(): Rows {
  const path = inject('preparedRows');
  if (read?.path !== path) read = { path, rows: JSON.parse(readFileSync(path, 'utf8')) as Rows };
  return read.rows;
}

/** Leaves out tables without rows. */
export async function rowsByTable(db: Executor): Promise<Rows> {
  const tables = await rowsOf<{ name: string }>(
    db,
    sql`select tablename as name from pg_tables where schemaname = 'public'`,
  );
  const rows: Record<string, string> = {};
  for (const { name } of tables) {
    const [row] = await rowsOf<{ rows: string | null }>(
      db,
      sql`select json_agg(t)::text as rows from ${sql.identifier(name)} t`,
    );
    if (row?.rows) rows[name] = row.rows;
  }
  return rows;
}
