import { and, asc, eq, getTableColumns, gt, isNull, sql, type SQL } from 'drizzle-orm';
import type { ActAsSystem } from '../../events/system-act.ts';
import type { Services } from '../../services.ts';
import type { NodeRef } from '../../kernel/event.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { projectNodeOf } from '../../members/slices.ts';
import { ApiKey, apiKeys, statusSql } from '../../schema/machines/api-key.ts';

/**
 * Emits `api_key.expiring` 30, 7 and 1 days before a key expires, once each (events §3). Notices that were due before
 * the key was created are skipped; of several missed notices only the latest is sent. A conditional update of the row
 * claims each notice, so only one process sends it.
 *
 * Never rejects: it logs a key that fails, and the next run tries that key again.
 *
 * @returns how many notices this call sent
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
    const dueKeys = await pool
      .select({ id: apiKeys.id })
      .from(apiKeys)
      .where(isDue(now))
      .orderBy(asc(apiKeys.expiresAt));
    for (const { id } of dueKeys) {
      try {
        if (await warn(id, now, actAsSystem)) warned++;
      } catch (error) {
        log(error, 'an expiry notice for an API key could not be sent');
      }
    }
  } catch (error) {
    log(error, 'API keys that will expire could not be listed');
  }
  return warned;
}

/** SQL: the latest notice of a key whose time has come, in days before the expiry; null if none. */
const dueNotice = (now: Date): SQL => {
  const noticeTime = (days: number) => sql`${apiKeys.expiresAt} - ${days} * interval '1 day'`;
  const isReached = (days: number) =>
    sql`${noticeTime(days)} <= ${now.toISOString()}::timestamptz and ${apiKeys.createdAt} < ${noticeTime(days)}`;
  return sql`case when ${isReached(1)} then 1 when ${isReached(7)} then 7 when ${isReached(30)} then 30 end`;
};

const isDue = (now: Date): SQL =>
  and(
    isNull(apiKeys.deletedAt),
    isNull(apiKeys.revokedAt),
    gt(apiKeys.expiresAt, now),
    sql`${apiKeys.expiresAt} <= ${now.toISOString()}::timestamptz + interval '30 days'`,
    sql`${dueNotice(now)} < coalesce(${apiKeys.expiryNoticeDays}, 31)`,
  ) as SQL;

const warn = (id: string, now: Date, actAsSystem: ActAsSystem): Promise<boolean> =>
  actAsSystem('warnOfExpiringApiKey', async (act) => {
    const { tx } = act;
    const [key] = await tx
      .update(apiKeys)
      .set({ expiryNoticeDays: dueNotice(now) })
      .where(and(eq(apiKeys.id, id), isDue(now)))
      .returning({
        ...getTableColumns(apiKeys),
        scope: ApiKey.computed['scope'] as SQL,
        status: statusSql,
      });
    const node = key && (await nodeOfKey(tx, key));
    if (!node) return false;
    act.record({
      node,
      event: 'api_key.expiring',
      data: key,
      target: { type: 'ApiKey', id },
      metadata: { expiresAt: key.expiresAt, noticeDays: key.expiryNoticeDays },
    });
    return true;
  });

async function nodeOfKey(tx: Executor, key: typeof apiKeys.$inferSelect): Promise<NodeRef | undefined> {
  const { tenantId: id, scopeTenant } = key;
  if (scopeTenant === 'Organization') return { id, scope: { tenant: 'organization', id } };
  if (scopeTenant === 'Account') return { id, scope: { tenant: 'account', id } };
  return (await projectNodeOf(tx, id))?.node;
}
