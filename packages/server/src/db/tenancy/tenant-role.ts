import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { APP_ROLE, ensureMembership, ensureRole } from './app-role.ts';
import { pgCode } from '../statements/pg-error.ts';
import { policyFunctions, POLICY_REVISION, rowPolicies, type RowPolicy } from './row-policies.ts';

/**
 * The tenant role: statements of an operation run as this role once the scope is resolved. It has privileges only on
 * the tables of `row-policies.ts`, and the policies restrict the rows. It owns nothing, cannot log in and cannot bypass
 * the policies. The service role can access every row.
 *
 * Role and policies are created when a process starts, not by a migration: roles belong to the server, so they may be
 * missing after a dump is restored on another server, and the dump omits the policies that name them.
 */
export const TENANT_ROLE = 'doorward_tenant';

interface TableGrants {
  readonly name: string;
  readonly reads: true;
  readonly adds: boolean;
  readonly removes: boolean;
  /** Columns that may be updated; null means all except `id` and `tenant_id`. */
  readonly changes: readonly string[] | null;
}

const tableGrants: readonly TableGrants[] = Object.entries(rowPolicies).map(([name, policy]) => ({
  name,
  reads: true,
  adds: policy.write !== undefined && policy.canInsert !== false,
  removes: policy.write !== undefined && policy.canDelete !== false,
  changes: policy.write === undefined ? [] : (policy.updatableColumns ?? null),
}));

/**
 * Installs role, privileges and policies if they are missing or outdated. The caller holds the preparation lock. Writes
 * nothing if everything is in place, and keeps the policies of a later version.
 *
 * @throws the PostgreSQL error if the user lacks a privilege
 */
export async function prepareTenantRole(client: pg.Client): Promise<void> {
  await ensureRole(client, TENANT_ROLE);
  await ensureMembership(client, TENANT_ROLE);
  const outdated = await findOutdatedTables(client);
  if (outdated.length === 0) return;
  const schema = `select relnamespace::regnamespace::text as name from pg_class where oid = 'nodes'::regclass`;
  const { rows } = await client.query<{ name: string }>(schema);
  await client.query(`${policyFunctions}; grant usage on schema ${rows[0]?.name} to ${TENANT_ROLE}`);
  for (const { name, columns } of outdated) {
    const policy = rowPolicies[name];
    // One transaction per table, so that no table stays locked while the lock of another one is awaited.
    if (policy) await applyInTransaction(client, statementsFor(name, policy, columns));
  }
}

const LOCK_TIMEOUT_MS = 500;
const lockConflicts = new Set(['55P03', '40P01']);

/**
 * Runs the statements in one transaction, so that row-level security is never enabled on a table without policies.
 * While the previous version serves requests, an ALTER TABLE that waits for its lock would block every later statement
 * on the table. So the lock time-out is short, and the transaction is retried.
 */
async function applyInTransaction(client: pg.Client, statements: readonly string[]): Promise<void> {
  for (;;) {
    try {
      return void (await client.query(
        [`set local lock_timeout = ${LOCK_TIMEOUT_MS}`, ...statements].join(';\n'),
      ));
    } catch (error) {
      if (!lockConflicts.has(pgCode(error) ?? '')) throw error;
      await pause(LOCK_TIMEOUT_MS);
    }
  }
}

interface OutdatedTable {
  readonly name: string;
  /** Columns that may be updated. */
  readonly columns: string[];
}

async function findOutdatedTables(client: pg.Client): Promise<OutdatedTable[]> {
  const { rows } = await client.query<OutdatedTable>(
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
    [JSON.stringify(tableGrants), TENANT_ROLE, POLICY_REVISION],
  );
  return rows;
}

function statementsFor(table: string, policy: RowPolicy, columns: readonly string[]): string[] {
  const { read, write } = policy;
  const rights = tableGrants.find(({ name }) => name === table);
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
    // Row locks use the `using` condition of this policy, so every readable row can be locked. Written rows must meet
    // `with check`.
    ...(columns.length > 0 ? [create('update', `using (${read}) with check (${write})`)] : []),
    ...(rights?.removes ? [create('delete', `using (${write})`)] : []),
    `alter table ${table} enable row level security`,
  ];
}
