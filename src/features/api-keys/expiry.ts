import { and, asc, eq, getTableColumns, gt, isNull, sql, type SQL } from 'drizzle-orm';
import type { ActAsSystem } from '../../events/system-act.ts';
import type { Services } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { projects } from '../projects/project.ts';
import { ApiKey, apiKeys, statusSql } from './api-key.ts';

/**
 * Warns of API keys that will expire: 30, 7 and 1 days before, once each (events §3). A key that lives shorter than a
 * notice is long gets none of it, and of notices that nobody was there to give only the last is given. The row
 * remembers it, and is claimed by one conditional update: of several processes one warns.
 *
 * Never rejects: a key that cannot be warned of is logged, and tried again by the next run.
 *
 * @returns of how many keys this call warned
 */
export async function warnOfExpiringKeys(
  { clock }: Pick<Services, 'clock'>,
  pool: Executor,
  actAsSystem: ActAsSystem,
  log: (error: unknown, message: string) => void,
): Promise<number> {
  const now = clock.now();
  let warned = 0;
  try {
    const found = await pool
      .select({ id: apiKeys.id })
      .from(apiKeys)
      .where(isDue(now))
      .orderBy(asc(apiKeys.expiresAt));
    for (const { id } of found) {
      try {
        if (await warn(id, now, actAsSystem)) warned++;
      } catch (error) {
        log(error, 'nobody could be told that an API key will expire');
      }
    }
  } catch (error) {
    log(error, 'API keys that will expire could not be looked for');
  }
  return warned;
}

/** The notice that an active key is due for, by the time that is left to it. */
const noticeAt = (now: Date): SQL => {
  const left = (days: number) => sql`${apiKeys.expiresAt} - ${days} * interval '1 day'`;
  const reached = (days: number) =>
    sql`${left(days)} <= ${now.toISOString()}::timestamptz and ${apiKeys.createdAt} < ${left(days)}`;
  return sql`case when ${reached(1)} then 1 when ${reached(7)} then 7 when ${reached(30)} then 30 end`;
};

const isDue = (now: Date): SQL =>
  and(
    isNull(apiKeys.deletedAt),
    isNull(apiKeys.revokedAt),
    gt(apiKeys.expiresAt, now),
    sql`${apiKeys.expiresAt} <= ${now.toISOString()}::timestamptz + interval '30 days'`,
    sql`${noticeAt(now)} < coalesce(${apiKeys.expiryNoticeDays}, 31)`,
  ) as SQL;

const warn = (id: string, now: Date, actAsSystem: ActAsSystem): Promise<boolean> =>
  actAsSystem('warnOfExpiringApiKey', async (act) => {
    const { tx } = act;
    const [key] = await tx
      .update(apiKeys)
      .set({ expiryNoticeDays: noticeAt(now) })
      .where(and(eq(apiKeys.id, id), isDue(now)))
      .returning({
        ...getTableColumns(apiKeys),
        scope: ApiKey.computed['scope'] as SQL,
        status: statusSql,
      });
    const [project] = key ? await tx.select().from(projects).where(eq(projects.id, key.tenantId)) : [];
    if (!key || !project) return false;
    const { id: projectId, ownerId, ownerKind } = project;
    act.record({
      node: { id: projectId, scope: { tenant: `${ownerKind}Project`, id: `${ownerId}:${projectId}` } },
      event: 'api_key.expiring',
      data: key,
      target: { type: 'ApiKey', id },
      metadata: { expiresAt: key.expiresAt, noticeDays: key.expiryNoticeDays },
    });
    return true;
  });
