import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { fail } from '../errors.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { openConnections } from './connections.ts';
import { lockDataDirectory } from './data-lock.ts';
import { withDeferredResults, type Transaction } from './deferred.ts';
import { isBeyondPolicy, pgCode } from './pg-error.ts';
import { createRls, noRls, type RowLevelSecurity } from './rls.ts';

/**
 * One dialect, two homes: PostgreSQL in this process (embedded, one process per data directory) or a
 * PostgreSQL server (`DATABASE_URL`, any number of processes).
 */
export interface Database {
  readonly mode: 'embedded' | 'postgres';
  readonly pool: Executor;
  /** Serialization failures and deadlocks are tried again, three times at most. */
  readonly transaction: Transaction;
  /** How to reach the server as the user of its address, for a client outside the pool; null when embedded. */
  readonly connection: pg.ClientConfig | null;
  /** What keeps the statements of a scope from the rows of others. */
  readonly rls: RowLevelSecurity;
  /**
   * PostgreSQL only, before the first connection is open: the pool works as this role (src/db/app-role.ts; null: as the
   * user of the address), and statements of a scope under row-level security, if the server has it.
   */
  workAs?(role: string | null, secured: boolean): void;
  /** PostgreSQL only: the pool as it is now. */
  connections?(): { readonly open: number; readonly idle: number; readonly waiting: number };
  /** Embedded only: the database as an archive, from which tests start others. */
  dump?(): Promise<Blob>;
  close(): Promise<void>;
}

export interface PostgresOptions {
  readonly url: string;
  readonly poolMax: number;
  /** For a connection to the server to be made. */
  readonly acquireTimeoutMs: number;
  /** For a connection of a pool that is busy. */
  readonly maxWaitMs: number;
  readonly statementTimeoutMs: number;
  readonly onIdleError: (error: Error) => void;
  readonly onStatement?: OnStatement | undefined;
}

/** Hears every statement, without its values. */
export type OnStatement = (text: string) => void;

export function openPostgres(options: PostgresOptions): Database {
  const { acquireTimeoutMs, statementTimeoutMs, onStatement = () => undefined, ...rest } = options;
  const connection: pg.ClientConfig = {
    connectionString: options.url,
    statement_timeout: statementTimeoutMs,
    // A server that went away must not hold a request: the client gives up a little later than the server.
    query_timeout: statementTimeoutMs + 1000,
    connectionTimeoutMillis: acquireTimeoutMs,
    application_name: 'doorward',
  };
  let service: string | null = null;
  const { pool, executor, transaction, readWith } = openConnections(
    { ...rest, config: connection, connectTimeoutMs: acquireTimeoutMs, onStatement },
    async (client) => {
      if (service !== null) await client.query(`set role ${pg.escapeIdentifier(service)}`);
    },
  );
  let rls = noRls(executor);
  const whole = withDeferredResults(transaction);
  return {
    mode: 'postgres',
    pool: executor,
    get rls() {
      return rls;
    },
    connection,
    workAs(role, secured) {
      if (pool.totalCount > 0) throw new Error('a connection is open already, and works as another role');
      service = role;
      rls = secured ? createRls(role, executor, readWith) : noRls(executor);
    },
    connections: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    transaction: (work) => retried(() => whole(work)),
    close: () => pool.end(),
  };
}

/** `directory` null: in memory, for tests. `archive`: a dump to start from. */
export async function openEmbedded(
  directory: string | null,
  archive?: Blob,
  onStatement?: OnStatement,
): Promise<Database> {
  let release = async (): Promise<void> => undefined;
  if (directory !== null) {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    release = await lockDataDirectory(directory);
  }
  // Half a megabyte of text that a process on a server never needs.
  const { PGlite } = await import('@electric-sql/pglite');
  const { drizzle: drizzlePglite } = await import('drizzle-orm/pglite');
  const client = await PGlite.create({
    ...(directory === null ? {} : { dataDir: join(directory, 'database') }),
    ...(archive ? { loadDataDir: archive } : {}),
  });
  const logger = onStatement ? { logQuery: onStatement } : false;
  const db = drizzlePglite({ client, logger }) as unknown as Executor;
  return {
    mode: 'embedded',
    pool: db,
    rls: noRls(db),
    connection: null,
    transaction: (work) => retried(() => db.transaction((tx) => work(tx as unknown as Executor))),
    dump: () => client.dumpDataDir('gzip'),
    async close() {
      await client.close();
      await release();
    },
  };
}

const LAST_OWNER = 'DW001';
const retryable = new Set(['40001', '40P01']);

/** Whether nothing is wrong but the moment: the same transaction may go through when it is run again. */
export const isRetryable = (error: unknown): boolean => retryable.has(pgCode(error) ?? '');

async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      // The database's own rule, whatever the path that ran into it (migrations/0002).
      if (pgCode(error) === LAST_OWNER) throw fail('LAST_OWNER', { cause: error });
      // To whoever asks, a row of another tenant is the same as no row.
      if (isBeyondPolicy(error)) throw fail('NOT_FOUND', { cause: error });
      if (attempt > 3 || !isRetryable(error)) throw error;
    }
  }
}
