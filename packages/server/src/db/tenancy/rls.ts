import { sql } from 'drizzle-orm';
import pg from 'pg';
import type { ResolvedScope } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { deferToCommit } from '../statements/deferred-results.ts';
import { CUSTOMER_SETTING, OWNER_SETTING, TENANTS_SETTING } from './row-policies.ts';
import { TENANT_ROLE } from './tenant-role.ts';

/**
 * Row-level security (decision 0018). Statements of an operation in a resolved scope run as the tenant role, and
 * PostgreSQL hides the rows of all other tenants from them. All other statements run as the service role. The settings
 * end with their transaction, so a pooled connection carries nothing from one scope into the next. The few statements
 * that need rows outside their scope run in `withoutRls`.
 *
 * The embedded database has one user with all privileges, so there these functions merely call the work.
 */
export interface RowLevelSecurity {
  /**
   * Reads in the scope, in a separate read-only transaction; without a scope, reads as the service. The work must not
   * take a second connection from the pool, because with a small pool it would deadlock. Operations of the
   * installation, which contains every tenant, read and write as the service, and each selects the columns that
   * operators may see.
   */
  read<T>(scope: ScopeNode | undefined, work: (tx: Executor) => Promise<T>): Promise<T>;
  /**
   * Runs the work in the scope, inside a transaction of the service. Statements after the work run as the service
   * again.
   */
  within<T>(tx: Executor, scope: ScopeNode | undefined, work: () => Promise<T>): Promise<T>;
}

type ScopeNode = Pick<ResolvedScope, 'nodeId' | 'parentId' | 'level'> &
  Partial<Pick<ResolvedScope, 'grant' | 'organizationId'>>;

export const noRls = (pool: Executor): RowLevelSecurity => ({
  read: (_, work) => work(pool),
  within: (_, __, work) => work(),
});

/** The role of the service; null if it is the user who connected. */
type ServiceRole = string | null;

/** `readWith` opens a read-only transaction with these settings. */
export function createRls(
  service: ServiceRole,
  pool: Executor,
  readWith: <T>(settings: string, work: (tx: Executor) => Promise<T>) => Promise<T>,
): RowLevelSecurity {
  return {
    read(scope, work) {
      if (!scope) return work(pool);
      const identity = isInstallation(scope)
        ? `set local role ${service ?? 'none'}`
        : identityStatements(scope);
      return readWith(identity, async (tx) => {
        serviceRoles.set(tx, service);
        return work(tx).finally(() => serviceRoles.delete(tx));
      });
    },

    async within(tx, scope, work) {
      if (!scope || isInstallation(scope)) return work();
      await deferToCommit(tx, tx.execute(sql.raw(identityStatements(scope))));
      serviceRoles.set(tx, service);
      // A failure rolls back the transaction or its savepoint, and the session identity with it.
      const answer = await work().finally(() => serviceRoles.delete(tx));
      await switchRole(tx, service);
      return answer;
    },
  };
}

const isInstallation = ({ level }: ScopeNode): boolean => level === 'installation';

/**
 * Sets the session identity until the end of the transaction: the role, the node and, for a project, the owner's node.
 * For a slice these are the slice, its project and the customer.
 */
const identityStatements = ({ nodeId, parentId, level, grant, organizationId }: ScopeNode): string =>
  `set local role ${TENANT_ROLE};
    set local ${TENANTS_SETTING} = ${pg.escapeLiteral(nodeId)};
    set local ${OWNER_SETTING} = ${pg.escapeLiteral((level === 'project' && parentId) || '')}${
      grant ? `; set local ${CUSTOMER_SETTING} = ${pg.escapeLiteral(organizationId ?? '')}` : ''
    }`;

/** Transactions that currently run in a scope, with the role to restore. */
const serviceRoles = new WeakMap<Executor, ServiceRole>();

const switchRole = (tx: Executor, role: ServiceRole) =>
  deferToCommit(tx, tx.execute(sql.raw(`set local role ${role ?? 'none'}`)));

/**
 * Runs statements as the service inside an operation of a scope, for rows outside that scope: for example to find out
 * whether an address has an owner, or what has to be deleted together with a row. Each caller restricts the rows
 * itself, and `test/security/row-policies.test.ts` lists each caller with its reason. Nothing else may use the
 * transaction until the work ends.
 */
export async function withoutRls<T>(tx: Executor, work: () => Promise<T>): Promise<T> {
  const service = serviceRoles.get(tx);
  if (service === undefined) return work();
  serviceRoles.delete(tx);
  await switchRole(tx, service);
  // Not restored after a failure, because a failed operation ends its transaction.
  const answer = await work();
  await switchRole(tx, TENANT_ROLE);
  serviceRoles.set(tx, service);
  return answer;
}

/** Grants the rest of the transaction access to a node that it has just created. */
export const addToSessionTenants = (id: string) =>
  sql`set_config(${TENANTS_SETTING}, concat_ws(',', nullif(current_setting(${TENANTS_SETTING}, true), ''), ${id}::text), true)`;
