import pg from 'pg';
import { createHash } from 'node:crypto';

/** One for each checkout, so that parallel runs do not delete each other's template. */
export const TEMPLATE = `doorward_test_template_${createHash('sha256')
  .update(import.meta.dirname)
  .digest('hex')
  .slice(0, 8)}`;

/** Databases of a run; `dropDatabases` drops those that the services of the workers still use at its end. */
export const prefixOf = (run: string): string => `doorward_test_${run}_`;

export async function asAdmin<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

export const named = (url: string, name: string): string =>
  Object.assign(new URL(url), { pathname: `/${name}` }).href;

/** Creates the template again and returns its address. */
export async function freshTemplate(adminUrl: string): Promise<string> {
  await asAdmin(adminUrl, async (client) => {
    await client.query(`drop database if exists ${TEMPLATE} with (force)`);
    await client.query(`create database ${TEMPLATE}`);
  });
  return named(adminUrl, TEMPLATE);
}

/** Drops what a run has left. */
export const dropDatabases = (adminUrl: string, run: string): Promise<void> =>
  asAdmin(adminUrl, async (client) => {
    const { rows } = await client.query<{ datname: string }>(
      'select datname from pg_database where starts_with(datname, $1)',
      [prefixOf(run)],
    );
    for (const { datname } of rows) await client.query(`drop database if exists ${datname} with (force)`);
  });
