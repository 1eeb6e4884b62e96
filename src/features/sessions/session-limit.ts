import { and, desc, eq, inArray, isNull, ne, not, or, type SQL } from 'drizzle-orm';
import { endSessions, liveSessions, type Run, type SessionRow, type UserRow } from '../identity/sign-in.ts';
import { userAsActor } from '../identity/user-node.ts';
import { sessions } from '../me/session.ts';
import { hasFactor } from '../mfa/mfa-factor.ts';

/** How many sessions a user has at once (AUTH_MAX_SESSIONS_PER_USER), and which are counted together. */

/** Whether a session of this service has yet to give the second factor of its user. */
export const isPending = and(
  isNull(sessions.projectAppId),
  eq(sessions.acr, 'aal1'),
  hasFactor(sessions.userId),
) as SQL;

/**
 * Ends the least recently used sessions above the limit. Sessions of an app are counted by themselves, so that an app
 * ends no sessions but its own. So are sessions that wait for the second factor, because the password alone opens them.
 * The session `id` itself stays.
 */
export async function endLeastUsed(
  ctx: Run,
  user: UserRow,
  { id, acr, appId }: { readonly id: string; readonly acr: SessionRow['acr']; readonly appId: string | null },
): Promise<void> {
  const { tx, services } = ctx;
  const alike = appId
    ? eq(sessions.projectAppId, appId)
    : and(isNull(sessions.projectAppId), or(not(hasFactor(sessions.userId)), eq(sessions.acr, acr)));
  const surplus = await tx
    .select({ id: sessions.id })
    .from(sessions)
    .where(and(eq(sessions.userId, user.id), alike, ne(sessions.id, id), liveSessions(services)))
    .orderBy(desc(sessions.lastUsedAt), desc(sessions.id))
    .offset(services.config.auth.maxSessionsPerUser - 1);
  const ids = surplus.map(({ id }) => id);
  if (ids.length > 0) await endSessions(ctx, user.id, inArray(sessions.id, ids), userAsActor(user));
}
