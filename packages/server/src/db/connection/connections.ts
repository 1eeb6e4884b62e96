import { drizzle } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import { DoorwardError } from '../../errors.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import type { Transaction } from '../statements/deferred-results.ts';
import { nameStatements } from '../statements/prepared.ts';

interface ConnectionOptions {
  readonly config: pg.ClientConfig;
  /** The class of the connections in the pool. */
  readonly Client?: typeof pg.Client;
  readonly poolMax: number;
  /** After how long an unused connection is closed; 0: never. */
  readonly idleTimeoutMs?: number;
  /** Time to open one connection to the server. */
  readonly connectTimeoutMs: number;
  /** Time to wait for a free connection of the pool. */
  readonly maxWaitMs: number;
  readonly onIdleError: (error: Error) => void;
  readonly onStatement: (text: string) => void;
}

/** The connection pool of a PostgreSQL server, with two ways to run statements on one of its connections. */
export interface Connections {
  readonly pool: pg.Pool;
  /** Runs each statement on any connection. */
  readonly executor: Executor;
  readonly transaction: Transaction;
  /** Runs a read-only transaction. The settings are sent together with its first statement. */
  readonly readWith: <T>(settings: string, work: (tx: Executor) => Promise<T>) => Promise<T>;
}

/**
 * Opens the pool. `prepareConnection` sets up each new connection. If it fails, the connection is closed, so that no
 * statement runs with more privileges than intended.
 */
export function openConnections(
  options: ConnectionOptions,
  prepareConnection: (client: pg.ClientBase) => Promise<unknown>,
): Connections {
  const { config, connectTimeoutMs, maxWaitMs, onStatement } = options;
  // The pool has only one timeout, for waiting for a free connection and for opening one.
  class Client extends (options.Client ?? pg.Client) {
    constructor(inherited?: pg.ClientConfig) {
      super({ ...inherited, connectionTimeoutMillis: connectTimeoutMs });
    }
  }
  const pool = new pg.Pool({
    ...config,
    Client,
    max: options.poolMax,
    connectionTimeoutMillis: maxWaitMs,
    pipeline: true,
    idleTimeoutMillis: options.idleTimeoutMs ?? 30_000,
    verify: (client, done) => void prepareConnection(client).then(() => done(), done),
  });
  // Without a listener a restart of the database would crash this process.
  pool.on('error', options.onIdleError);
  // The pool does not listen for errors of connections in use; their next statement fails instead.
  pool.on('connect', (client) => client.on('error', () => undefined));

  const nameStatementsOf = (executor: Executor, client: pg.Pool | pg.PoolClient): void =>
    nameStatements(executor, (query) => {
      onStatement(query.text);
      return client.query(query);
    });
  function executorOf(client: pg.Pool | pg.PoolClient): Executor {
    const executor = drizzle({ client, logger: { logQuery: onStatement } }) as Executor;
    nameStatementsOf(executor, client);
    return executor;
  }
  const executors = new WeakMap<pg.PoolClient, Executor>();
  function executorFor(client: pg.PoolClient): Executor {
    const executor = executors.get(client) ?? executorOf(client);
    executors.set(client, executor);
    return executor;
  }

  function end(client: pg.PoolClient, statement: 'commit' | 'rollback'): void {
    onStatement(statement);
    client.query(statement).then(
      () => client.release(),
      (error: Error) => client.release(error),
    );
  }

  return {
    pool,
    executor: executorOf(pool),

    async transaction(work) {
      const client = await pool.connect();
      let thrown: unknown;
      try {
        const answer = await executorFor(client).transaction((begun) => {
          const tx = begun as Executor;
          nameStatementsOf(tx, client);
          return work(tx).catch((error: unknown) => {
            thrown = error;
            throw error;
          });
        });
        client.release();
        return answer;
      } catch (error) {
        // An error of `work` is rethrown after the rollback. After any other error the transaction may still be open,
        // so the connection is closed.
        client.release(error === thrown ? undefined : (error as Error));
        throw error;
      }
    },

    async readWith(settings, work) {
      const client = await pool.connect();
      try {
        onStatement('begin read only');
        // Not awaited here, so that the first statement is sent with it. If `begin` fails, no rows are returned.
        const begun = client.query(`begin read only; ${settings}`);
        const [, answer] = await Promise.all([begun, work(executorFor(client))]);
        end(client, 'commit');
        return answer;
      } catch (error) {
        // A DoorwardError (such as NOT_FOUND) leaves no statement running; any other error may.
        if (error instanceof DoorwardError) end(client, 'rollback');
        else client.release(error as Error);
        throw error;
      }
    },
  };
}
