import { asc, desc, sql, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Actor, NodeRef } from '../../kernel/event.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { accounts } from './account.ts';

/**
 * The node that a user's events and audit entries belong to: his personal account, else the other one (events §3).
 * Undefined for a user without an account, of whom nothing is recorded. What is said of a person is written down in an
 * account that is gone too: its end is among it.
 */
export async function nodeOfUser(tx: Executor, userId: string): Promise<NodeRef | undefined> {
  return (await nodesOfUsers(tx, [userId])).get(userId);
}

/** The id of that node within another statement, of the user whose id stands in the column; see `accountNode`. */
export const nodeIdOfUser = (userId: PgColumn): SQL<string | null> =>
  sql<string | null>`(select ${accounts.id} from ${accounts} where ${accounts.ownerId} = ${userId}
    order by ${accounts.deletedAt} is null desc, ${accounts.type} = 'personal' desc limit 1)`;

export const accountNode = (id: string): NodeRef => ({
  id,
  scope: { tenant: 'account', id },
  evenDeleted: true,
});

/** Of many, in one statement. */
export async function nodesOfUsers(
  tx: Executor,
  userIds: Iterable<string>,
): Promise<ReadonlyMap<string, NodeRef>> {
  const asked = `{${[...userIds].join()}}`;
  const rows = await tx
    .selectDistinctOn([accounts.ownerId], { id: accounts.id, ownerId: accounts.ownerId })
    .from(accounts)
    .where(sql`${accounts.ownerId} = any(${asked}::uuid[])`)
    .orderBy(
      asc(accounts.ownerId),
      desc(sql`${accounts.deletedAt} is null`),
      desc(sql`${accounts.type} = 'personal'`),
    );
  return new Map(rows.map(({ id, ownerId }) => [ownerId, accountNode(id)]));
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
