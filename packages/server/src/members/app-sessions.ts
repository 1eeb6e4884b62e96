import { and, eq, isNotNull, isNull, sql, type Column, type SQL } from 'drizzle-orm';
import { isAddressInDomain, isDomainOf, isEnforced } from '../access/credentials/company-address.ts';
import { isAnyOf } from '../db/statements/rows.ts';
import { withoutRls } from '../db/tenancy/rls.ts';
import type { Context } from '../services.ts';
import type { NodeRef, Recording } from '../kernel/event.ts';
import { projectCodes } from '../schema/oauth/project-code.ts';
import { queueLogoutNotices } from '../sessions/logout-notice.ts';
import { deviceAuthorizations } from '../schema/oauth/device-authorization.ts';
import { liveSessions, sessionData } from '../sessions/live-sessions.ts';
import { nodesOfUsers, systemActor } from '../people/user-node.ts';
import { sessions } from '../schema/sign-in/session.ts';

/*
 * A user's sessions with an app end when the app is deleted, and when the user loses access to its project (identity
 * §12). That is recorded in the user's node, without the administrator who caused it.
 */

interface SessionEndContext extends Pick<Context, 'tx'> {
  readonly services: Pick<Context['services'], 'clock' | 'config' | 'ids'>;
  readonly record: (recording: Recording & { readonly node: NodeRef }) => void;
}

/**
 * Ends the live sessions that match `which`, in a fixed number of statements, however many sessions there are. The
 * caller must invalidate their cached states.
 */
async function endSessionsWhere({ tx, services, record }: SessionEndContext, which: SQL): Promise<void> {
  const { ended, nodes } = await withoutRls(tx, async () => {
    const ended = await tx
      .update(sessions)
      .set({ endedAt: services.clock.now() })
      .where(and(which, liveSessions(services)))
      .returning();
    await queueLogoutNotices(tx, services, ended);
    const userIds = new Set(ended.map(({ userId }) => userId));
    return { ended, nodes: userIds.size > 0 ? await nodesOfUsers(tx, userIds) : new Map<string, NodeRef>() };
  });
  for (const row of ended) {
    const node = nodes.get(row.userId);
    // Nothing is recorded for a user without an account: the tenant of the call must not see their sessions.
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

/** Ends all sessions of deleted apps. The caller must invalidate the apps. */
export const endSessionsOfApps = (ctx: SessionEndContext, appIds: readonly string[]): Promise<void> =>
  endSessionsWhere(ctx, isAnyOf(sessions.projectAppId, appIds));

/**
 * Ends the user's sessions with apps of these projects, and their browser sign-ins there, if they have no access left:
 * a user who is removed from a project may still be a member of its organization or own its account. The caller must
 * invalidate the user.
 */
export const endSessionsInLostProjects = (
  ctx: SessionEndContext,
  userId: string,
  projectIds: readonly string[],
): Promise<void> =>
  endSessionsWhere(
    ctx,
    and(
      eq(sessions.userId, userId),
      // Sessions for a customer stay here: they end with the membership in the customer. A browser sign-in stays if it
      // may also serve a customer of the project.
      sql`not exists (select 1 from project_grants g
          join project_apps a on a.id = ${sessions.projectAppId} and a.tenant_id = g.tenant_id
        where g.organization_id = ${sessions.organizationId} and g.status = 'active' and g.deleted_at is null)
      and (${sessions.ssoProjectId} is null or not exists (select 1 from project_grants g
        join organization_members m on m.tenant_id = g.organization_id and m.user_id = ${userId}::uuid
        where g.tenant_id = ${sessions.ssoProjectId} and g.status = 'active' and g.deleted_at is null))
      and coalesce(${sessions.ssoProjectId},
          (select a.tenant_id from project_apps a where a.id = ${sessions.projectAppId})) in (
        select n.id from nodes n where n.id = any(${`{${projectIds.join()}}`}::uuid[])
          and not exists (select 1 from project_users p where p.tenant_id = n.id and p.user_id = ${userId}::uuid)
          and not exists (select 1 from organization_members m
            where m.tenant_id = n.parent_id and m.user_id = ${userId}::uuid)
          and not exists (select 1 from accounts c
            where c.id = n.parent_id and c.owner_id = ${userId}::uuid and c.deleted_at is null))`,
    ) as SQL,
  );

/**
 * Ends app sessions that are for an organization: those of one member, or with the apps of one project. The caller must
 * invalidate the user or the grant.
 */
export const endSessionsForOrganization = (
  ctx: SessionEndContext,
  organizationId: string,
  { userId, projectId }: { readonly userId?: string; readonly projectId?: string },
): Promise<void> =>
  endSessionsWhere(
    ctx,
    and(
      eq(sessions.organizationId, organizationId),
      userId === undefined ? undefined : eq(sessions.userId, userId),
      projectId === undefined
        ? undefined
        : sql`exists (select 1 from project_apps a where a.id = ${sessions.projectAppId} and a.tenant_id = ${projectId}::uuid)`,
    ) as SQL,
  );

/**
 * Ends app sessions that members began without the organization's provider, if the organization requires it for their
 * address, and deletes their unused codes and device authorizations. Call it when enforcement begins, or is extended to
 * another domain or a new member (`userId`). The caller must invalidate the organization or the user.
 */
export async function endUnboundSessions(
  ctx: SessionEndContext,
  organizationId: string,
  { userId }: { readonly userId?: string } = {},
): Promise<void> {
  const isRequired = (row: {
    readonly organizationId: Column;
    readonly appId: Column;
    readonly userId: Column;
  }) =>
    sql`${userId === undefined ? sql`true` : sql`${row.userId} = ${userId}::uuid`}
      and (${row.organizationId} = ${organizationId}::uuid or ${isInOwnProjectOfMember(organizationId, row)})
      and exists (select 1 from organization_connections c join organization_domains d on ${isDomainOf('c')}
        join authentication_methods m on m.user_id = ${row.userId} and ${isAddressInDomain}
        where c.tenant_id = ${organizationId}::uuid and ${isEnforced})`;
  const isUnbound = (ssoSessionId: Column) => sql`not exists (select 1 from sessions began
    where began.id = ${ssoSessionId} and began.organization_id = ${organizationId}::uuid)`;
  await withoutRls(ctx.tx, async () => {
    const isUnused = and(isNull(projectCodes.sessionId), isUnbound(projectCodes.ssoSessionId));
    await ctx.tx.delete(projectCodes).where(and(isUnused, isRequired(projectCodes)));
    // The row does not say which sign-in approved the device, so all are deleted; the device starts again.
    await ctx.tx.delete(deviceAuthorizations).where(isRequired(deviceAuthorizations));
  });
  const { projectAppId: appId } = sessions;
  await endSessionsWhere(
    ctx,
    and(
      isNotNull(appId),
      isUnbound(sessions.ssoSessionId),
      isRequired({ organizationId: sessions.organizationId, appId, userId: sessions.userId }),
    ) as SQL,
  );
}

/**
 * SQL condition: the row is for no organization, in a project of this organization whose member the user is. A member
 * may have signed in there without an organization, for example before they joined.
 */
const isInOwnProjectOfMember = (
  organizationId: string,
  row: { readonly organizationId: Column; readonly appId: Column; readonly userId: Column },
): SQL =>
  sql`(${row.organizationId} is null and exists (select 1 from project_apps a join nodes n on n.id = a.tenant_id
      where a.id = ${row.appId} and n.parent_id = ${organizationId}::uuid)
    and exists (select 1 from organization_members m
      where m.tenant_id = ${organizationId}::uuid and m.user_id = ${row.userId}))`;
