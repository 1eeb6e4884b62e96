import { drizzle as drizzlePg } from 'drizzle-orm/node-postgres';
import { migrate as migratePg } from 'drizzle-orm/node-postgres/migrator';
import pg from 'pg';
import type { Executor } from '../../kernel/scoped-db.ts';
import { privilegeErrorOf, prepareAppRole } from '../tenancy/app-role.ts';
import type { Database } from '../connection/open.ts';
import { prepareTenantRole } from '../tenancy/tenant-role.ts';
import { connectTo, preparationFault } from './database-unusable.ts';
import { assertRequirements } from './database-requirements.ts';
import { assertSessionPooling } from './session-pooling.ts';
import { SESSION_SETTINGS } from '../statements/session-settings.ts';

/** The advisory lock under which one process at a time prepares a database. */
const PREPARATION_LOCK = 7_363_027_451;

/**
 * Migrates the schema and runs `seed`, once, even if several processes start together. A session-level advisory lock
 * protects both, because Drizzle's migrator takes no lock. Uses a separate connection without the statement time-out of
 * requests.
 *
 * On a PostgreSQL server the pool then uses the service role, and operations of a scope use the tenant role with
 * row-level security.
 *
 * @throws DatabaseUnusable
 * @returns warnings about protections that could not be set up; empty for the embedded database, which has one user
 */
export async function prepareDatabase(
  database: Database,
  migrationsFolder: string | null,
  seed: (db: Executor) => Promise<void>,
): Promise<readonly string[]> {
  if (database.connection === null) {
    const db = database.pool;
    // The migrator uses only what both drivers have, but its type names one of them.
    if (migrationsFolder) await migratePg(db as never, { migrationsFolder });
    await seed(db);
    return [];
  }
  const client = new pg.Client({
    ...database.connection,
    query_timeout: 0,
    application_name: 'doorward migration',
  });
  await connectTo(client);
  try {
    await assertSessionPooling(client, database.connection);
    // The driver sends no `statement_timeout` of 0, so a default for the user would cancel a long migration.
    await client.query('set statement_timeout = 0');
    await client.query(SESSION_SETTINGS);
    await client.query('select pg_advisory_lock($1)', [PREPARATION_LOCK]);
    const shortcomings = await assertRequirements(client);
    const db = drizzlePg(client);
    if (migrationsFolder) await migratePg(db, { migrationsFolder });
    await seed(db);
    const { role, missingPrivilege } = await prepareAppRole(client);
    const withoutPolicies =
      missingPrivilege ?? (await prepareTenantRole(client).then(() => null, privilegeErrorOf));
    database.useRole?.(role, withoutPolicies === null);
    return [
      ...shortcomings,
      ...(missingPrivilege === null
        ? []
        : [`only triggers protect the audit log, not privileges: ${missingPrivilege}`]),
      ...(withoutPolicies === null
        ? []
        : [`only the conditions of statements separate tenants, not row-level security: ${withoutPolicies}`]),
    ];
  } catch (error) {
    throw preparationFault(error, client);
  } finally {
    // Closing the connection also releases the lock.
    await client.end();
  }
}
