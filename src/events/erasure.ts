import { sql, type SQL } from 'drizzle-orm';
import { ERASED_ADDRESS, type Person } from '../db/purge-people.ts';
import { rowsOf } from '../db/rows.ts';
import type { Executor } from '../kernel/scoped-db.ts';

/**
 * Takes what is personal of an erased user out of what is kept of the past (model §4, events §7). An audit entry loses
 * the values that its `personalDigest` covers, and the salt, so that nobody can guess them; the chain still verifies.
 * That goes for what the user did and for what was done to him. Events lose his fields, and his address; so do the
 * bodies of webhooks, also of one that is sent later.
 *
 * Each place has an index that finds the rows of one user, and is walked in pages along it, so
 * that no statement runs into the time-out however much he did.
 */
/** Where a walk stands. */
export interface Place {
  readonly part: number;
  readonly after: string | null;
}

const PAGE = 1000;

/** Erases about a page and answers where to go on; null at the end. Doing it again changes nothing. */
export async function erasePage(tx: Executor, person: Person, place: Place | null): Promise<Place | null> {
  let { part, after } = place ?? { part: 0, after: null };
  for (; part < parts.length; part++, after = null) {
    const { table, of, erased } = parts[part] as Part;
    const [page] = await rowsOf<{ last: string; count: number }>(
      tx,
      sql`
      with page as materialized (
        select id from ${sql.identifier(table)} where ${of(person)} ${after ? sql`and id > ${after}::uuid` : sql``}
        order by id limit ${PAGE}),
      erased as (update ${sql.identifier(table)} row ${erased} and row.id in (select id from page))
      select id as last, count(*) over ()::int as count from page order by id desc limit 1`,
    );
    if (page?.count === PAGE) return { part, after: page.last };
  }
  return null;
}

interface Part {
  readonly table: 'audit_log' | 'events' | 'webhook_deliveries';
  /** Which rows speak of the person. */
  readonly of: (person: Person) => SQL;
  /** What becomes of those that still do: `set` and `where`. */
  readonly erased: SQL;
}

const entry = sql`set actor = row.actor || '{"name": null}', ip_address = null, user_agent = null, salt = null,
  changes = case when row.target->>'type' = 'User' then null else row.changes end where row.salt is not null`;

const parts: readonly Part[] = [
  { table: 'audit_log', of: ({ id }) => sql`actor->>'userId' = ${id}`, erased: entry },
  {
    table: 'audit_log',
    of: ({ id }) => sql`target->>'type' = 'User' and target->>'id' = ${id}`,
    erased: entry,
  },
  {
    table: 'events',
    of: ({ id }) => sql`type like 'user.%' and body->'data'->>'id' = ${id}`,
    erased: sql`set body = jsonb_set(row.body - 'changes' - 'truncated', '{data}', jsonb_build_object('id', row.body->'data'->'id'))
      where true`,
  },
  {
    // Managed users are a project's own, and what happens to them is told to its webhooks.
    table: 'webhook_deliveries',
    of: ({ id }) => sql`event_type like 'user.%' and (body::jsonb)->'data'->>'id' = ${id}`,
    erased: sql`set body = jsonb_set(row.body::jsonb - 'changes', '{data}',
      jsonb_build_object('id', row.body::jsonb->'data'->'id'))::text where true`,
  },
  {
    table: 'events',
    of: ({ addresses }) => sql`type like 'invitation.%' and body->'data'->>'email' in ${texts(addresses)}`,
    erased: sql`set body = jsonb_set(row.body, '{data,email}', to_jsonb(${ERASED_ADDRESS}::text)) where true`,
  },
];

const texts = (values: readonly string[]): SQL =>
  values.length === 0
    ? sql`(null)`
    : sql`(${sql.join(
        values.map((value) => sql`${value}`),
        sql`, `,
      )})`;
