import { and, eq } from 'drizzle-orm';
import { sessions } from '../../schema/sign-in/session.ts';
import type { Run } from '../../services.ts';
import { liveSessions } from '../../sessions/live-sessions.ts';

/**
 * Whether the browser sign-in is live. Locks it until commit, so that its end is either seen here, or happens later and
 * then also ends the app session that began in it.
 */
export async function lockSsoSession({ tx, services }: Pick<Run, 'tx' | 'services'>, id: string) {
  const live = await tx
    .select({ id: sessions.id })
    .from(sessions)
    .where(and(eq(sessions.id, id), liveSessions(services)))
    .for('update');
  return live.length > 0;
}
