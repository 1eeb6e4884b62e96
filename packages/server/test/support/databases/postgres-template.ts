import pg from 'pg';
import { createHash } from 'node:crypto';

/** One per checkout, so that parallel runs don't delete each other's template. */
export const TEMPLATE = `doorward_test_template_${createHash('sha256')
  .update(import.meta.dirname)
  .digest('hex')
  .slice(0, 8)}`;

/** The name prefix of the databases of a run, by which `dropDatabases` finds the ones that are left at the end. */
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

/** Recreates the template and returns its URL. */
export async function freshTemplate(adminUrl: string): Promise<string> {
  await asAdmin(adminUrl, async (client) => {
    await client.query(`drop database if exists ${TEMPLATE} with (force)`);
    await client.query(`create database ${TEMPLATE}`);
  });
  return named(adminUrl, TEMPLATE);
}

/** Drops the remaining databases of a run. */
export const dropDatabases = (adminUrl: string, run: string): Promise<void> =>
  asAdmin(adminUrl, async (client) => {
    const { rows } = await client.query<{ datname: string }>(
      'select datname from pg_database where starts_with(datname, $1)',
      [prefixOf(run)],
    );
    for (const { datname } of rows) await client.query(`drop database if exists ${datname} with (force)`);
  });
