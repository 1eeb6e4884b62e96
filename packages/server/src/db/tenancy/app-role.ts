import type pg from 'pg';

/**
 * The PostgreSQL role of the service. A process switches to it once the schema is prepared. The role owns nothing,
 * cannot log in and has only the privileges that the service needs. On the audit log it may insert and read; it may
 * update only the columns that the erasure of a user clears. Migrations and seeding run as the user of `DATABASE_URL`,
 * who owns the tables.
 *
 * The role limits the damage of programming errors and of SQL injection. It does not protect against a process that
 * knows `DATABASE_URL`, because such a process can switch back to the owner.
 */
export const APP_ROLE = 'doorward_app';

/** Columns that an erasure clears (src/events/audit/erasure.ts). */
const ERASED_COLUMNS = ['actor', 'changes', 'ip_address', 'user_agent', 'salt'];

/** Deletes expired audit entries with the privileges of the table owner (src/events/audit/retention.ts). */
const CUT_FUNCTION = 'cut_audit_log(uuid, bigint, integer)';

const INSUFFICIENT_PRIVILEGE = '42501';

/** The result of the preparation. */
interface AppRoleStatus {
  /** The role that the process has to switch to; null if it stays the user of `DATABASE_URL`. */
  readonly role: string | null;
  /** Why only triggers protect the audit log; null if privileges protect it too. */
  readonly missingPrivilege: string | null;
}

/** Returns the message of an "insufficient privilege" error. Rethrows any other error. */
export function privilegeErrorOf(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  if (code !== INSUFFICIENT_PRIVILEGE) throw error;
  return `${message}`;
}

/**
 * Creates the role and its privileges if they are missing, and returns the role that the process has to use. The caller
 * holds the preparation lock. Writes nothing if everything is in place.
 */
export async function prepareAppRole(client: pg.Client): Promise<AppRoleStatus> {
  const check = async (question: string, values: unknown[] = []): Promise<boolean> => {
    const { rows } = await client.query<{ yes: boolean }>(`select ${question} as yes`, values);
    return rows[0]?.yes === true;
  };
  const cannotAlterAuditLog = (role: string) =>
    `not has_table_privilege(${role}, 'audit_log', 'update, delete, truncate') and not pg_has_role(${role},
      (select relowner from pg_class where oid = 'audit_log'::regclass), 'member')`;
  if (await check(cannotAlterAuditLog('current_user'))) return { role: null, missingPrivilege: null };
  try {
    await ensureRole(client, APP_ROLE);
    await ensureMembership(client, APP_ROLE);
    await grantRights(client);
  } catch (error) {
    return { role: null, missingPrivilege: privilegeErrorOf(error) };
  }
  if (!(await check(cannotAlterAuditLog(`'${APP_ROLE}'`))))
    return { role: null, missingPrivilege: `${APP_ROLE} has more rights than it needs` };
  return { role: APP_ROLE, missingPrivilege: null };
}

/**
 * Creates the role if it is missing. Roles belong to the server, so a process that prepares another database may create
 * it at the same time.
 */
export async function ensureRole(client: pg.Client, role: string): Promise<void> {
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [role]);
  if (rowCount) return;
  await client.query(`do $$ begin
    create role ${role} nologin nosuperuser nocreatedb nocreaterole noreplication nobypassrls;
  exception when duplicate_object or unique_violation then null; end $$`);
}

/**
 * Makes the user a member of the role. Tests membership by switching to the role, because its rules differ between
 * versions of PostgreSQL.
 */
export async function ensureMembership(client: pg.Client, role: string): Promise<void> {
  const attempt = () => client.query(`set role ${role}`).then(() => client.query('reset role'));
  try {
    await attempt();
  } catch (error) {
    if ((error as { code?: string }).code !== INSUFFICIENT_PRIVILEGE) throw error;
    await client.query(`grant ${role} to current_user`);
    await attempt();
  }
}

/**
 * Selects tables on which the role has other privileges than it should. Only tables with the schema and the owner of
 * the audit log are ours.
 */
const TABLES_WITHOUT_GRANTS = `
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
  const { rows } = await client.query<{ name: string }>(TABLES_WITHOUT_GRANTS, [APP_ROLE, ERASED_COLUMNS]);
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
    [APP_ROLE, CUT_FUNCTION],
  );
  grants.push(...functions.map(({ name }) => `grant execute on function ${name} to ${APP_ROLE}`));
  if (grants.length === 0) return;
  // Several statements in one message form one transaction, so other processes see all of them or none.
  await client.query(grants.join(';\n'));
}
