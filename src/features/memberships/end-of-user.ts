import { asc, eq } from 'drizzle-orm';
import { deleteNodes } from '../../db/tenant-tree.ts';
import type { Actor, Recording } from '../../kernel/event.ts';
import { oneTimeTokens } from '../identity/one-time-token.ts';
import { endProofs } from '../sign-in-protection/proofs.ts';
import { accountsOf } from '../identity/account.ts';
import { endSessions, userData, type Run, type UserRow } from '../identity/sign-in.ts';
import { nodeOfUser } from '../identity/user-node.ts';
import { authenticationMethods } from '../me/authentication-method.ts';
import { users } from '../users/user.ts';
import { organizationMembers, projectUsers } from './membership.ts';
import { endMembership } from './organization.ts';
import { endOwnKeys, leaveEveryProject } from './project.ts';

/** What became of a user. */
export interface Ended {
  readonly deletedAt: Date;
  /** Accounts, organizations and projects that went with him. */
  readonly nodeIds: ReadonlySet<string>;
}

/**
 * Deletes a user softly, with all that is his alone (model §4): his accounts with everything in them, and organizations
 * to which nobody else belongs. He leaves every other organization and project; his sessions, own keys, mailed tokens
 * and waiting mails end. His address stays taken until the purge.
 *
 * The caller holds his row, so what signs him in, or makes him a member, comes before this and is found, or after it
 * and is refused. Records `user.deleted` first; by `actor`, or else the caller.
 * @throws LAST_OWNER
 */
export async function endUser(given: Run, user: UserRow, actor?: Actor): Promise<Ended> {
  const { tx, services } = given;
  const ctx: Run = actor
    ? { ...given, record: (recording: Recording) => given.record({ actor, ...recording }) }
    : given;
  const { id } = user;
  const deletedAt = services.clock.now();
  const ended = { deletedAt, updatedAt: deletedAt };
  ctx.record({
    event: 'user.deleted',
    data: userData({ ...user, ...ended }),
    target: { type: 'User', id },
    node: await nodeOfUser(tx, id),
  });
  ctx.touch(`user:${id}`);

  const memberships = await tx
    .select()
    .from(organizationMembers)
    .where(eq(organizationMembers.userId, id))
    .orderBy(asc(organizationMembers.tenantId))
    .for('update');
  await tx
    .select({ id: projectUsers.tenantId })
    .from(projectUsers)
    .where(eq(projectUsers.userId, id))
    .orderBy(asc(projectUsers.tenantId))
    .for('update');
  await endOwnKeys(ctx, id);
  await endSessions(ctx, id, undefined, actor);
  await endProofs(tx, id);
  // Up to here rows, from here nodes, in the order of every mutation.
  const owned = await accountsOf(tx, id);
  const felled = await deleteNodes(
    tx,
    owned.map((account) => account.id),
    memberships.map(({ tenantId }) => tenantId),
  );
  for (const topic of felled.topics) ctx.touch(topic);
  for (const member of memberships) if (!felled.ids.has(member.tenantId)) await endMembership(ctx, member);
  await leaveEveryProject(ctx, id);

  await tx.delete(oneTimeTokens).where(eq(oneTimeTokens.userId, id));
  await services.mail.discard(tx, await addressesOf(ctx, user));
  await tx.update(users).set(ended).where(eq(users.id, id));
  return { deletedAt, nodeIds: felled.ids };
}

async function addressesOf({ tx }: Run, { id, email }: UserRow): Promise<string[]> {
  const methods = await tx
    .select({ address: authenticationMethods.providerId })
    .from(authenticationMethods)
    .where(eq(authenticationMethods.userId, id));
  return [...methods.map(({ address }) => address), ...(email === null ? [] : [email])];
}
