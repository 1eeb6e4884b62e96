import { sql } from 'drizzle-orm';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { SnapshotApp, SnapshotKey } from '@doorward/decision/snapshot-claims';
import { verificationDeadlineOf } from '../../../access/credentials/credentials.ts';
import { rowsOf } from '../../../db/statements/rows.ts';
import type { Executor } from '../../../kernel/scoped-db.ts';
import type { JsonSize } from './limits.ts';
import type { SnapshotScope } from './snapshot-scope.ts';

/* The live API keys and the apps of a project, by the same rules as `access/credentials/credentials.ts`. */

const ROWS = 2000;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** Reads the keys, except keys that have expired at `now` (in milliseconds). */
export async function readKeys(
  tx: Executor,
  { projectId }: SnapshotScope,
  now: number,
  size: JsonSize,
): Promise<SnapshotKey[]> {
  const keys: SnapshotKey[] = [];
  for (let after = FIRST_ID; ;) {
    const rows = await rowsOf<SnapshotKey>(
      tx,
      sql`
      select * from (
        select k.id, k.user_id as "userId", k.scope_tenant = 'ProjectUser' as "ofUser",
          (select r.id from roles r where r.id = k.role_id and r.deleted_at is null and k.scope_tenant <> 'ProjectUser')
            as "roleId",
          (extract(epoch from least(k.expires_at, ${verificationDeadlineOf('account_owner')},
            case when k.scope_tenant = 'ProjectUser' then ${verificationDeadlineOf('u')} end)) * 1000)::float8
            as "expiresAt",
          k.allowed_cidrs as "allowedCidrs"
        from api_keys k join nodes n on n.id = k.tenant_id join users u on u.id = k.user_id
        left join accounts account on account.id = n.parent_id
        left join users account_owner on account_owner.id = account.owner_id
        where k.tenant_id = ${projectId}::uuid and k.id > ${after}::uuid
          and k.revoked_at is null and k.deleted_at is null
          and (k.scope_tenant <> 'ProjectUser' or (u.status = 'active' and u.deleted_at is null))) live
      where coalesce("expiresAt" > ${now}::float8, true) order by id limit ${ROWS}`,
    );
    for (const row of rows) size.add(JSON.stringify(row));
    keys.push(...rows);
    const last = rows.at(-1);
    if (!last || rows.length < ROWS) return keys;
    after = last.id;
    await nextTick();
  }
}

/** The apps of the project. */
export const readApps = (tx: Executor, { projectId }: SnapshotScope): Promise<SnapshotApp[]> =>
  rowsOf<SnapshotApp>(
    tx,
    sql`
    select client_id as "clientId", scopes, ceil(extract(epoch from updated_at))::float8 as "updatedAt"
    from project_apps where tenant_id = ${projectId}::uuid and deleted_at is null order by client_id`,
  );

/** The ids of the project's apps, by which changes to the apps are announced. */
export const readAppIds = async (tx: Executor, { projectId }: SnapshotScope): Promise<string[]> => {
  const rows = await rowsOf<{ id: string }>(
    tx,
    sql`select id from project_apps where tenant_id = ${projectId}::uuid and deleted_at is null`,
  );
  return rows.map(({ id }) => id);
};
