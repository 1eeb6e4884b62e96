import { and, asc, eq, gt, isNull } from 'drizzle-orm';
import type { ActAsSystem, SystemAct } from '../events/system-act.ts';
import { authenticationMethods } from '../schema/sign-in/authentication-method.ts';
import { preparedOperators } from '../schema/operators/operator.ts';
import { users } from '../schema/people/user.ts';
import type { Services } from '../services.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { lockUser } from '../people/lock-user.ts';
import { addOperator, lockOperators } from '../people/operators.ts';

/**
 * Returns the id of the user who has the address as a verified e-mail method. An address that only a provider reports
 * does not count.
 */
export async function verifiedOwnerOf(db: Executor, address: string): Promise<string | undefined> {
  const [row] = await db
    .select({ id: users.id })
    .from(authenticationMethods)
    .innerJoin(users, eq(users.id, authenticationMethods.userId))
    .where(and(isVerifiedAddress, eq(authenticationMethods.providerId, address), isNull(users.deletedAt)));
  return row?.id;
}

export const isVerifiedAddress = and(
  eq(authenticationMethods.provider, 'email'),
  eq(authenticationMethods.isVerified, true),
  eq(authenticationMethods.claims, true),
);

/** Makes every user an operator who has verified an address that the command line prepared. */
export async function appointPrepared(
  services: Pick<Services, 'config' | 'clock'>,
  pool: Executor,
  actAsSystem: ActAsSystem,
): Promise<void> {
  const due = await pool
    .select({ address: preparedOperators.address })
    .from(preparedOperators)
    .innerJoin(authenticationMethods, eq(authenticationMethods.providerId, preparedOperators.address))
    .where(and(isVerifiedAddress, gt(preparedOperators.expiresAt, services.clock.now())))
    .orderBy(asc(preparedOperators.address));
  for (const { address } of due)
    await actAsSystem('appointOperator', (act) => appoint(act, services, address));
}

/** Makes the user of an address an operator, unless another process was faster or the user has lost the address. */
async function appoint(
  act: SystemAct,
  services: Pick<Services, 'config' | 'clock'>,
  address: string,
): Promise<void> {
  const { tx } = act;
  const userId = await verifiedOwnerOf(tx, address);
  // Users are locked first, as in every mutation.
  const user = userId === undefined ? undefined : await lockUser(act, userId, 'share');
  if (!user || user.isManaged || user.kind !== 'person' || user.status !== 'active') return;
  await lockOperators(tx);
  if ((await verifiedOwnerOf(tx, address)) !== user.id) return;
  const [prepared] = await tx
    .delete(preparedOperators)
    .where(eq(preparedOperators.address, address))
    .returning();
  if (!prepared) return;
  const { roleId, reason } = prepared;
  const operator = { userId: user.id, roleId, source: 'commandLine', createdBy: null } as const;
  await addOperator({ ...act, services }, services.config.operators, {
    ...operator,
    ...(reason !== null && { reason }),
  });
}
