import { sql, type SQL } from 'drizzle-orm';
import { ERASED_ADDRESS, type People } from '../db/purge-people.ts';
import { rowsOf } from '../db/rows.ts';
import type { Executor } from '../kernel/scoped-db.ts';

/**
 * Takes what is personal of erased users out of what is kept of the past (model §4, events §7). An audit entry loses
 * the values that its `personalDigest` covers, and the salt, so that nobody can guess them; the chain still verifies.
 * That goes for what the user did and for what was done to him. Events lose his fields, and his address.
 *
 * Both tables are walked page by page along their key: they have no index by user, and a statement over all of a long
 * log would run into the time-out.
 */
/** Where a walk stands; null at its start and end. */
export interface Place {
  readonly table: 'audit_log' | 'events';
  readonly tenantId: string;
  readonly sequence: string;
}

const PAGE = 5000;

/** Erases one page and answers where the next begins; null when there is none. Doing it again changes nothing. */
export async function erasePage(tx: Executor, people: People, after: Place | null): Promise<Place | null> {
  const table = after?.table ?? 'audit_log';
  const [last] = await rowsOf<Omit<Place, 'table'>>(
    tx,
    sql`
    with page as materialized (
      select id, tenant_id, sequence from ${sql.identifier(table)}
      ${after?.tenantId ? sql`where (tenant_id, sequence) > (${after.tenantId}::uuid, ${after.sequence}::bigint)` : sql``}
      order by tenant_id, sequence limit ${PAGE}),
    erased as (${table === 'audit_log' ? entries(people) : bodies(people)})
    select tenant_id as "tenantId", sequence::text from page order by page.tenant_id desc, page.sequence desc limit 1`,
  );
  if (last) return { table, ...last };
  return table === 'audit_log' ? { table: 'events', tenantId: '', sequence: '' } : null;
}

const entries = ({ ids }: People): SQL => sql`
  update audit_log a set actor = a.actor || '{"name": null}', ip_address = null, user_agent = null, salt = null,
    changes = case when a.target->>'type' = 'User' then null else a.changes end
  from page where a.id = page.id and a.salt is not null and (a.actor->>'userId' in ${texts(ids)}
    or (a.target->>'type' = 'User' and a.target->>'id' in ${texts(ids)}))`;

const bodies = ({ ids, addresses }: People): SQL => sql`
  update events e set body = case
    when e.type like 'user.%' then jsonb_set(e.body - 'changes', '{data}', jsonb_build_object('id', e.body->'data'->'id'))
    else jsonb_set(e.body, '{data,email}', to_jsonb(${ERASED_ADDRESS}::text)) end
  from page where e.id = page.id and ((e.type like 'user.%' and e.body->'data'->>'id' in ${texts(ids)})
    or (e.type like 'invitation.%' and e.body->'data'->>'email' in ${texts(addresses)}))`;

const texts = (values: readonly string[]): SQL =>
  values.length === 0
    ? sql`(null)`
    : sql`(${sql.join(
        values.map((value) => sql`${value}`),
        sql`, `,
      )})`;
