/**
 * PostgreSQL settings that the service's statements rely on. A server, database or role may have other defaults. With
 * them, dates would be misread, `= null` would match rows, or concurrent changes would fail. So each connection sets
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
  // What transactions see. The service locks rows that must not change between two reads.
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  // `statement_timeout` (DATABASE_STATEMENT_TIMEOUT_MS) also limits waits for locks.
  lock_timeout: '0',
  // A connection of the pool may be idle, but a transaction that was left open must not keep its locks.
  idle_session_timeout: '0',
  idle_in_transaction_session_timeout: '60s',
  transaction_timeout: '0',
};

const rows = Object.entries(SETTINGS).map(([name, value]) => `('${name}', '${value}')`);

/** SQL that sets those of `SETTINGS` that the server has; older versions have fewer. */
const settingsFor = (isLocal: boolean): string =>
  `select set_config(s.name, v.value, ${isLocal}) from (values ${rows.join(', ')}) as v (name, value)
   join pg_catalog.pg_settings s on lower(s.name) = v.name`;

/** Run first on a connection that waits for another one, because the database may have a time-out for idle sessions. */
export const MAY_BE_IDLE = `select set_config(name, '0', false) from pg_catalog.pg_settings where name = 'idle_session_timeout'`;

/** For a connection that no other client uses. */
export const SESSION_SETTINGS = settingsFor(false);

/** For the current transaction only, because a pooler may pass the session to another client afterwards. */
export const TRANSACTION_SETTINGS = settingsFor(true);
