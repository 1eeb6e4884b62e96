import { cp, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { drizzle } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import type { Config } from '../config/config.ts';
import { assertNotInUse } from '../db/connection/data-lock.ts';
import { connectTo } from '../db/preparation/database-unusable.ts';
import { openEmbedded } from '../db/connection/open.ts';
import { TRANSACTION_SETTINGS } from '../db/statements/session-settings.ts';
import type { Executor } from '../kernel/scoped-db.ts';

/** Runs a function on the database; on a server, in a read-only transaction of its own. */
type Read = <T>(look: (db: Executor) => Promise<T>) => Promise<T>;

/**
 * Runs `work` on a database that it cannot change. Opening the embedded database writes to its files, so a temporary
 * copy of them is opened.
 *
 * @param work gets null if no database exists yet
 * @throws DataDirectoryInUse, DatabaseUnusable
 */
export async function withReadOnly<T>(
  { database, dataDir }: Config,
  work: (read: Read | null, client: pg.Client | null) => Promise<T>,
): Promise<T> {
  if (database.url === undefined) return withCopy(dataDir, (read) => work(read, null));
  const client = new pg.Client({
    connectionString: database.url,
    connectionTimeoutMillis: database.acquireTimeoutMs,
    statement_timeout: database.statementTimeoutMs,
    application_name: 'doorward doctor',
  });
  client.on('error', () => undefined);
  await connectTo(client);
  const db = drizzle(client) as Executor;
  // Set for each transaction and not for the session, because a pooler would hand the session to other clients.
  const read: Read = async (look) => {
    await client.query(`begin transaction read only; ${TRANSACTION_SETTINGS}`);
    try {
      return await look(db);
    } finally {
      await client.query('rollback');
    }
  };
  try {
    return await work(read, client);
  } finally {
    await client.end();
  }
}

async function withCopy<T>(dataDir: string, work: (read: Read | null) => Promise<T>): Promise<T> {
  await assertNotInUse(dataDir);
  const files = join(dataDir, 'database');
  if (!(await stat(files).catch(() => null))) return work(null);
  const copy = await mkdtemp(join(tmpdir(), 'doorward-'));
  try {
    await cp(files, join(copy, 'database'), { recursive: true });
    const database = await openEmbedded(copy);
    try {
      return await work((look) => look(database.pool));
    } finally {
      await database.close();
    }
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}
