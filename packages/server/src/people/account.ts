import { and, asc, eq, isNull } from 'drizzle-orm';
import { nodes } from '../schema/nodes.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import type { Run } from '../services.ts';
import { accounts } from '../schema/people/account.ts';

/** The live accounts of the user, oldest first. */
export const accountsOf = (tx: Executor, userId: string) =>
  tx
    .select()
    .from(accounts)
    .where(and(eq(accounts.ownerId, userId), isNull(accounts.deletedAt)))
    .orderBy(asc(accounts.createdAt), asc(accounts.id));

/** Inserts the account and its tenant node, which have the same id. */
export async function createAccount(
  { tx, services }: Pick<Run, 'tx' | 'services'>,
  ownerId: string,
  type: 'personal' | 'organization',
): Promise<typeof accounts.$inferSelect> {
  const id = services.ids.next();
  await tx.insert(nodes).values({ id, kind: 'account' });
  const [account] = await tx.insert(accounts).values({ id, ownerId, type }).returning();
  return account as typeof accounts.$inferSelect;
}
