import { and, eq, gt, inArray, isNull, type SQL } from 'drizzle-orm';
import { sessions, type SessionRow } from '../schema/sign-in/session.ts';
import { queueLogoutNotices } from './logout-notice.ts';
import type { Services, Run } from '../services.ts';
import type { Actor } from '../kernel/event.ts';
import { recordImpersonationEnd } from './impersonation.ts';
import { nodeOfUser } from '../people/user-node.ts';

const DAY_MS = 86_400_000;

/** SQL condition for live sessions: not ended, not expired, and used within the idle time. */
export function liveSessions({ clock, config }: Pick<Services, 'clock' | 'config'>): SQL {
  const now = clock.now();
  const idleSince = new Date(now.getTime() - config.auth.sessionIdleDays * DAY_MS);
  return and(
    isNull(sessions.endedAt),
    gt(sessions.expiresAt, now),
    gt(sessions.lastUsedAt, idleSince),
  ) as SQL;
}

/** Whether the row meets the condition of `liveSessions`. */
export function isLive({ clock, config }: Services, row: SessionRow): boolean {
  const now = clock.now().getTime();
  const idleUntil = row.lastUsedAt.getTime() + config.auth.sessionIdleDays * DAY_MS;
  return row.endedAt === null && row.expiresAt.getTime() > now && idleUntil > now;
}

/**
 * Ends the user's live sessions that match `which`, and the app sessions that began in one of them. Their tokens are
 * rejected immediately by this process, and within a second by all others. Records a `session.revoked` for each, by
 * `actor` or else by the caller, and returns the ended rows.
 */
export async function endSessions(
  ctx: Pick<Run, 'tx' | 'services' | 'record' | 'invalidate'>,
  userId: string,
  which?: SQL,
  actor?: Actor,
): Promise<SessionRow[]> {
  const { tx, services } = ctx;
  const endWhere = (condition: SQL | undefined) =>
    tx
      .update(sessions)
      .set({ endedAt: services.clock.now() })
      .where(and(eq(sessions.userId, userId), condition, liveSessions(services)))
      .returning();
  const ended = await endWhere(which);
  const ofApps = ended.filter(({ ssoProjectId }) => ssoProjectId !== null).map(({ id }) => id);
  if (ofApps.length > 0) ended.push(...(await endWhere(inArray(sessions.ssoSessionId, ofApps))));
  await queueLogoutNotices(tx, services, ended);
  const node = ended.length > 0 ? await nodeOfUser(tx, userId) : undefined;
  for (const row of ended) {
    ctx.invalidate(`session:${row.id}`);
    ctx.record({
      actor,
      event: 'session.revoked',
      data: sessionData(row),
      target: { type: 'Session', id: row.id },
      node,
    });
    if (row.kind === 'impersonation') recordImpersonationEnd(ctx, row, actor);
  }
  return ended;
}

/** The public fields of a session, for events. `isCurrent` depends on the reader, so it is left out. */
export const sessionData = (row: SessionRow) => ({
  id: row.id,
  kind: row.kind,
  projectAppId: row.projectAppId,
  ssoProjectId: row.ssoProjectId,
  ssoSessionId: row.ssoSessionId,
  organizationId: row.organizationId,
  acr: row.acr,
  ipAddress: row.ipAddress,
  userAgent: row.userAgent,
  authenticatedAt: row.authenticatedAt,
  lastUsedAt: row.lastUsedAt,
  expiresAt: row.expiresAt,
  createdAt: row.createdAt,
});
