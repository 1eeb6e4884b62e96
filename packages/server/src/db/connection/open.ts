import type { Filesystem } from '@electric-sql/pglite/basefs';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { fail } from '../../errors.ts';
import { createPauses } from '../../kernel/call/pauses.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { EmbeddedServer } from '../embedded/embedded-server.ts';
import { NamingClient } from '../embedded/named-statements.ts';
import { openConnections } from './connections.ts';
import { fileFault, lockDataDirectory, makeDirectory } from './data-lock.ts';
import { withDeferredResults, type Transaction } from '../statements/deferred-results.ts';
import { isPolicyViolation, pgCode } from '../statements/pg-error.ts';
import { SESSION_SETTINGS } from '../statements/session-settings.ts';
import { createRls, noRls, type RowLevelSecurity } from '../tenancy/rls.ts';

/**
 * The database: PostgreSQL inside this process (embedded, one process per data directory) or a PostgreSQL server
 * (`DATABASE_URL`, any number of processes).
 */
export interface Database {
  readonly mode: 'embedded' | 'postgres';
  readonly pool: Executor;
  /** Retries serialization failures and deadlocks, at most three times. */
  readonly transaction: Transaction;
  /** Connection settings with the user of `DATABASE_URL`, for a client outside the pool; null when embedded. */
  readonly connection: pg.ClientConfig | null;
  /** Restricts statements of a scope to its rows. */
  readonly rls: RowLevelSecurity;
  /**
   * PostgreSQL only; call it before the first connection opens. Sets the role of the pool (src/db/tenancy/app-role.ts;
   * null: the user of `DATABASE_URL`), and whether statements of a scope run under row-level security.
   */
  useRole?(role: string | null, withRls: boolean): void;
  /** PostgreSQL only: the current connections of the pool. */
  connections?(): { readonly open: number; readonly idle: number; readonly waiting: number };
  /** Embedded only: returns the database files as an archive (tar), so that tests can start from it. */
  dump?(): Promise<Uint8Array>;
  close(): Promise<void>;
}

interface PostgresOptions {
  readonly url: string;
  readonly poolMax: number;
  /** Time to open a connection to the server. */
  readonly acquireTimeoutMs: number;
  /** How long to wait for a connection if all are in use. */
  readonly maxWaitMs: number;
  readonly statementTimeoutMs: number;
  readonly onIdleError: (error: Error) => void;
  readonly onStatement?: OnStatement | undefined;
}

/** Called with the text of every statement, without its parameters. */
type OnStatement = (text: string) => void;

export function openPostgres(options: PostgresOptions): Database {
  const { acquireTimeoutMs, statementTimeoutMs, onStatement = () => undefined, ...rest } = options;
  const connection: pg.ClientConfig = {
    connectionString: options.url,
    statement_timeout: statementTimeoutMs,
    // A server that does not respond must not block a request, so the client also has a time-out, a little longer than
    // the server's.
    query_timeout: statementTimeoutMs + 1000,
    connectionTimeoutMillis: acquireTimeoutMs,
    application_name: 'doorward',
  };
  let service: string | null = null;
  const { pool, executor, transaction, readWith } = openConnections(
    { ...rest, config: connection, connectTimeoutMs: acquireTimeoutMs, onStatement },
    async (client) => {
      const role = service === null ? '' : `; set role ${pg.escapeIdentifier(service)}`;
      await client.query(`${SESSION_SETTINGS}${role}`);
    },
  );
  let rls = noRls(executor);
  const transactionWithResults = withDeferredResults(transaction);
  return {
    mode: 'postgres',
    pool: executor,
    get rls() {
      return rls;
    },
    connection,
    useRole(role, withRls) {
      if (pool.totalCount > 0) throw new Error('a connection is open already, and uses another role');
      service = role;
      rls = withRls ? createRls(role, executor, readWith) : noRls(executor);
    },
    connections: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    transaction: (work) => withRetries(() => transactionWithResults(work)),
    close: () => pool.end(),
  };
}

/** How long statements may run back to back before other work of the process gets a tick. */
const LONGEST_STATEMENTS_MS = 50;

/**
 * Opens the embedded database. If `directory` is null, it is in memory, for tests. `prepared`: database files to start
 * from.
 */
export async function openEmbedded(
  directory: string | null,
  prepared?: Filesystem,
  onStatement?: OnStatement,
): Promise<Database> {
  let release = async (): Promise<void> => undefined;
  if (directory !== null) {
    try {
      await makeDirectory(resolve(directory));
      release = await lockDataDirectory(directory);
    } catch (error) {
      throw fileFault(error, 'DATA_DIR', directory);
    }
  }
  // Imported on demand, because a process with a PostgreSQL server never needs this half megabyte of code.
  const { PGlite } = await import('@electric-sql/pglite');
  const server = await PGlite.create({
    // WAL segments of 1 MB instead of 16 MB save most of the memory of each test database.
    ...(directory === null
      ? { initDbStartParams: ['--wal-segsize=1'] }
      : { dataDir: join(directory, 'database') }),
    ...(prepared ? { fs: prepared } : {}),
  });
  const pause = createPauses(LONGEST_STATEMENTS_MS);
  const { pool, executor, transaction } = openConnections(
    {
      // Set explicitly, because environment variables such as PGSSLMODE are meant for a server.
      config: {
        user: 'postgres',
        database: 'postgres',
        ssl: false,
        stream: () => new EmbeddedServer(server, pause),
      },
      Client: NamingClient,
      // The embedded database has a single session, so there is one connection. It stays open, and the next caller
      // waits for it.
      poolMax: 1,
      idleTimeoutMs: 0,
      connectTimeoutMs: 0,
      maxWaitMs: 0,
      onIdleError: () => undefined,
      onStatement: onStatement ?? (() => undefined),
    },
    // Clears the state that a failed connection may have left behind.
    async (client) => {
      await client.query('rollback');
      await client.query('discard all');
    },
  );
  const transactionWithResults = withDeferredResults(transaction);
  return {
    mode: 'embedded',
    pool: executor,
    rls: noRls(executor),
    connection: null,
    transaction: (work) => withRetries(() => transactionWithResults(work)),
    dump: async () => new Uint8Array(await (await server.dumpDataDir('none')).arrayBuffer()),
    async close() {
      await pool.end();
      await server.close();
      await release();
    },
  };
}

const LAST_OWNER = 'DW001';
const retryable = new Set(['40001', '40P01']);

/** Whether running the same transaction again may succeed. */
export const isRetryable = (error: unknown): boolean => retryable.has(pgCode(error) ?? '');

async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      // A trigger enforces this rule for every operation (migrations/0002).
      if (pgCode(error) === LAST_OWNER) throw fail('LAST_OWNER', { cause: error });
      // For the caller, a row of another tenant is indistinguishable from a missing row.
      if (isPolicyViolation(error)) throw fail('NOT_FOUND', { cause: error });
      if (attempt > 3 || !isRetryable(error)) throw error;
    }
  }
}
