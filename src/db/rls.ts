import { sql } from 'drizzle-orm';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import type { ResolvedScope } from '../kernel/scope.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { OWNER_SETTING, REACH_SETTING } from './row-policies.ts';
import { leavesNothing, leaveToEnd } from './pipeline.ts';
import { TENANT_ROLE } from './tenant-role.ts';

/**
 * In whose name a statement runs (decision 0018). What serves no scope works as the role of the service; what an
 * operation does in a resolved scope works as the role of a tenant, and PostgreSQL itself keeps every row of others from
 * it. Where the few places are that look beyond their scope is told by who calls `withoutRls`.
 *
 * The embedded database has one user, and no such wall.
 */
export interface RowLevelSecurity {
  /** Statements on any connection, in the name of the scope; undefined: of the service. */
  pool(scope: ScopeNode | undefined): Executor;
  /** Work in a transaction of the service, in the name of the scope; what comes after it is the service's again. */
  within<T>(tx: Executor, scope: ScopeNode | undefined, work: () => Promise<T>): Promise<T>;
}

const MOST_EXECUTORS = 1000;

type ScopeNode = Pick<ResolvedScope, 'nodeId' | 'parentId' | 'level'>;

/** What PostgreSQL is told before a statement. */
interface SessionIdentity {
  readonly role: string;
  /** The node of the scope. */
  readonly reach: string;
  /** Of a project: who owns it. */
  readonly owner: string;
}

/** `null`: the user who connected, who is no more than the service's role then. */
export const serviceIdentity = (role: string | null): SessionIdentity => ({
  role: role ?? 'none',
  reach: '',
  owner: '',
});

const tenantIdentity = ({ nodeId, parentId, level }: ScopeNode): SessionIdentity => ({
  role: TENANT_ROLE,
  reach: nodeId,
  owner: (level === 'project' && parentId) || '',
});

export const noRls = (pool: Executor): RowLevelSecurity => ({
  pool: () => pool,
  within: (_, __, work) => work(),
});

/** `executorOf` makes an executor of connections that work in this name. */
export function createRls(
  service: SessionIdentity,
  pool: Executor,
  executorOf: (name: SessionIdentity) => Executor,
): RowLevelSecurity {
  /** Scopes are kept by whoever resolves them, and asked for again and again; the busiest are enough. */
  const executors = new LRUCache<ScopeNode, Executor>({ max: MOST_EXECUTORS });
  return {
    pool(scope) {
      if (!scope) return pool;
      const known = executors.get(scope);
      if (known) return known;
      const executor = executorOf(tenantIdentity(scope));
      executors.set(scope, executor);
      return executor;
    },

    async within(tx, scope, work) {
      if (!scope) return work();
      const name = tenantIdentity(scope);
      await leaveToEnd(
        tx,
        tx.execute(sql`select set_config(${REACH_SETTING}, ${name.reach}, true),
          set_config(${OWNER_SETTING}, ${name.owner}, true), set_config('role', ${name.role}, true)`),
      );
      bounded.set(tx, { service: service.role, tenant: name.role });
      // What fails takes the transaction, or its savepoint, back, and the name with it.
      const out = await work().finally(() => bounded.delete(tx));
      await become(tx, service.role);
      return out;
    },
  };
}

/** Transactions that work in the name of a scope at this moment. */
const bounded = new WeakMap<Executor, { readonly service: string; readonly tenant: string }>();

const become = (tx: Executor, role: string) =>
  leaveToEnd(tx, tx.execute(sql`select set_config('role', ${role}, true)`));

/**
 * For what an operation must do, or know, beyond its own scope: whether an address has an owner, what else goes with
 * what was deleted. Statements of this work run as those of the service. Each caller names its rows itself, and stands
 * in the list of `test/security/row-policies.test.ts` with its reason. Nothing else may run on the transaction meanwhile.
 */
export async function withoutRls<T>(tx: Executor, work: () => Promise<T>): Promise<T> {
  const names = bounded.get(tx);
  if (!names) return work();
  bounded.delete(tx);
  await become(tx, names.service);
  // Not after a failure: nobody goes on in a transaction whose operation failed.
  const out = await work();
  await become(tx, names.tenant);
  bounded.set(tx, names);
  return out;
}

/** The node is in reach of the rest of the transaction that makes it. */
export const addToReach = (id: string) =>
  sql`set_config(${REACH_SETTING}, concat_ws(',', nullif(current_setting(${REACH_SETTING}, true), ''), ${id}::text), true)`;

/** In whose name each connection works, by what was last said on it. */
const names = new WeakMap<pg.ClientBase, SessionIdentity>();

/** New connections are handed over when this is done. */
export async function introduce(client: pg.ClientBase, name: SessionIdentity): Promise<void> {
  const known = names.get(client);
  if (known === name) return;
  if (!known && name.role === 'none') return void names.set(client, name);
  // Whatever becomes of the statement, nothing is known of the connection before it answered.
  names.delete(client);
  await client.query(SWITCH, [name.role, name.reach, name.owner]);
  names.set(client, name);
}

export const SWITCH = `select set_config('role', $1, false), set_config('${REACH_SETTING}', $2, false), set_config('${OWNER_SETTING}', $3, false)`;

interface Turn {
  readonly connection: Promise<{
    readonly client: pg.PoolClient;
    /** Undefined where it works in the name already. */
    readonly named: Promise<void> | undefined;
  }>;
  /** Who has not been answered yet. */
  askers: number;
  failure?: Error;
}

/** The same connections, each made to work in this name before it is used; one that will not is closed. */
export function poolAs(pool: pg.Pool, name: SessionIdentity, onStatement: (text: string) => void): pg.Pool {
  async function idle(): Promise<pg.PoolClient> {
    let client = await pool.connect();
    // What a failure left in its transaction would go on in a name that ends with it.
    while (client.getTransactionStatus() !== 'I') {
      client.release(true);
      client = await pool.connect();
    }
    return client;
  }
  function naming(client: pg.PoolClient): Promise<void> | undefined {
    if (names.get(client) === name) return undefined;
    onStatement(SWITCH);
    return introduce(client, name);
  }
  async function connect(): Promise<pg.PoolClient> {
    const client = await idle();
    await naming(client)?.catch((error: unknown) => {
      client.release(true);
      throw error;
    });
    return client;
  }
  /** What is asked in one turn of the event loop goes over one connection, and so in one piece. */
  let turn: Turn | null = null;
  function join(): Turn {
    if (turn) return turn;
    turn = { connection: idle().then((client) => ({ client, named: naming(client) })), askers: 0 };
    process.nextTick(() => void (turn = null));
    return turn;
  }
  async function query(statement: pg.QueryConfig, values?: unknown[]): Promise<pg.QueryResult> {
    const mine = join();
    mine.askers++;
    const { client, named } = await mine.connection;
    try {
      // What was read in another name is told to nobody if the change of it fails.
      if (named && !leavesNothing(statement.text)) await named;
      const [result] = await Promise.all([client.query(statement, values), named]);
      return result;
    } catch (error) {
      mine.failure = error as Error;
      throw error;
    } finally {
      // After a failure it is closed, as the pool itself does: what is under way on it is not known.
      if (--mine.askers === 0) client.release(mine.failure);
    }
  }
  // To the query builder it is a pool: one that opens a transaction on a connection of its own.
  return Object.assign(Object.create(pool) as pg.Pool, { connect, query });
}
