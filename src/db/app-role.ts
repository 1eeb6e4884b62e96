import type pg from 'pg';

/**
 * The role as which a process works on a PostgreSQL server once the schema is prepared: it owns nothing, cannot log in,
 * and may do to each table what the service does. Audit entries it may add and read; of what stands in them it may
 * change the columns that the erasure of a person empties, and nothing more. Migrations and seeding stay with the user of
 * `DATABASE_URL`, who owns the tables.
 *
 * It is a wall against mistakes and against statements smuggled in. Whoever has the address of the database can still
 * go back to its user.
 */
export const APP_ROLE = 'doorward_app';

/** What an erasure empties (src/events/erasure.ts). */
const ERASED_COLUMNS = ['actor', 'changes', 'ip_address', 'user_agent', 'salt'];

/**
 * Deletes audit entries whose retention is over, with the rights of the owner of the tables (src/events/retention.ts).
 */
const CUT = 'cut_audit_log(uuid, bigint, integer)';

const INSUFFICIENT_PRIVILEGE = '42501';

export interface Serving {
  /** As which the process is to work; null: as the user of `DATABASE_URL`. */
  readonly role: string | null;
  /** Why the audit log is kept by triggers alone; null if rights keep it. */
  readonly lacking: string | null;
}

/** Why the user may not do it, if that is all that is wrong. */
export function lackOf(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  if (code !== INSUFFICIENT_PRIVILEGE) throw error;
  return `${message}`;
}

/**
 * Makes sure that the role is there with exactly these rights, and tells whether to work as it. The caller holds the
 * lock under which one process at a time prepares the database. Where all is as it should be nothing is written.
 */
export async function prepareAppRole(client: pg.Client): Promise<Serving> {
  const ask = async (question: string, values: unknown[] = []): Promise<boolean> => {
    const { rows } = await client.query<{ yes: boolean }>(`select ${question} as yes`, values);
    return rows[0]?.yes === true;
  };
  const keeps = (role: string) =>
    `not has_table_privilege(${role}, 'audit_log', 'update, delete, truncate') and not pg_has_role(${role},
      (select relowner from pg_class where oid = 'audit_log'::regclass), 'member')`;
  if (await ask(keeps('current_user'))) return { role: null, lacking: null };
  try {
    await createRole(client, APP_ROLE);
    await canBecome(client, APP_ROLE);
    await grantRights(client);
  } catch (error) {
    return { role: null, lacking: lackOf(error) };
  }
  if (!(await ask(keeps(`'${APP_ROLE}'`))))
    return { role: null, lacking: `${APP_ROLE} has more rights than it needs` };
  return { role: APP_ROLE, lacking: null };
}

/** Roles belong to the server: a process that prepares another database may come first. */
export async function createRole(client: pg.Client, role: string): Promise<void> {
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [role]);
  if (rowCount) return;
  await client.query(`do $$ begin
    create role ${role} nologin nosuperuser nocreatedb nocreaterole noreplication nobypassrls;
  exception when duplicate_object or unique_violation then null; end $$`);
}

/** Makes the user a member. Tries it, since what makes a member differs between versions of PostgreSQL. */
export async function canBecome(client: pg.Client, role: string): Promise<void> {
  const attempt = () => client.query(`set role ${role}`).then(() => client.query('reset role'));
  try {
    await attempt();
  } catch (error) {
    if ((error as { code?: string }).code !== INSUFFICIENT_PRIVILEGE) throw error;
    await client.query(`grant ${role} to current_user`);
    await attempt();
  }
}

/** Tables of the owner of the audit log, in its schema: what others keep there is none of ours. */
const LACKING = `
  with audit as (select relnamespace, relowner from pg_class where oid = 'audit_log'::regclass)
  select c.oid::regclass::text as name
  from pg_class c join audit a on c.relnamespace = a.relnamespace and c.relowner = a.relowner
  where c.relkind in ('r', 'p') and not case
    when c.oid = 'audit_log'::regclass then
      has_table_privilege($1, c.oid, 'select') and has_table_privilege($1, c.oid, 'insert')
      and not has_table_privilege($1, c.oid, 'update, delete, truncate')
      and (select bool_and(has_column_privilege($1, c.oid, a.attname, 'update') = (a.attname = any ($2)))
        from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped)
    else has_table_privilege($1, c.oid, 'select') and has_table_privilege($1, c.oid, 'insert')
      and has_table_privilege($1, c.oid, 'update') and has_table_privilege($1, c.oid, 'delete') end`;

async function grantRights(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(LACKING, [APP_ROLE, ERASED_COLUMNS]);
  const grants = rows.map(({ name }) =>
    name === 'audit_log'
      ? `revoke all on audit_log from ${APP_ROLE};
        grant select, insert, update (${ERASED_COLUMNS.join(', ')}) on audit_log to ${APP_ROLE}`
      : `grant select, insert, update, delete on ${name} to ${APP_ROLE}`,
  );
  const { rows: schemas } = await client.query<{ name: string }>(
    `select relnamespace::regnamespace::text as name from pg_class where oid = 'audit_log'::regclass
      and not has_schema_privilege($1, relnamespace, 'usage')`,
    [APP_ROLE],
  );
  grants.push(...schemas.map(({ name }) => `grant usage on schema ${name} to ${APP_ROLE}`));
  const { rows: functions } = await client.query<{ name: string }>(
    `select p.oid::regprocedure::text as name from pg_proc p where p.oid = to_regprocedure($2)
      and not has_function_privilege($1, p.oid, 'execute')`,
    [APP_ROLE, CUT],
  );
  grants.push(...functions.map(({ name }) => `grant execute on function ${name} to ${APP_ROLE}`));
  if (grants.length === 0) return;
  // One message of several statements is one transaction: other processes see all of it or nothing.
  await client.query(grants.join(';\n'));
}
