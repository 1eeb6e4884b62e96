import { asc, desc, sql, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Actor, NodeRef } from '../kernel/event.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { accounts } from '../schema/people/account.ts';

/**
 * The node that a user's events and audit entries belong to: their personal account, else another account of theirs
 * (events §3). Undefined for a user without an account, for whom nothing is recorded. A deleted account counts too,
 * because the deletion itself is recorded in it.
 */
export async function nodeOfUser(tx: Executor, userId: string): Promise<NodeRef | undefined> {
  return (await nodesOfUsers(tx, [userId])).get(userId);
}

/** SQL for the id of the node that `nodeOfUser` returns, for the user whose id is in this column. */
export const nodeIdOfUser = (userId: PgColumn): SQL<string | null> =>
  sql<string | null>`(select ${accounts.id} from ${accounts} where ${accounts.ownerId} = ${userId}
    order by ${accounts.deletedAt} is null desc, ${accounts.type} = 'personal' desc limit 1)`;

/** The reference to the node of an account, deleted or not. */
export const accountNode = (id: string): NodeRef => ({
  id,
  scope: { tenant: 'account', id },
  evenDeleted: true,
});

/** The nodes of many users, in one statement. */
export async function nodesOfUsers(
  tx: Executor,
  userIds: Iterable<string>,
): Promise<ReadonlyMap<string, NodeRef>> {
  const idArray = `{${[...userIds].join()}}`;
  const rows = await tx
    .selectDistinctOn([accounts.ownerId], { id: accounts.id, ownerId: accounts.ownerId })
    .from(accounts)
    .where(sql`${accounts.ownerId} = any(${idArray}::uuid[])`)
    .orderBy(
      asc(accounts.ownerId),
      desc(sql`${accounts.deletedAt} is null`),
      desc(sql`${accounts.type} = 'personal'`),
    );
  return new Map(rows.map(({ id, ownerId }) => [ownerId, accountNode(id)]));
}

/** The actor of a sign-in, a refresh or an opened mail link; the user has no access token yet. */
export const userAsActor = ({ id, name }: { readonly id: string; readonly name: string }): Actor => ({
  type: 'user',
  id,
  userId: id,
  name,
});

/** The actor of consequences of another user's operation, if readers of the log must not learn that user's name. */
export const systemActor: Actor = { type: 'system', id: null, userId: null, name: null };
