import { and, asc, eq, getTableColumns, isNull, lte, sql, type SQL } from 'drizzle-orm';
import { lookUp, type RecordState } from './look-up.ts';
import { endUnboundSessions } from '../../members/app-sessions.ts';
import type { ActAsSystem, SystemAct } from '../../events/system-act.ts';
import type { Services } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import {
  OrganizationDomain,
  organizationDomains as domains,
} from '../../schema/tenants/organization-domain.ts';

const HOUR_MS = 3_600_000;
export const RECHECK_MS = 24 * HOUR_MS;
/** How long a record may be missing, for example while the organization moves to other name servers. */
const GRACE_MS = 72 * HOUR_MS;
/**
 * Maximum number of domains in one run, and how many of them are looked up at the same time. The next run continues.
 */
const BATCH = 500;
const CONCURRENCY = 10;

type Row = typeof domains.$inferSelect & {
  readonly record: { readonly name: string; readonly value: string };
};
const columns = { ...getTableColumns(domains), record: OrganizationDomain.computed['record'] as SQL };

/**
 * Looks for the records of verified and lapsed domains once a day. A domain whose record has been gone for three days
 * lapses; a lapsed domain whose record is back is verified again, unless another organization has verified it
 * meanwhile. An update of the row claims each check, so that one process does it. If no name server answers, nothing
 * changes, so that an outage of name servers does not cost an organization its domain. The check is then repeated after
 * an hour, and after two days of silence once a day.
 *
 * Never rejects: it logs failures, and a later run tries again.
 *
 * @returns how many domains lapsed or were verified again
 */
export async function recheckDomains(
  services: Pick<Services, 'clock' | 'config' | 'dns' | 'ids'>,
  pool: Executor,
  actAsSystem: ActAsSystem,
  log: (error: unknown, message: string) => void,
): Promise<number> {
  let changed = 0;
  const check = async (id: string): Promise<void> => {
    try {
      if (await checkOne(services, pool, id, actAsSystem)) changed++;
    } catch (error) {
      log(error, 'a domain of an organization could not be checked');
    }
  };
  try {
    const due = await pool
      .select({ id: domains.id })
      .from(domains)
      .where(isDue(services.clock.now()))
      .orderBy(asc(domains.nextCheckAt))
      .limit(BATCH);
    const ids = due.map(({ id }) => id);
    const worker = async (): Promise<void> => {
      for (let id = ids.pop(); id !== undefined; id = ids.pop()) await check(id);
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  } catch (error) {
    log(error, 'domains of organizations could not be listed');
  }
  return changed;
}

const later = (now: Date): Date => new Date(now.getTime() + RECHECK_MS);

const isDue = (now: Date): SQL => and(isNull(domains.deletedAt), lte(domains.nextCheckAt, now)) as SQL;

async function checkOne(
  services: Parameters<typeof recheckDomains>[0],
  pool: Executor,
  id: string,
  actAsSystem: ActAsSystem,
): Promise<boolean> {
  const { clock, dns } = services;
  const now = clock.now();
  const [claimed] = (await pool
    .update(domains)
    .set({ nextCheckAt: new Date(now.getTime() + HOUR_MS) })
    .where(and(eq(domains.id, id), isDue(now)))
    .returning(columns)) as Row[];
  if (!claimed) return false;
  const state = await lookUp(dns, claimed);
  if (state === 'unknown') {
    // Domains whose name servers have been silent for long are checked less often, so that they do not delay others.
    const isSilent = now.getTime() - (claimed.checkedAt?.getTime() ?? 0) > 2 * RECHECK_MS;
    if (isSilent)
      await pool
        .update(domains)
        .set({ nextCheckAt: later(now) })
        .where(eq(domains.id, id));
    return false;
  }
  return actAsSystem('recheckOrganizationDomain', (act) => note({ ...act, services }, id, state, now));
}

/** Stores the answer, unless the domain was deleted or verified meanwhile. Returns whether its status changed. */
async function note(
  act: SystemAct & { readonly services: Parameters<typeof recheckDomains>[0] },
  id: string,
  state: Exclude<RecordState, 'unknown'>,
  now: Date,
): Promise<boolean> {
  const { tx } = act;
  const [row] = await tx
    .select()
    .from(domains)
    .where(and(eq(domains.id, id), isNull(domains.deletedAt)))
    .for('update');
  if (!row || (row.checkedAt !== null && row.checkedAt > now)) return false;
  const status = await nextStatus(tx, row, state, now);
  const [after] = (await tx
    .update(domains)
    .set({
      status,
      checkedAt: now,
      missingSince: state === 'present' ? null : (row.missingSince ?? now),
      nextCheckAt: later(now),
      ...(status === row.status ? {} : { updatedAt: now }),
    })
    .where(eq(domains.id, id))
    .returning(columns)) as Row[];
  if (!after || status === row.status) return false;
  // Verified domains decide whom the organization admits, and by which sign-in methods.
  act.invalidate(`node:${row.tenantId}`);
  if (status === 'verified') await endUnboundSessions(act, row.tenantId);
  act.record({
    node: { id: row.tenantId, scope: { tenant: 'organization', id: row.tenantId } },
    ...(status === 'lapsed'
      ? { event: 'organization_domain.lapsed' }
      : { event: 'organization_domain.verified' }),
    data: after,
    target: { type: 'OrganizationDomain', id },
  });
  return true;
}

async function nextStatus(
  tx: Executor,
  row: typeof domains.$inferSelect,
  state: Exclude<RecordState, 'unknown'>,
  now: Date,
): Promise<(typeof row)['status']> {
  if (state === 'absent') {
    const isGone = row.missingSince !== null && now.getTime() - row.missingSince.getTime() >= GRACE_MS;
    return row.status === 'verified' && isGone ? 'lapsed' : row.status;
  }
  const others = await tx
    .select({ id: domains.id })
    .from(domains)
    .where(
      and(
        eq(domains.domain, row.domain),
        eq(domains.status, 'verified'),
        isNull(domains.deletedAt),
        sql`${domains.id} <> ${row.id}::uuid`,
      ),
    );
  return others.length === 0 ? 'verified' : row.status;
}
