/* Who the operators are, and how they are added and removed (docs/operating/operators.md). */

import { eq, sql } from 'drizzle-orm';
import { INSTALLATION_OPERATOR } from '../access/installation-roles.ts';
import { operatorRows, type OperatorRules } from '../access/operators.ts';
import type { SystemAct } from '../events/system-act.ts';
import { SYSTEM_NODE } from '../schema/nodes.ts';
import { rowsOf } from '../db/statements/rows.ts';
import { fail } from '../errors.ts';
import { operatorsTable } from '../schema/operators/operator.ts';
import type { Actor, NodeRef } from '../kernel/event.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import type { Run } from '../services.ts';

/** The node with the installation's audit log and events. */
export const installationNode: NodeRef = {
  id: SYSTEM_NODE,
  scope: { tenant: 'installation', id: SYSTEM_NODE },
};

/** Prevents all other transactions from adding or removing operators until this one ends. */
export const lockOperators = (tx: Executor): PromiseLike<unknown> =>
  tx.execute(sql`lock table operators in share row exclusive mode`);

export async function isOperator(
  db: Executor,
  rules: OperatorRules,
  userId: string,
  roleId?: string,
): Promise<boolean> {
  const hasRole = roleId === undefined ? sql`` : sql`and r.role_id = ${roleId}::uuid`;
  const rows = await rowsOf(
    db,
    sql`select 1 from ${operatorRows(rules)} r where r.user_id = ${userId}::uuid ${hasRole}`,
  );
  return rows.length > 0;
}

/** Ids of all operators whose user is active. */
export async function activeOperators(db: Executor, rules: OperatorRules): Promise<string[]> {
  const rows = await rowsOf<{ id: string }>(
    db,
    sql`select distinct u.id from ${operatorRows(rules)} r
      join users u on u.id = r.user_id and u.status = 'active'`,
  );
  return rows.map(({ id }) => id);
}

/**
 * Whether another Installation Operator remains if this user loses that role or their account. Call `lockOperators`
 * first.
 */
export async function operatorRemains(tx: Executor, rules: OperatorRules, except: string): Promise<boolean> {
  const rows = await rowsOf<{ id: string }>(
    tx,
    sql`select r.user_id as id from ${operatorRows(rules)} r
      join users u on u.id = r.user_id and u.status = 'active'
      where r.role_id = ${INSTALLATION_OPERATOR}::uuid`,
  );
  const isOneOfThem = rows.some(({ id }) => id === except);
  return !isOneOfThem || rows.some(({ id }) => id !== except);
}

/** Asserts that the installation keeps an Installation Operator. @throws LAST_OWNER */
export async function assertOperatorRemains(
  tx: Executor,
  rules: OperatorRules,
  except: string,
): Promise<void> {
  if (!(await operatorRemains(tx, rules, except))) {
    throw fail('LAST_OWNER', {
      fix: 'This is the last Installation Operator: make another user one at POST /api/installation/operators first.',
    });
  }
}

interface NewOperator {
  readonly userId: string;
  readonly roleId: string;
  readonly source: 'api' | 'commandLine' | 'development';
  readonly createdBy: string | null;
  readonly reason?: string;
  /** Default: the caller. */
  readonly actor?: Actor;
}

/** The context that these changes need, which both operations and system acts can provide. */
type OperatorRun = SystemAct & {
  readonly services: Pick<Run['services'], 'clock'>;
};

/**
 * Adds the operator and records it. Returns false, and writes nothing, if the user already has a row as operator. The
 * first user's row `development` is replaced in production, where it does not count. Elsewhere only the command line
 * replaces it, with the same role, so that it counts in production too.
 */
export async function addOperator(
  ctx: OperatorRun,
  { acceptsFirstUser }: OperatorRules,
  operator: NewOperator,
): Promise<boolean> {
  const { userId, roleId, source, createdBy, reason, actor } = operator;
  const row = { roleId, source, createdBy, createdAt: ctx.services.clock.now() };
  const keepsRole = source === 'commandLine' ? eq(operatorsTable.roleId, roleId) : sql`false`;
  const added = await ctx.tx
    .insert(operatorsTable)
    .values({ userId, ...row })
    .onConflictDoUpdate({
      target: operatorsTable.userId,
      set: row,
      setWhere: sql`${operatorsTable.source} = 'development'
        and (${!acceptsFirstUser}::boolean or ${keepsRole})`,
    })
    .returning({ userId: operatorsTable.userId });
  if (added.length === 0) return false;
  recordOperator(ctx, { userId, roleId, source, reason, actor, event: 'operator.added' });
  return true;
}

/** Removes the operator's row. Returns undefined if there is none. */
export async function removeOperator(ctx: OperatorRun, userId: string, reason?: string) {
  const [removed] = await ctx.tx.delete(operatorsTable).where(eq(operatorsTable.userId, userId)).returning();
  if (removed) {
    recordOperator(ctx, { ...removed, reason, actor: undefined, event: 'operator.removed' });
  }
  return removed;
}

function recordOperator(
  ctx: Pick<OperatorRun, 'record' | 'invalidate'>,
  of: {
    readonly event: 'operator.added' | 'operator.removed';
    readonly userId: string;
    readonly roleId: string;
    readonly source: string;
    readonly reason: string | undefined;
    readonly actor: Actor | undefined;
  },
): void {
  const { event, userId, roleId, source, reason, actor } = of;
  ctx.invalidate(`user:${userId}`);
  ctx.record({
    // If left out, the actor is the caller or the system.
    ...(actor && { actor }),
    event,
    data: { id: userId, roleId, source, reason: reason ?? null },
    target: { type: 'Operator', id: userId },
    node: installationNode,
    metadata: reason === undefined ? {} : { reason },
    audited: true,
  });
}
