import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';

/** Every row of a database, as an upgrade must leave it. */

/** By table: rows as JSON, column by column. */
export type StoredRows = ReadonlyMap<string, readonly Readonly<Record<string, unknown>>[]>;

type Query = (statement: string) => Promise<Record<string, unknown>[]>;

async function rowsOf(query: Query): Promise<StoredRows> {
  const tables = await query(
    `select table_name as name from information_schema.tables
     where table_schema = 'public' and table_type = 'BASE TABLE' order by table_name`,
  );
  const stored = new Map<string, Record<string, unknown>[]>();
  for (const { name } of tables as { name: string }[]) {
    const rows = await query(`select to_jsonb(t) as row from "${name}" t`);
    stored.set(
      name,
      rows.map(({ row }) => row as Record<string, unknown>),
    );
  }
  return stored;
}

/** Of an embedded database that no process uses. */
export async function embeddedRows(dataDir: string): Promise<StoredRows> {
  const client = await PGlite.create({ dataDir: join(dataDir, 'database') });
  try {
    return await rowsOf(async (statement) => (await client.query<Record<string, unknown>>(statement)).rows);
  } finally {
    await client.close();
  }
}

export async function postgresRows(url: string): Promise<StoredRows> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await rowsOf(async (statement) => (await client.query<Record<string, unknown>>(statement)).rows);
  } finally {
    await client.end();
  }
}

/** The rows of `before` that are not in `after`, by the columns that they had before: `table: row`. */
export function lostRows(before: StoredRows, after: StoredRows): string[] {
  return [...before].flatMap(([table, rows]) => {
    const columns = Object.keys(rows[0] ?? {});
    const textOf = (row: Readonly<Record<string, unknown>>) =>
      JSON.stringify(columns.map((column) => row[column]));
    const left = new Map<string, number>();
    for (const row of after.get(table) ?? []) left.set(textOf(row), (left.get(textOf(row)) ?? 0) + 1);
    return rows
      .filter((row) => {
        const count = left.get(textOf(row)) ?? 0;
        left.set(textOf(row), count - 1);
        return count < 1;
      })
      .map((row) => `${table}: ${JSON.stringify(row)}`);
  });
}
