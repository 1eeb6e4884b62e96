/* The limit of sessions per user (AUTH_MAX_SESSIONS_PER_USER), and which sessions count together. */

import { and, desc, eq, inArray, isNotNull, isNull, ne, not, or, type SQL } from 'drizzle-orm';
import type { Run } from '../services.ts';
import { type SessionRow, sessions } from '../schema/sign-in/session.ts';
import type { UserRow } from '../schema/people/user.ts';
import { endSessions, liveSessions } from './live-sessions.ts';
import { userAsActor } from '../people/user-node.ts';
import { hasFactor } from '../people/enrolment.ts';

/** SQL condition for sessions of this service whose second factor is still pending. */
export const isPending = and(
  isNull(sessions.projectAppId),
  isNull(sessions.ssoProjectId),
  eq(sessions.acr, 'aal1'),
  hasFactor(sessions.userId),
) as SQL;

/**
 * Ends the least recently used sessions above the limit, but never the session `id` itself. Sessions of each app are
 * counted separately, so that an app cannot end other sessions. So are sessions with a pending second factor, because
 * the password alone opens them, and browser sign-ins to the apps of projects.
 */
export async function endLeastUsed(
  ctx: Run,
  user: UserRow,
  session: {
    readonly id: string;
    readonly acr: SessionRow['acr'];
    readonly appId: string | null;
    readonly isSso: boolean;
  },
): Promise<void> {
  const { tx, services } = ctx;
  const { id } = session;
  const isCountedTogether = groupOf(session);
  const surplus = await tx
    .select({ id: sessions.id })
    .from(sessions)
    .where(and(eq(sessions.userId, user.id), isCountedTogether, ne(sessions.id, id), liveSessions(services)))
    .orderBy(desc(sessions.lastUsedAt), desc(sessions.id))
    .offset(services.config.auth.maxSessionsPerUser - 1);
  const ids = surplus.map(({ id }) => id);
  if (ids.length > 0) await endSessions(ctx, user.id, inArray(sessions.id, ids), userAsActor(user));
}

/** SQL condition for the sessions that count together with this one. */
function groupOf({
  acr,
  appId,
  isSso,
}: {
  readonly acr: SessionRow['acr'];
  readonly appId: string | null;
  readonly isSso: boolean;
}): SQL | undefined {
  if (appId !== null) return eq(sessions.projectAppId, appId);
  if (isSso) return isNotNull(sessions.ssoProjectId);
  const isOfService = and(isNull(sessions.projectAppId), isNull(sessions.ssoProjectId));
  return and(isOfService, or(not(hasFactor(sessions.userId)), eq(sessions.acr, acr)));
}
