import { and, eq, sql, type SQL } from 'drizzle-orm';
import { withoutRls } from '../../db/rls.ts';
import type { Context } from '../../kernel/context.ts';
import type { NodeRef } from '../../kernel/event.ts';
import { liveSessions, sessionData } from '../identity/sign-in.ts';
import { nodesOfUsers, systemActor } from '../identity/user-node.ts';
import { sessions } from '../me/session.ts';

/**
 * Sessions that users have with an app end with the app, and with what made it the user's business (identity §12). Each is
 * told in the node of its user, who is not to learn from it which administrator it was.
 */
type Ending = Pick<Context, 'tx' | 'services' | 'record'>;

/**
 * Ends the live sessions that `which` names, in statements whose number and size do not depend on how many there are. That
 * cached states of them are stale is for the caller to say, who knows what they have in common.
 */
async function endWhere({ tx, services, record }: Ending, which: SQL): Promise<void> {
  const { ended, nodes } = await withoutRls(tx, async () => {
    const ended = await tx
      .update(sessions)
      .set({ endedAt: services.clock.now() })
      .where(and(which, liveSessions(services)))
      .returning();
    const userIds = new Set(ended.map(({ userId }) => userId));
    return { ended, nodes: userIds.size > 0 ? await nodesOfUsers(tx, userIds) : new Map<string, NodeRef>() };
  });
  for (const row of ended) {
    const node = nodes.get(row.userId);
    // Of a user without an account nothing is recorded, least of all in the tenant that happens to be the call's.
    if (!node) continue;
    record({
      actor: systemActor,
      event: 'session.revoked',
      data: sessionData(row),
      target: { type: 'Session', id: row.id },
      node,
    });
  }
}

/** All sessions of an app that is gone; the caller touches it. */
export const endSessionsOfApp = (ctx: Ending, appId: string): Promise<void> =>
  endWhere(ctx, eq(sessions.projectAppId, appId));

/**
 * Those that the user has with apps of these projects, as far as a project is not his any more: whoever only stops taking
 * part in it may still be a member of its organization, or own its account. The caller touches him.
 */
export const endSessionsInLeft = (
  ctx: Ending,
  userId: string,
  projectIds: readonly string[],
): Promise<void> =>
  endWhere(
    ctx,
    and(
      eq(sessions.userId, userId),
      sql`${sessions.projectAppId} in (
        select a.id from project_apps a join nodes n on n.id = a.tenant_id
        where a.tenant_id = any(${`{${projectIds.join()}}`}::uuid[])
          and not exists (select 1 from project_users p where p.tenant_id = n.id and p.user_id = ${userId}::uuid)
          and not exists (select 1 from organization_members m
            where m.tenant_id = n.parent_id and m.user_id = ${userId}::uuid)
          and not exists (select 1 from accounts c
            where c.id = n.parent_id and c.owner_id = ${userId}::uuid and c.deleted_at is null))`,
    ) as SQL,
  );
