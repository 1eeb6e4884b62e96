import { drizzle as drizzlePg } from 'drizzle-orm/node-postgres';
import { migrate as migratePg } from 'drizzle-orm/node-postgres/migrator';
import { migrate as migratePglite } from 'drizzle-orm/pglite/migrator';
import pg from 'pg';
import type { Executor } from '../kernel/scoped-db.ts';
import { lackOf, prepareAppRole } from './app-role.ts';
import type { Database } from './open.ts';
import { prepareTenantRole } from './tenant-role.ts';
import { connectTo } from './unusable.ts';
import { assertWholeSessions } from './whole-sessions.ts';

/** Number of the advisory lock under which one process at a time prepares a database. */
const PREPARATION_LOCK = 7_363_027_451;

/**
 * Brings the schema up to date and runs `seed`, once, however many processes start together: the query
 * builder's migrator takes no lock of its own, so a session-level advisory lock is held around both.
 * The connection is one of its own, without the statement time-out that guards requests.
 *
 * On a server the pool then works as a role that has the rights it needs and no more, and operations of a scope as one
 * that row-level security keeps in it.
 *
 * @throws DatabaseUnusable
 * @returns what of this is not so, and why; nothing on the embedded database, which has one user
 */
export async function prepareDatabase(
  database: Database,
  migrationsFolder: string | null,
  seed: (db: Executor) => Promise<void>,
): Promise<readonly string[]> {
  if (database.connection === null) {
    const db = database.pool;
    if (migrationsFolder) await migratePglite(db as never, { migrationsFolder });
    await seed(db);
    return [];
  }
  const client = new pg.Client({
    ...database.connection,
    statement_timeout: 0,
    query_timeout: 0,
    application_name: 'doorward migration',
  });
  await connectTo(client);
  try {
    await assertWholeSessions(client, database.connection);
    await client.query('select pg_advisory_lock($1)', [PREPARATION_LOCK]);
    const db = drizzlePg(client);
    if (migrationsFolder) await migratePg(db, { migrationsFolder });
    await seed(db);
    const { role, lacking } = await prepareAppRole(client);
    const withoutPolicies = lacking ?? (await prepareTenantRole(client).then(() => null, lackOf));
    database.workAs?.(role, withoutPolicies === null);
    return [
      ...(lacking === null ? [] : [`the audit log is kept by triggers alone, and not by rights: ${lacking}`]),
      ...(withoutPolicies === null ? [] : [`tenants are kept apart by statements alone: ${withoutPolicies}`]),
    ];
  } finally {
    // Ending the connection gives the lock back too, whatever happened before.
    await client.end();
  }
}
