import { sql } from 'drizzle-orm';
import type { EndedCredentials } from '@doorward/decision/snapshot-claims';
import { rowsOf } from '../../../db/statements/rows.ts';
import type { Executor } from '../../../kernel/scoped-db.ts';
import type { SnapshotScope } from './snapshot-scope.ts';

const MAX_LISTED = 10_000;
const MAX_KIDS = 1000;
/** Added to the life of a token, because the clocks of processes differ. */
const MARGIN_MS = 60_000;
const MINUTE_MS = 60_000;

interface EndedRow {
  readonly id: string;
  readonly endedAt: number;
}

/**
 * Reads the sessions and keys of a project that have ended although some of their tokens may not have expired, and its
 * revoked signing keys (packages §8.2). The period begins at a whole minute, so that all processes list the same rows.
 */
export async function readEnded(
  tx: Executor,
  { projectId }: SnapshotScope,
  { now, tokenMs }: { readonly now: number; readonly tokenMs: number },
): Promise<EndedCredentials> {
  const since = Math.floor((now - tokenMs - MARGIN_MS) / MINUTE_MS) * MINUTE_MS;
  const from = sql`${new Date(since).toISOString()}::timestamptz`;
  const msOf = (column: string) => sql.raw(`(extract(epoch from ${column}) * 1000)::float8`);
  // Reads sessions by the index on `ended_at`, because a project may have millions, but few end in these minutes.
  const rows = await rowsOf<EndedRow>(
    tx,
    sql`
    select * from (
      select s.id, ${msOf('s.ended_at')} as "endedAt" from sessions s join project_apps a on a.id = s.project_app_id
        where s.ended_at >= ${from} and a.tenant_id = ${projectId}::uuid
      union all
      select k.id, ${msOf('coalesce(k.revoked_at, k.deleted_at)')} from api_keys k
        where k.tenant_id = ${projectId}::uuid and (k.revoked_at >= ${from} or k.deleted_at >= ${from})) ended
    order by "endedAt" desc, id limit ${MAX_LISTED + 1}`,
  );
  const kids = await rowsOf<{ kid: string }>(
    tx,
    sql`select kid from signing_keys where tenant_id = ${projectId}::uuid and status = 'revoked'
      order by created_at desc, kid limit ${MAX_KIDS}`,
  );
  const unlisted = rows[MAX_LISTED];
  return {
    jti: rows
      .slice(0, MAX_LISTED)
      .map(({ id }) => id)
      .sort(),
    issuedBefore: unlisted ? Math.ceil((unlisted.endedAt + MARGIN_MS) / 1000) : null,
    kids: kids.map(({ kid }) => kid).sort(),
  };
}

/** When the list changes by time alone, in milliseconds; null if it does not. */
export const endedChangesAt = ({ jti }: EndedCredentials, now: number): number | null =>
  jti.length === 0 ? null : (Math.floor(now / MINUTE_MS) + 1) * MINUTE_MS;
