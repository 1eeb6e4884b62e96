import { sql } from 'drizzle-orm';
import { anyOf, rowsOf } from '../../db/statements/rows.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { createSharedRuns } from './shared-runs.ts';

interface EndedSessions {
  add(sessionIds: readonly string[]): void;
  /**
   * Resolves when every session that was added before this call has been looked up; undefined if all have been
   * already.
   */
  settled(): Promise<void> | undefined;
}

/**
 * Finds the projects whose apps lost a session. The announcement of a changed session names only the session, so one
 * statement at a time looks up the projects of all sessions that were announced meanwhile. Before `settled` resolves,
 * `onEnded` is called with the ids of the projects, or with null if they could not be read.
 */
export function createEndedSessions(
  pool: Executor,
  onEnded: (projectIds: readonly string[] | null) => void,
): EndedSessions {
  let added: string[] = [];
  let running = 0;
  const lookUp = createSharedRuns(async (begin) => {
    begin();
    const ids = added;
    added = [];
    if (ids.length > 0) onEnded(await projectsOf(pool, ids).catch(() => null));
  });
  return {
    add(sessionIds) {
      if (sessionIds.length === 0) return;
      added.push(...sessionIds);
      running++;
      void lookUp().finally(() => running--);
    },
    settled: () => (running > 0 ? lookUp() : undefined),
  };
}

async function projectsOf(pool: Executor, sessionIds: readonly string[]): Promise<string[]> {
  const rows = await rowsOf<{ projectId: string }>(
    pool,
    sql`
    select distinct a.tenant_id as "projectId" from sessions s join project_apps a on a.id = s.project_app_id
    where s.id = ${anyOf(sessionIds)} and s.ended_at is not null`,
  );
  return rows.map(({ projectId }) => projectId);
}
