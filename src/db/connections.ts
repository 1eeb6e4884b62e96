import { drizzle } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import { DoorwardError } from '../errors.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import type { Transaction } from './deferred.ts';
import { nameStatements } from './prepared.ts';

export interface ConnectionOptions {
  readonly config: pg.ClientConfig;
  readonly poolMax: number;
  /** For one connection to the server to be made. */
  readonly connectTimeoutMs: number;
  /** For a connection of the pool to be free. */
  readonly maxWaitMs: number;
  readonly onIdleError: (error: Error) => void;
  readonly onStatement: (text: string) => void;
}

/** The pool of a PostgreSQL server, and the two ways to have one of its connections for a while. */
export interface Connections {
  readonly pool: pg.Pool;
  /** Each statement on any connection. */
  readonly executor: Executor;
  readonly transaction: Transaction;
  /** A read-only transaction with these settings, which are sent along with its first statement. */
  readonly readWith: <T>(settings: string, work: (tx: Executor) => Promise<T>) => Promise<T>;
}

/** `introduce` prepares each new connection, which is closed if that fails: nothing runs with more rights. */
export function openConnections(
  options: ConnectionOptions,
  introduce: (client: pg.ClientBase) => Promise<unknown>,
): Connections {
  const { config, connectTimeoutMs, maxWaitMs, onStatement } = options;
  // The pool has one time for both, to wait for a free connection and to make one.
  class Client extends pg.Client {
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
    idleTimeoutMillis: 30_000,
    verify: (client, done) => void introduce(client).then(() => done(), done),
  });
  // Without a listener a restart of the database would end this process.
  pool.on('error', options.onIdleError);
  // The pool does not listen to a connection that is in use. Its user gets the failure with the next statement.
  pool.on('connect', (client) => client.on('error', () => undefined));

  const nameStatementsOf = (executor: Executor, client: pg.Pool | pg.PoolClient): void =>
    nameStatements(executor, (query) => {
      onStatement(query.text);
      return client.query(query);
    });
  function executorOf(client: pg.Pool | pg.PoolClient): Executor {
    const executor = drizzle({ client, logger: { logQuery: onStatement } }) as unknown as Executor;
    nameStatementsOf(executor, client);
    return executor;
  }
  const ofClients = new WeakMap<pg.PoolClient, Executor>();
  function ofClient(client: pg.PoolClient): Executor {
    const executor = ofClients.get(client) ?? executorOf(client);
    ofClients.set(client, executor);
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
        const answer = await ofClient(client).transaction((begun) => {
          const tx = begun as unknown as Executor;
          nameStatementsOf(tx, client);
          return work(tx).catch((error: unknown) => {
            thrown = error;
            throw error;
          });
        });
        client.release();
        return answer;
      } catch (error) {
        // The work's own error comes out when the rollback is done. After any other the connection may be in a transaction.
        client.release(error === thrown ? undefined : (error as Error));
        throw error;
      }
    },

    async readWith(settings, work) {
      const client = await pool.connect();
      try {
        onStatement('begin read only');
        // Not awaited by itself: the first statement leaves behind it, and no rows are answered unless it succeeded.
        const begun = client.query(`begin read only; ${settings}`);
        const [, answer] = await Promise.all([begun, work(ofClient(client))]);
        end(client, 'commit');
        return answer;
      } catch (error) {
        // A refusal of ours, such as that there is no such row. After any other failure statements may be under way.
        if (error instanceof DoorwardError) end(client, 'rollback');
        else client.release(error as Error);
        throw error;
      }
    },
  };
}
