import { sql, type SQL } from 'drizzle-orm';
import { ERASED_ADDRESS, type Person } from '../../db/purge/purge-people.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import type { Executor } from '../../kernel/scoped-db.ts';

/*
 * Erases the personal data of a user from audit entries, events and webhook deliveries (model §4, events §7). An audit
 * entry loses the values that its `personalDigest` covers, and the salt, so that the values cannot be guessed from the
 * digest; the chain still verifies. This applies to entries of the user's actions and of changes to the user. Events
 * and webhook bodies, including pending ones, lose the fields and the address of the user.
 *
 * Each table part has an index on the rows of one user and is processed in batches along it, so that no statement times
 * out.
 */

/** The position at which the erasure of a user continues. */
interface ErasurePosition {
  readonly part: number;
  readonly after: string | null;
}

const BATCH = 1000;

/** Erases about one batch, and returns the next position; null at the end. Idempotent. */
export async function eraseBatch(
  tx: Executor,
  person: Person,
  position: ErasurePosition | null,
): Promise<ErasurePosition | null> {
  let { part, after } = position ?? { part: 0, after: null };
  for (; part < parts.length; part++, after = null) {
    const { table, matches, update } = parts[part] as ErasurePart;
    const [batch] = await rowsOf<{ last: string; count: number }>(
      tx,
      sql`
      with batch as materialized (
        select id from ${sql.identifier(table)} where ${matches(person)} ${after ? sql`and id > ${after}::uuid` : sql``}
        order by id limit ${BATCH}),
      erased as (update ${sql.identifier(table)} row ${update} and row.id in (select id from batch))
      select id as last, count(*) over ()::int as count from batch order by id desc limit 1`,
    );
    if (batch?.count === BATCH) return { part, after: batch.last };
  }
  return null;
}

interface ErasurePart {
  readonly table: 'audit_log' | 'events' | 'webhook_deliveries';
  /** Selects the rows about the user. */
  readonly matches: (person: Person) => SQL;
  /** The `set` and `where` clauses that erase the personal data. */
  readonly update: SQL;
}

const clearEntry = sql`set actor = row.actor || '{"name": null}', ip_address = null, user_agent = null, salt = null,
  changes = case when row.target->>'type' = 'User' then null else row.changes end where row.salt is not null`;

const parts: readonly ErasurePart[] = [
  { table: 'audit_log', matches: ({ id }) => sql`actor->>'userId' = ${id}`, update: clearEntry },
  {
    table: 'audit_log',
    matches: ({ id }) => sql`target->>'type' = 'User' and target->>'id' = ${id}`,
    update: clearEntry,
  },
  {
    table: 'events',
    matches: ({ id }) => sql`type like 'user.%' and body->'data'->>'id' = ${id}`,
    update: sql`set body = jsonb_set(row.body - 'changes' - 'truncated', '{data}', jsonb_build_object('id', row.body->'data'->'id'))
      where true`,
  },
  {
    // Webhooks of a project receive the events of its managed users.
    table: 'webhook_deliveries',
    matches: ({ id }) => sql`event_type like 'user.%' and (body::jsonb)->'data'->>'id' = ${id}`,
    update: sql`set body = jsonb_set(row.body::jsonb - 'changes' - 'truncated', '{data}',
      jsonb_build_object('id', row.body::jsonb->'data'->'id'))::text where true`,
  },
  {
    table: 'events',
    matches: ({ addresses }) =>
      sql`type like 'invitation.%' and body->'data'->>'email' in ${texts(addresses)}`,
    update: sql`set body = jsonb_set(row.body, '{data,email}', to_jsonb(${ERASED_ADDRESS}::text)) where true`,
  },
];

const texts = (values: readonly string[]): SQL =>
  values.length === 0
    ? sql`(null)`
    : sql`(${sql.join(
        values.map((value) => sql`${value}`),
        sql`, `,
      )})`;
