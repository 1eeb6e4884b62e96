import { and, desc, eq, inArray, isNull, ne, not, or, type SQL } from 'drizzle-orm';
import type { Run, SessionRow, UserRow } from '../identity/sign-in.ts';
import { endSessions, liveSessions } from './live-sessions.ts';
import { userAsActor } from '../identity/user-node.ts';
import { sessions } from '../../features/me/session.ts';
import { hasFactor } from '../../features/mfa/mfa-factor.ts';

/** The limit of sessions per user (AUTH_MAX_SESSIONS_PER_USER), and which sessions count together. */

/** Condition for sessions of this service that still require the second factor. */
export const isPending = and(
  isNull(sessions.projectAppId),
  eq(sessions.acr, 'aal1'),
  hasFactor(sessions.userId),
) as SQL;

/**
 * Ends the least recently used sessions above the limit; the session `id` itself stays. Sessions of each app are
 * counted separately, so that an app ends no other sessions. Sessions that wait for the second factor are counted
 * separately too, because the password alone opens them.
 */
export async function endLeastUsed(
  ctx: Run,
  user: UserRow,
  { id, acr, appId }: { readonly id: string; readonly acr: SessionRow['acr']; readonly appId: string | null },
): Promise<void> {
  const { tx, services } = ctx;
  const isCountedTogether = appId
    ? eq(sessions.projectAppId, appId)
    : and(isNull(sessions.projectAppId), or(not(hasFactor(sessions.userId)), eq(sessions.acr, acr)));
  const surplus = await tx
    .select({ id: sessions.id })
    .from(sessions)
    .where(and(eq(sessions.userId, user.id), isCountedTogether, ne(sessions.id, id), liveSessions(services)))
    .orderBy(desc(sessions.lastUsedAt), desc(sessions.id))
    .offset(services.config.auth.maxSessionsPerUser - 1);
  const ids = surplus.map(({ id }) => id);
  if (ids.length > 0) await endSessions(ctx, user.id, inArray(sessions.id, ids), userAsActor(user));
}
