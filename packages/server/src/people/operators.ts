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

/** Who the operators are, and how they come and go (docs/operating/operators.md). */

/** The node with the installation's audit log and events. */
export const installationNode: NodeRef = {
  id: SYSTEM_NODE,
  scope: { tenant: 'installation', id: SYSTEM_NODE },
};

/** Until the end of the transaction no other one adds or removes operators. */
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

/** Ids of all operators who can act. */
export async function activeOperators(db: Executor, rules: OperatorRules): Promise<string[]> {
  const rows = await rowsOf<{ id: string }>(
    db,
    sql`select distinct u.id from ${operatorRows(rules)} r
      join users u on u.id = r.user_id and u.status = 'active'`,
  );
  return rows.map(({ id }) => id);
}

/**
 * Whether an Installation Operator remains when this user loses that role or their account; also true if they do not have it.
 * Call `lockOperators` first.
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

/** Refuses to leave the installation without an Installation Operator. @throws LAST_OWNER */
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
  /** Absent: the caller. */
  readonly actor?: Actor;
}

/** What these changes need: an operation has it, and so has an act of the system. */
type OperatorRun = SystemAct & {
  readonly services: Pick<Run['services'], 'clock'>;
};

/**
 * Adds and records the operator. Returns false, and writes nothing, if a row makes them one already. The row `development`
 * of the first user is replaced where it does not count, in production. Elsewhere only the command line replaces it, with the same
 * role, so that it counts in production too.
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

/** Removes the row of the operator; undefined if there is none. */
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
    // Absent, so that it is the caller, or the system.
    ...(actor && { actor }),
    event,
    data: { id: userId, roleId, source, reason: reason ?? null },
    target: { type: 'Operator', id: userId },
    node: installationNode,
    metadata: reason === undefined ? {} : { reason },
    audited: true,
  });
}
