import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { APP_ROLE, canBecome, createRole } from './app-role.ts';
import { pgCode } from './pg-error.ts';
import { functions, POLICY_REVISION, rowPolicies, type RowPolicy } from './row-policies.ts';

/**
 * The role as which the statements of an operation run once its scope is resolved: it has rights to the tables of
 * `row-policies.ts` alone, and of their rows it gets what the policies let through. It owns nothing, cannot log in and
 * cannot bypass them. The role of the service sees every row as before.
 *
 * Both are made at start and not by a migration: roles belong to the server and may be there or not, and a dump that is
 * restored elsewhere leaves out what names them.
 */
export const TENANT_ROLE = 'doorward_tenant';

interface Wanted {
  readonly name: string;
  readonly reads: true;
  readonly adds: boolean;
  readonly removes: boolean;
  /** null: all but those that say what and whose the row is. */
  readonly changes: readonly string[] | null;
}

const wanted: readonly Wanted[] = Object.entries(rowPolicies).map(([name, policy]) => ({
  name,
  reads: true,
  adds: policy.write !== undefined && policy.adds !== false,
  removes: policy.write !== undefined && policy.removes !== false,
  changes: policy.write === undefined ? [] : (policy.changes ?? null),
}));

/**
 * Makes sure that role, rights and policies are there, under the lock of whoever prepares the database. Where all is as
 * it should be nothing is written. A later version's policies stay.
 * @throws what PostgreSQL says when the user may not do it
 */
export async function prepareTenantRole(client: pg.Client): Promise<void> {
  await createRole(client, TENANT_ROLE);
  await canBecome(client, TENANT_ROLE);
  const lacking = await tablesThatLack(client);
  if (lacking.length === 0) return;
  const schema = `select relnamespace::regnamespace::text as name from pg_class where oid = 'nodes'::regclass`;
  const { rows } = await client.query<{ name: string }>(schema);
  await client.query(`${functions}; grant usage on schema ${rows[0]?.name} to ${TENANT_ROLE}`);
  for (const { name, columns } of lacking) {
    const policy = rowPolicies[name];
    // A table at a time, so that no lock is held while another is waited for.
    if (policy) await asOne(client, statementsFor(name, policy, columns));
  }
}

const LOCK_MS = 500;
const heldUp = new Set(['55P03', '40P01']);

/**
 * In one transaction, so that nobody meets a table with the security on and no policy. A former version may be serving:
 * whoever waits for such a lock holds up all that come after, so it is tried for a moment, again and again.
 */
async function asOne(client: pg.Client, statements: readonly string[]): Promise<void> {
  for (;;) {
    try {
      return void (await client.query([`set local lock_timeout = ${LOCK_MS}`, ...statements].join(';\n')));
    } catch (error) {
      if (!heldUp.has(pgCode(error) ?? '')) throw error;
      await pause(LOCK_MS);
    }
  }
}

interface Lacking {
  readonly name: string;
  /** What may be changed. */
  readonly columns: string[];
}

async function tablesThatLack(client: pg.Client): Promise<Lacking[]> {
  const { rows } = await client.query<Lacking>(
    `with wanted as (
      select w.*, c.oid, c.relrowsecurity, array(select a.attname::text from pg_attribute a
          where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
            and case when w.changes is null then a.attname not in ('id', 'tenant_id') else a.attname = any (w.changes) end
          order by 1) as columns,
        array(select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attnum > 0
          and not a.attisdropped and has_column_privilege($2, c.oid, a.attnum, 'update') order by 1) as changeable
      from json_to_recordset($1) as w (name text, reads boolean, adds boolean, removes boolean, changes text[])
        join pg_class c on c.oid = to_regclass(w.name))
    select name, columns from wanted w
    where not relrowsecurity or columns <> changeable
      or has_table_privilege($2, oid, 'select') <> reads or has_table_privilege($2, oid, 'insert') <> adds
      or has_table_privilege($2, oid, 'delete') <> removes
      or not exists (select 1 from pg_policy p where p.polrelid = w.oid
        and substring(p.polname from '^doorward_(\\d+)_service$')::int >= $3)`,
    [JSON.stringify(wanted), TENANT_ROLE, POLICY_REVISION],
  );
  return rows;
}

function statementsFor(table: string, policy: RowPolicy, columns: readonly string[]): string[] {
  const { read, write } = policy;
  const rights = wanted.find(({ name }) => name === table);
  const named = (what: string) => `doorward_${POLICY_REVISION}_${what}`;
  const create = (what: string, rule: string) =>
    `create policy ${named(what)} on ${table} for ${what} to ${TENANT_ROLE} ${rule}`;
  const grants = [
    'select',
    ...(rights?.adds ? ['insert'] : []),
    ...(rights?.removes ? ['delete'] : []),
    ...(columns.length > 0 ? [`update (${columns.join(', ')})`] : []),
  ];
  return [
    `do $$ declare former name; begin
      for former in select polname from pg_policy where polrelid = '${table}'::regclass and polname like 'doorward\\_%' loop
        execute format('drop policy %I on ${table}', former);
      end loop; end $$`,
    `revoke all on ${table} from ${TENANT_ROLE}`,
    `grant ${grants.join(', ')} on ${table} to ${TENANT_ROLE}`,
    `create policy ${named('service')} on ${table} to ${APP_ROLE} using (true) with check (true)`,
    create('select', `using (${read})`),
    ...(rights?.adds ? [create('insert', `with check (${write})`)] : []),
    // What can be read can be locked, which asks for this policy; what is written is held against the check.
    ...(columns.length > 0 ? [create('update', `using (${read}) with check (${write})`)] : []),
    ...(rights?.removes ? [create('delete', `using (${write})`)] : []),
    `alter table ${table} enable row level security`,
  ];
}
