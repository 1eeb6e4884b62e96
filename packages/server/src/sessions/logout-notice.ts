import { and, eq, inArray, isNotNull } from 'drizzle-orm';
import { projectApps } from '../schema/apps/project-app.ts';
import type { Services } from '../services.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import type { SessionRow } from '../schema/sign-in/session.ts';
import { logoutNotices } from '../schema/oauth/logout-notice.ts';

/**
 * Queues a logout notice for each ended session whose app wants one. Only sessions with an id_token count, because the
 * app knows the session id from there.
 */
export async function queueLogoutNotices(
  tx: Executor,
  { ids, clock }: Pick<Services, 'ids' | 'clock'>,
  ended: readonly SessionRow[],
): Promise<void> {
  const ofOpenid = ended.filter(({ openidScopes }) => openidScopes.includes('openid'));
  const appIds = [...new Set(ofOpenid.flatMap(({ projectAppId }) => projectAppId ?? []))];
  if (appIds.length === 0) return;
  const wanting = await tx
    .select({ id: projectApps.id })
    .from(projectApps)
    .where(and(inArray(projectApps.id, appIds), isNotNull(projectApps.backchannelLogoutUri)));
  const now = clock.now();
  const rows = ofOpenid.flatMap(({ id: sessionId, projectAppId, userId }) =>
    wanting.some(({ id }) => id === projectAppId)
      ? [
          {
            id: ids.next(),
            projectAppId: projectAppId ?? '',
            userId,
            sessionId,
            nextAttemptAt: now,
            createdAt: now,
          },
        ]
      : [],
  );
  if (rows.length > 0) await tx.insert(logoutNotices).values(rows);
}

/** SQL condition: the notice still belongs to this attempt; otherwise another process has taken it over. */
export const isAttempt = ({ id, attempts }: { readonly id: string; readonly attempts: number }) =>
  and(eq(logoutNotices.id, id), eq(logoutNotices.attempts, attempts));
