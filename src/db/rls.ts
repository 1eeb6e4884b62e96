import { sql } from 'drizzle-orm';
import pg from 'pg';
import type { ResolvedScope } from '../kernel/scope.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { deferToCommit } from './deferred.ts';
import { OWNER_SETTING, REACH_SETTING } from './row-policies.ts';
import { TENANT_ROLE } from './tenant-role.ts';

/**
 * Row-level security (decision 0018). What serves no scope works as the role of the service; what an operation does in
 * a resolved scope works as the role of a tenant, and PostgreSQL itself keeps every row of others from it. The settings
 * end with their transaction, so a connection carries nothing of one scope into the next. The few places that must look
 * beyond their scope call `withoutRls`.
 *
 * The embedded database has one user, who may do everything: there these functions only call the work.
 */
export interface RowLevelSecurity {
  /**
   * Reads in the scope, in a read-only transaction of its own; without a scope as the service. The work must not take
   * a second connection: with a small pool it would wait for itself.
   */
  read<T>(scope: ScopeNode | undefined, work: (tx: Executor) => Promise<T>): Promise<T>;
  /** Work in a transaction of the service, in the scope; what comes after it is the service's again. */
  within<T>(tx: Executor, scope: ScopeNode | undefined, work: () => Promise<T>): Promise<T>;
}

type ScopeNode = Pick<ResolvedScope, 'nodeId' | 'parentId' | 'level'>;

export const noRls = (pool: Executor): RowLevelSecurity => ({
  read: (_, work) => work(pool),
  within: (_, __, work) => work(),
});

/** The role as which the service works; null: the user who connected. */
type ServiceRole = string | null;

/** `readWith` opens a read-only transaction with these settings. */
export function createRls(
  service: ServiceRole,
  pool: Executor,
  readWith: <T>(settings: string, work: (tx: Executor) => Promise<T>) => Promise<T>,
): RowLevelSecurity {
  return {
    read: (scope, work) => (scope ? readWith(identityOf(scope), work) : work(pool)),

    async within(tx, scope, work) {
      if (!scope) return work();
      await deferToCommit(tx, tx.execute(sql.raw(identityOf(scope))));
      serviceRoles.set(tx, service);
      // What fails takes the transaction, or its savepoint, back, and the identity with it.
      const answer = await work().finally(() => serviceRoles.delete(tx));
      await become(tx, service);
      return answer;
    },
  };
}

/** Who the session is until the end of its transaction: a tenant, its node and, of a project, the owner's. */
const identityOf = ({ nodeId, parentId, level }: ScopeNode): string =>
  `set local role ${TENANT_ROLE};
    set local ${REACH_SETTING} = ${pg.escapeLiteral(nodeId)};
    set local ${OWNER_SETTING} = ${pg.escapeLiteral((level === 'project' && parentId) || '')}`;

/** Transactions that work in a scope at this moment, and the role that they go back to. */
const serviceRoles = new WeakMap<Executor, ServiceRole>();

const become = (tx: Executor, role: ServiceRole) =>
  deferToCommit(tx, tx.execute(sql.raw(`set local role ${role ?? 'none'}`)));

/**
 * For what an operation must do or read beyond its own scope: whether an address has an owner, what else goes with what
 * was deleted. Statements of this work run as those of the service. Each caller names its rows itself, and stands in the
 * list of `test/security/row-policies.test.ts` with its reason. Nothing else may run on the transaction meanwhile.
 */
export async function withoutRls<T>(tx: Executor, work: () => Promise<T>): Promise<T> {
  const service = serviceRoles.get(tx);
  if (service === undefined) return work();
  serviceRoles.delete(tx);
  await become(tx, service);
  // Not after a failure: nobody goes on in a transaction whose operation failed.
  const answer = await work();
  await become(tx, TENANT_ROLE);
  serviceRoles.set(tx, service);
  return answer;
}

/** The rest of the transaction that makes this node reaches it. */
export const addToReach = (id: string) =>
  sql`set_config(${REACH_SETTING}, concat_ws(',', nullif(current_setting(${REACH_SETTING}, true), ''), ${id}::text), true)`;
