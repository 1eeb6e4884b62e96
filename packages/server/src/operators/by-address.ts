import { asc, eq, gt } from 'drizzle-orm';
import type { OperatorRules } from '../access/operators.ts';
import { preparedOperators } from '../schema/operators/operator.ts';
import type { SystemAct } from '../events/system-act.ts';
import type { Services } from '../services.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { lockUser } from '../people/lock-user.ts';
import {
  addOperator,
  installationNode,
  lockOperators,
  operatorRemains,
  removeOperator,
} from '../people/operators.ts';
import { verifiedOwnerOf } from './prepared.ts';
import { operatorRoleOf, readOperators } from './read-operators.ts';

/*
 * Operator commands on the machine of the service. They name operators by address and have no caller, so the audit log
 * shows the system as the actor.
 */

type AddressFault = 'unable' | 'exists' | 'unknown' | 'configured' | 'last';

/** The reason why the command changed nothing. */
class OperatorRefused extends Error {
  override readonly name = 'OperatorRefused';
  readonly fault: AddressFault;

  constructor(fault: AddressFault) {
    super(texts[fault]);
    this.fault = fault;
  }
}

const texts: Record<AddressFault, string> = {
  unable: 'This user cannot be an operator: they are not active, managed by an organization, or a machine.',
  exists: 'This address is an operator already. Remove it first to give it another role.',
  unknown: 'No operator has this address.',
  configured: 'This operator is in OPERATORS: take the address out, and start the service again.',
  last: 'This is the last Installation Operator.',
};

interface Addition {
  readonly address: string;
  readonly roleId: string;
  readonly reason: string | undefined;
  /** For how many days an address that no user has verified stays prepared. */
  readonly days: number;
}

const DAY_MS = 86_400_000;

/**
 * Makes an operator of the user who has verified the address, and returns the user's id. Until a user has verified it,
 * only prepares the address, and returns null.
 *
 * @throws OperatorRefused
 */
export async function addByAddress(
  act: SystemAct,
  services: Pick<Services, 'clock'> & { readonly rules: OperatorRules },
  { address, roleId, reason, days }: Addition,
): Promise<string | null> {
  const { tx } = act;
  const now = services.clock.now();
  const userId = await verifiedOwnerOf(tx, address);
  // Users are locked first, as in every mutation.
  const user = userId === undefined ? undefined : await lockUser(act, userId, 'share');
  await lockOperators(tx);
  if (user) {
    if (user.isManaged || user.kind !== 'person' || user.status !== 'active')
      throw new OperatorRefused('unable');
    const operator = { userId: user.id, roleId, source: 'commandLine', createdBy: null } as const;
    const added = await addOperator({ ...act, services }, services.rules, {
      ...operator,
      ...(reason !== undefined && { reason }),
    });
    if (!added) throw new OperatorRefused('exists');
    await tx.delete(preparedOperators).where(eq(preparedOperators.address, address));
    return user.id;
  }
  const expiresAt = new Date(now.getTime() + days * DAY_MS);
  const row = { roleId, reason: reason ?? null, expiresAt, createdAt: now };
  await tx
    .insert(preparedOperators)
    .values({ address, ...row })
    .onConflictDoUpdate({ target: preparedOperators.address, set: row });
  recordPrepared(act, { address, roleId, ...(reason !== undefined && { reason }) });
  return null;
}

/** Records a change of a prepared address. There is no user to name, so the entry contains the address. */
const recordPrepared = (act: SystemAct, metadata: Readonly<Record<string, unknown>>): void =>
  act.record({
    node: installationNode,
    target: { type: 'Operator', id: installationNode.id },
    metadata,
    audited: true,
  });

interface Removal {
  readonly address: string;
  readonly reason: string | undefined;
  /** Whether even the last Installation Operator may be removed. */
  readonly evenLast: boolean;
}

/** Removes the operator of the address, and the prepared address. @throws OperatorRefused */
export async function removeByAddress(
  act: SystemAct,
  services: Pick<Services, 'clock'> & { readonly rules: OperatorRules },
  { address, reason, evenLast }: Removal,
): Promise<void> {
  const { tx } = act;
  await lockOperators(tx);
  const prepared = await tx
    .delete(preparedOperators)
    .where(eq(preparedOperators.address, address))
    .returning();
  if (prepared.length > 0) recordPrepared(act, { address, ...(reason !== undefined && { reason }) });
  const all = await readOperators(tx, services.rules);
  const owner = await verifiedOwnerOf(tx, address);
  // The operator may have lost the address in the meantime, but their profile may still show it.
  const userId = owner ?? all.find(({ email }) => email === address)?.userId;
  const rows = all.filter((each) => each.userId === userId);
  const [operator] = rows;
  if (!operator && prepared.length === 0) throw new OperatorRefused('unknown');
  if (!operator) return;
  if (!rows.some(({ source }) => source !== 'configuration')) throw new OperatorRefused('configured');
  // A user who is also in the configuration stays an operator.
  if (!evenLast && rows.length === 1 && !(await operatorRemains(tx, services.rules, operator.userId)))
    throw new OperatorRefused('last');
  await removeOperator({ ...act, services }, operator.userId, reason);
}

/** Returns all operators, and the prepared addresses that no user has verified yet. */
export async function listByAddress(db: Executor, services: Pick<Services, 'clock'>, rules: OperatorRules) {
  const waiting = await db
    .select()
    .from(preparedOperators)
    .where(gt(preparedOperators.expiresAt, services.clock.now()))
    .orderBy(asc(preparedOperators.createdAt));
  const prepared = waiting.map(({ address, roleId, createdAt }) => ({
    userId: null,
    name: null,
    email: address,
    role: operatorRoleOf(roleId),
    source: 'prepared' as const,
    createdBy: null,
    createdAt,
  }));
  return [...(await readOperators(db, rules)), ...prepared];
}
