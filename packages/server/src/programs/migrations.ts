import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import type { Config } from '../config/config.ts';
import { prepareDatabase } from '../db/preparation/migrate.ts';
import { rowsOf } from '../db/statements/rows.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { openWritable } from './open-writable.ts';
import { withReadOnly } from './read-only.ts';

/** Thrown if the database has migrations that this program does not contain. */
class NewerDatabase extends Error {
  override readonly name = 'NewerDatabase';
}

interface Migration {
  readonly name: string;
  readonly state: 'applied' | 'pending';
}

/** The migrations of this program, oldest first, and how many applied migrations it does not know. */
export interface MigrationReport {
  readonly migrations: readonly Migration[];
  readonly unknown: number;
  /** Messages about protections of the database that could not be set up. */
  readonly warnings: readonly string[];
}

const migrationsFolder = join(import.meta.dirname, '..', 'migrations');

export async function readMigrations(config: Config): Promise<MigrationReport> {
  return withReadOnly(config, (read) => (read ? read(migrationsOf) : migrationsOf(null)));
}

/** @param db null if there is no database yet */
export async function migrationsOf(db: Executor | null): Promise<MigrationReport> {
  const applied = new Set(db ? await appliedAt(db) : []);
  const own = await journal();
  const migrations = stateOf(own, ({ when }) => applied.has(when));
  const unknown = [...applied].filter((time) => !own.some(({ when }) => when === time)).length;
  return { migrations, unknown, warnings: [] };
}

/**
 * Applies the pending migrations, under the lock that a starting process takes too. Rows that the program itself
 * defines, such as built-in roles, are written by the next start.
 */
export async function migrateDatabase(config: Config): Promise<MigrationReport> {
  const { unknown } = await readMigrations(config);
  if (unknown > 0)
    throw new NewerDatabase(
      `The database has ${unknown} migrations that this version does not know: a newer version has used it.`,
    );
  const database = await openWritable(config);
  try {
    const warnings = await prepareDatabase(database, migrationsFolder, async () => undefined);
    // Not read from the database again: connections of the pool have a role that may not read the applied migrations.
    return { migrations: stateOf(await journal(), () => true), unknown: 0, warnings };
  } finally {
    await database.close();
  }
}

/** The time of a migration identifies it, in the journal and in the database. */
interface Entry {
  readonly tag: string;
  readonly when: number;
}

async function journal(): Promise<readonly Entry[]> {
  const text = await readFile(join(migrationsFolder, 'meta/_journal.json'), 'utf8');
  return (JSON.parse(text) as { entries: Entry[] }).entries;
}

const stateOf = (own: readonly Entry[], isApplied: (entry: Entry) => boolean): Migration[] =>
  own.map((entry) => ({ name: entry.tag, state: isApplied(entry) ? 'applied' : 'pending' }));

async function appliedAt(db: Executor): Promise<number[]> {
  const [table] = await rowsOf<{ name: string | null }>(
    db,
    sql`select to_regclass('drizzle.__drizzle_migrations')::text as name`,
  );
  if (!table || table.name === null) return [];
  const rows = await rowsOf<{ at: string }>(
    db,
    sql`select created_at::text as at from drizzle.__drizzle_migrations order by created_at`,
  );
  return rows.map(({ at }) => Number(at));
}
