import { and, asc, eq, isNotNull, isNull, lt, or, type SQL } from 'drizzle-orm';
import type { ActAsSystem } from '../../events/system-act.ts';
import { projectApps } from '../../schema/apps/project-app.ts';
import type { Services } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { appById, type LiveApp } from '../../apps/access/app.ts';
import { deleteRegisteredApp } from './registered-client.ts';

/* Deletes registered apps that aren't used, so that they don't fill the project (openid §13). */

const UNUSED_DAYS = 30;
const DAY_MS = 86_400_000;
/** How many apps one run deletes at most; the next run continues. */
const BATCH = 500;

/** Records that the app is used, at most once a day, so that its sign-ins do not wait for each other. */
export async function noteUse(
  { tx, services }: { readonly tx: Executor; readonly services: Services },
  app: LiveApp,
): Promise<void> {
  if (app.registrationHash === null) return;
  const now = services.clock.now();
  if (app.lastUsedAt && now.getTime() - app.lastUsedAt.getTime() < DAY_MS) return;
  await tx.update(projectApps).set({ lastUsedAt: now }).where(eq(projectApps.id, app.id));
}

const isUnused = (since: Date): SQL =>
  and(
    isNotNull(projectApps.registrationHash),
    isNull(projectApps.deletedAt),
    lt(projectApps.createdAt, since),
    or(isNull(projectApps.lastUsedAt), lt(projectApps.lastUsedAt, since)),
  ) as SQL;

/**
 * Deletes registered apps that have not been used for 30 days, each in a separate transaction. Never rejects: failures
 * are logged, and the next run tries again.
 *
 * @returns how many apps this call deleted
 */
export async function deleteUnusedApps(
  services: Services,
  pool: Executor,
  actAsSystem: ActAsSystem,
  log: (error: unknown, message: string) => void,
): Promise<number> {
  const since = new Date(services.clock.now().getTime() - UNUSED_DAYS * DAY_MS);
  let deleted = 0;
  try {
    const due = await pool
      .select({ id: projectApps.id })
      .from(projectApps)
      .where(isUnused(since))
      .orderBy(asc(projectApps.createdAt))
      .limit(BATCH);
    for (const { id } of due) {
      try {
        if (await deleteOne(services, id, since, actAsSystem)) deleted++;
      } catch (error) {
        log(error, 'an unused registered app could not be deleted');
      }
    }
  } catch (error) {
    log(error, 'unused registered apps could not be listed');
  }
  return deleted;
}

const deleteOne = (services: Services, id: string, since: Date, actAsSystem: ActAsSystem): Promise<boolean> =>
  actAsSystem('deleteUnusedApp', async (act) => {
    const { tx } = act;
    // Another process may have been faster, or a sign-in may have used the app.
    const [due] = await tx
      .select({ id: projectApps.id })
      .from(projectApps)
      .where(and(eq(projectApps.id, id), isUnused(since)))
      .for('update', { skipLocked: true });
    const app = due && (await appById(tx, id));
    if (!app) return false;
    const record: Parameters<typeof deleteRegisteredApp>[0]['record'] = (note) =>
      act.record(note as Parameters<typeof act.record>[0]);
    return deleteRegisteredApp({ ...act, services, record }, app);
  });
