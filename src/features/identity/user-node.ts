import { desc, eq, sql } from 'drizzle-orm';
import type { Actor, NodeRef } from '../../kernel/event.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { accounts } from './account.ts';

/**
 * The node that a user's events and audit entries belong to: his personal account, else the other one (events §3).
 * Undefined for a user without an account, of whom nothing is recorded. What is said of a person is written down in an
 * account that is gone too: its end is among it.
 */
export async function nodeOfUser(tx: Executor, userId: string): Promise<NodeRef | undefined> {
  const [account] = await tx
    .select({ id: accounts.id })
    .from(accounts)
    .where(eq(accounts.ownerId, userId))
    .orderBy(desc(sql`${accounts.deletedAt} is null`), desc(sql`${accounts.type} = 'personal'`))
    .limit(1);
  return account && { id: account.id, scope: { tenant: 'account', id: account.id }, evenDeleted: true };
}

/** A user who acts before his credentials are a token: who signs in, refreshes, or opens a mailed link. */
export const userAsActor = ({ id, name }: { readonly id: string; readonly name: string }): Actor => ({
  type: 'user',
  id,
  userId: id,
  name,
});

/** For what follows from another user's act, whose name is not the owner's business. */
export const systemActor: Actor = { type: 'system', id: null, userId: null, name: null };
