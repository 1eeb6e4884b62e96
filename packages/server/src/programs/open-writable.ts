import type { Config } from '../config/config.ts';
import { openEmbedded, openPostgres, type Database } from '../db/connection/open.ts';

/** Opens the database with a single connection. @throws DataDirectoryInUse, DatabaseUnusable */
export async function openWritable({ database, dataDir, overload }: Config): Promise<Database> {
  if (database.url === undefined) return openEmbedded(dataDir);
  const { url, acquireTimeoutMs, statementTimeoutMs } = database;
  return openPostgres({
    ...{ url, poolMax: 1, acquireTimeoutMs, statementTimeoutMs, maxWaitMs: overload.maxWaitMs },
    onIdleError: () => undefined,
  });
}
