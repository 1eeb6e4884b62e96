import { asc, eq } from 'drizzle-orm';
import { deleteNodes } from '../db/tenancy/tenant-tree.ts';
import type { Actor, Recording } from '../kernel/event.ts';
import { oneTimeTokens } from '../schema/sign-in/one-time-token.ts';
import { endProofs } from '../sessions/pending-proofs.ts';
import { accountsOf } from '../people/account.ts';
import { userData } from '../sessions/sign-in.ts';
import type { Run } from '../services.ts';
import { type UserRow, users } from '../schema/people/user.ts';
import { endSessions } from '../sessions/live-sessions.ts';
import { nodeOfUser } from '../people/user-node.ts';
import { authenticationMethods } from '../schema/sign-in/authentication-method.ts';
import { organizationMembers, projectUsers } from '../schema/rights/membership.ts';
import { recordEndedGrants } from './grant-entries.ts';
import { endMembership } from './organization.ts';
import { endOwnKeys, leaveEveryProject } from './project.ts';

/** The result of a deletion. */
interface DeletedUser {
  readonly deletedAt: Date;
  /** Accounts, organizations and projects that were deleted with the user. */
  readonly nodeIds: ReadonlySet<string>;
}

/**
 * Soft-deletes a user with everything that belongs only to them (model §4): their accounts with all contents, and
 * organizations without other members. The user leaves every other organization and project; their sessions, own keys,
 * mailed tokens and queued mails end. Their address stays reserved until the purge.
 *
 * The caller holds the lock on the user's row, so a concurrent sign-in or new membership either comes first and is
 * found, or comes later and is refused. Records `user.deleted` first, by `actor` or else by the caller.
 *
 * @throws LAST_OWNER
 */
export async function deleteUser(callerContext: Run, user: UserRow, actor?: Actor): Promise<DeletedUser> {
  const { tx, services } = callerContext;
  const ctx: Run = actor
    ? { ...callerContext, record: (recording: Recording) => callerContext.record({ actor, ...recording }) }
    : callerContext;
  const { id } = user;
  const deletedAt = services.clock.now();
  const deletion = { deletedAt, updatedAt: deletedAt };
  ctx.record({
    event: 'user.deleted',
    data: userData({ ...user, ...deletion }),
    target: { type: 'User', id },
    node: await nodeOfUser(tx, id),
  });
  ctx.invalidate(`user:${id}`);

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
  // Lock order, as in every mutation: rows first (above), then nodes (from here on).
  const owned = await accountsOf(tx, id);
  const deletedNodes = await deleteNodes(
    tx,
    owned.map((account) => account.id),
    memberships.map(({ tenantId }) => tenantId),
  );
  for (const topic of deletedNodes.topics) ctx.invalidate(topic);
  await recordEndedGrants(ctx, deletedNodes);
  for (const member of memberships)
    if (!deletedNodes.ids.has(member.tenantId)) await endMembership(ctx, member);
  await leaveEveryProject(ctx, id);

  await tx.delete(oneTimeTokens).where(eq(oneTimeTokens.userId, id));
  await services.mail.discard(tx, await addressesOf(ctx, user));
  await tx.update(users).set(deletion).where(eq(users.id, id));
  return { deletedAt, nodeIds: deletedNodes.ids };
}

async function addressesOf({ tx }: Run, { id, email }: UserRow): Promise<string[]> {
  const methods = await tx
    .select({ address: authenticationMethods.label })
    .from(authenticationMethods)
    .where(eq(authenticationMethods.userId, id));
  return [...methods.map(({ address }) => address), ...(email === null ? [] : [email])];
}
