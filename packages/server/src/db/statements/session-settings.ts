/**
 * Settings of PostgreSQL that statements of the service rely on. A server, a database or a role may have other defaults,
 * with which dates are read wrongly, `= null` finds rows, or every second change fails. Each connection therefore sets
 * its own (docs/operating/postgresql.md, "Settings").
 */
const SETTINGS: Readonly<Record<string, string>> = {
  // How values are written and read.
  datestyle: 'ISO, MDY',
  intervalstyle: 'postgres',
  timezone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  transform_null_equals: 'off',
  // Where names are looked up, and whether row policies apply.
  search_path: 'public',
  row_security: 'on',
  // What transactions see. The service locks what it must not read twice.
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  // `statement_timeout` (DATABASE_STATEMENT_TIMEOUT_MS) limits each wait, that for a lock too.
  lock_timeout: '0',
  // A connection of the pool may be idle; a transaction that was left open must not hold its locks.
  idle_session_timeout: '0',
  idle_in_transaction_session_timeout: '60s',
  transaction_timeout: '0',
};

const rows = Object.entries(SETTINGS).map(([name, value]) => `('${name}', '${value}')`);

/** Sets what the server knows of `SETTINGS`: an older version has fewer. */
const settingsFor = (isLocal: boolean): string =>
  `select set_config(s.name, v.value, ${isLocal}) from (values ${rows.join(', ')}) as v (name, value)
   join pg_catalog.pg_settings s on lower(s.name) = v.name`;

/** First of all, for a connection that waits for another one: the database may have a timeout for it. */
export const MAY_BE_IDLE = `select set_config(name, '0', false) from pg_catalog.pg_settings where name = 'idle_session_timeout'`;

/** For a connection that no other client uses. */
export const SESSION_SETTINGS = settingsFor(false);

/** For the current transaction alone, where a pooler may give the session to another client afterwards. */
export const TRANSACTION_SETTINGS = settingsFor(true);
