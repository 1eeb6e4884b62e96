import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { drizzle as drizzlePg } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import { fail } from '../errors.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { lockDataDirectory } from './data-lock.ts';
import { isBeyondPolicy, pgCode } from './pg-error.ts';
import { sendBeginAlong, sendInOnePiece, waitingAtEnd } from './pipeline.ts';
import { createRls, introduce, noRls, poolAs, serviceIdentity, type RowLevelSecurity } from './rls.ts';
import { createStatementNames, nameStatements } from './statement-names.ts';

/**
 * One dialect, two homes: PostgreSQL in this process (embedded, one process per data directory) or a
 * PostgreSQL server (`DATABASE_URL`, any number of processes).
 */
export interface Database {
  readonly mode: 'embedded' | 'postgres';
  readonly pool: Executor;
  /** Runs work in one transaction; serialization failures and deadlocks are tried again, three times at most. */
  transaction<T>(work: (tx: Executor) => Promise<T>): Promise<T>;
  /** How to reach the server as the user of its address, for a client outside the pool; null when embedded. */
  readonly connection: pg.ClientConfig | null;
  /** What keeps the statements of a scope from the rows of others. */
  readonly rls: RowLevelSecurity;
  /**
   * PostgreSQL only, before the first connection is open: the pool works as this role (src/db/app-role.ts; null: as the
   * user of the address), and statements of a scope behind the second rls, if there is one.
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
  readonly acquireTimeoutMs: number;
  readonly statementTimeoutMs: number;
  readonly onIdleError: (error: Error) => void;
  readonly onStatement?: OnStatement | undefined;
}

/** Hears every statement, without its values. */
export type OnStatement = (text: string) => void;

const logging = (onStatement: OnStatement | undefined) =>
  onStatement ? { logger: { logQuery: onStatement } } : {};

export function openPostgres(options: PostgresOptions): Database {
  const connection: pg.ClientConfig = {
    connectionString: options.url,
    statement_timeout: options.statementTimeoutMs,
    // A server that went away must not hold a request: the client gives up a little later than the server.
    query_timeout: options.statementTimeoutMs + 1000,
    connectionTimeoutMillis: options.acquireTimeoutMs,
    application_name: 'doorward',
  };
  let service = serviceIdentity(null);
  const pool = new pg.Pool({
    ...connection,
    max: options.poolMax,
    pipeline: true,
    idleTimeoutMillis: 30_000,
    // A new connection is handed out when this is done, and closed if it fails: nothing runs with more rights.
    verify: (client, done) => void introduce(client, service).then(() => done(), done),
  });
  // Without a listener a restart of the database would end this process.
  pool.on('error', options.onIdleError);
  const nameOf = createStatementNames();
  pool.on('connect', (client) => {
    // Neither does the pool listen to a connection that is in use. Whoever uses it is told by his next statement.
    client.on('error', () => undefined);
    nameStatements(client, nameOf);
    sendInOnePiece(client);
    sendBeginAlong(client);
  });
  const executorOf = (client: pg.Pool) =>
    drizzlePg({ client, ...logging(options.onStatement) }) as unknown as Executor;
  const inName = (name: typeof service) =>
    executorOf(poolAs(pool, name, options.onStatement ?? (() => undefined)));
  let db = executorOf(pool);
  let rls = noRls(db);
  const transaction = waitingAtEnd((work) => db.transaction((tx) => work(tx as unknown as Executor)));
  return {
    mode: 'postgres',
    get pool() {
      return db;
    },
    get rls() {
      return rls;
    },
    connection,
    workAs(role, secured) {
      if (pool.totalCount > 0) throw new Error('a connection is open already, and works as another role');
      service = serviceIdentity(role);
      if (!secured) return;
      db = inName(service);
      rls = createRls(service, db, inName);
    },
    connections: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    transaction: (work) => retried(() => transaction(work)),
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
  const db = drizzlePglite({ client, ...logging(onStatement) }) as unknown as Executor;
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
