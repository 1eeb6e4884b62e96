import { and, eq, exists, inArray, isNull } from 'drizzle-orm';
import { nodes } from '../schema/nodes.ts';
import { pageOfOwn } from '../db/query/page.ts';
import { fail } from '../errors.ts';
import { callerOf } from '../kernel/context.ts';
import { pageOf, paging } from '../kernel/input/inputs.ts';
import { uuid } from '../kernel/input/values.ts';
import { mutation, query } from '../declare.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { loadGrants } from '../apps/access/consent.ts';
import { nodeOfUser } from '../people/user-node.ts';
import { lockUser } from '../people/lock-user.ts';
import { endApprovals } from '../sessions/pending-proofs.ts';
import { endSessions } from '../sessions/live-sessions.ts';
import { projectApps } from '../schema/apps/project-app.ts';
import { projectCodes } from '../schema/oauth/project-code.ts';
import { AppGrant, appGrants } from '../schema/oauth/app-grant.ts';
import { sessions } from '../schema/sign-in/session.ts';

/* Operations on the user's consents to apps (openid §6). */

/** SQL condition: neither the app of the grant nor the app's project is deleted. */
const isOfLiveApp = (db: Executor) =>
  exists(
    db
      .select({ id: projectApps.id })
      .from(projectApps)
      .innerJoin(nodes, and(eq(nodes.id, projectApps.tenantId), isNull(nodes.deletedAt)))
      .where(and(eq(projectApps.id, appGrants.projectAppId), isNull(projectApps.deletedAt))),
  );

export const myAppGrants = query({
  rest: 'GET /me/app-grants',
  summary: 'List the apps that you have consented to',
  access: 'session',
  input: paging(AppGrant),
  output: pageOf(AppGrant),
  run: async (ctx) => {
    const { tx, services, input } = ctx;
    const { userId } = callerOf(ctx);
    const page = await pageOfOwn(tx, services.cursors, {
      entity: AppGrant,
      list: 'myAppGrants',
      input,
      userId,
      filters: [isOfLiveApp(tx)],
    });
    const ids = page.items.map(({ id }) => id as string);
    const rows = ids.length === 0 ? [] : await loadGrants(tx, inArray(appGrants.id, ids));
    return { ...page, items: ids.flatMap((id) => rows.find((row) => row.id === id) ?? []) };
  },
});

export const revokeMyAppGrant = mutation({
  rest: 'DELETE /me/app-grants/:id',
  whileImpersonating: 'refused',
  summary: 'Take back what you have consented to for an app',
  description:
    'The app is signed out: its tokens are refused from now on. At its next sign-in you are asked again.',
  access: 'session',
  permissionChange: 'none',
  input: { id: uuid },
  output: AppGrant.schema,
  run: async (ctx) => {
    const { tx, input } = ctx;
    const { userId } = callerOf(ctx);
    // A code exchange or a sign-in takes the same lock: either its session exists and ends here, or it finds no grant.
    await lockUser(ctx, userId);
    const isOwn = and(eq(appGrants.id, input.id), eq(appGrants.userId, userId));
    const [grant] = isOwn ? await loadGrants(tx, isOwn) : [];
    if (!grant) throw fail('NOT_FOUND');
    const { projectAppId: appId, scopes } = grant;
    ctx.record({
      target: { type: 'ProjectApp', id: appId },
      node: await nodeOfUser(tx, userId),
      metadata: { scopes },
    });
    await tx.delete(appGrants).where(isOwn);
    const isUnused = and(eq(projectCodes.userId, userId), eq(projectCodes.appId, appId));
    await tx.delete(projectCodes).where(and(isUnused, isNull(projectCodes.sessionId)));
    await endApprovals(tx, userId, appId);
    await endSessions(ctx, userId, eq(sessions.projectAppId, appId));
    return grant;
  },
});
