import type pg from 'pg';
import { DatabaseUnusable, printable, readOnlyFault } from './database-unusable.ts';

interface Properties {
  readonly encoding: string;
  readonly locale: string;
  readonly folds_letters: boolean;
  readonly fires_triggers: boolean;
  readonly is_read_only: boolean;
  readonly has_schema: boolean;
  readonly is_new: boolean;
}

/**
 * `folds_letters` checks letters that some locales fold differently: Turkish and Azeri have their own small "I",
 * Lithuanian adds dots.
 */
const PROPERTIES = `
  select current_setting('server_encoding') as encoding,
    (select coalesce(to_jsonb(d) ->> 'daticulocale', to_jsonb(d) ->> 'datlocale', datctype)
       from pg_catalog.pg_database d where datname = current_database()) as locale,
    lower('I') = 'i' and upper('i') = 'I' and lower('J') = 'j' and lower('Ì') in ('ì', 'Ì') as folds_letters,
    current_setting('session_replication_role') <> 'replica' as fires_triggers,
    current_setting('transaction_read_only') = 'on' as is_read_only,
    to_regnamespace('public') is not null as has_schema,
    to_regclass('public.installation') is null as is_new`;

/**
 * Asserts that names can be stored and compared in this database, and that its triggers run, because triggers protect
 * the audit log and the last owner.
 *
 * @throws DatabaseUnusable
 * @returns warnings about faults of a database that is already in use, which should not prevent the service from
 * starting
 */
export async function assertRequirements(client: pg.Client): Promise<readonly string[]> {
  const { rows } = await client.query<Properties>(PROPERTIES);
  const [properties] = rows;
  if (!properties) return [];
  const name = printable(client.database ?? '');
  const locale = printable(properties.locale);
  const another = `createdb --template=template0 --encoding=UTF8 --locale=C.UTF-8`;
  const refuse = (message: string): never => {
    throw new DatabaseUnusable(`DATABASE_URL: ${message}`);
  };
  if (properties.is_read_only) refuse(readOnlyFault(name));
  if (!properties.has_schema)
    refuse(`database "${name}" has no schema "public". Create it there: create schema public`);
  if (properties.encoding !== 'UTF8')
    refuse(
      `database "${name}" has the encoding ${properties.encoding}, which cannot hold every name. Use one in UTF8: ${another}`,
    );
  if (!properties.fires_triggers)
    refuse(
      `session_replication_role is "replica", which turns off the triggers that protect the data. Set it to "origin" for database "${name}" and its users.`,
    );
  if (properties.folds_letters) return [];
  const problem = `database "${name}" has the locale ${locale}, in which "i" is not the small letter of "I", so names that differ in case alone count as different`;
  if (properties.is_new) refuse(`${problem}. Use one with another locale: ${another}`);
  return [`${problem}; move the data to a database with another locale: ${another}`];
}
