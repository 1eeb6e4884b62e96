import pg from 'pg';
import { createHash, randomBytes } from 'node:crypto';

/** One for each checkout, so that parallel runs do not delete each other's template. */
const TEMPLATE = `doorward_test_template_${createHash('sha256')
  .update(import.meta.dirname)
  .digest('hex')
  .slice(0, 8)}`;

export interface TestDatabase {
  readonly url: string;
  readonly drop: () => Promise<void>;
}

async function asAdmin<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const named = (url: string, name: string): string =>
  Object.assign(new URL(url), { pathname: `/${name}` }).href;

/** A new database, copied from the template that the run prepared. */
export async function postgresDatabase(
  adminUrl: string,
  template: string | null = TEMPLATE,
): Promise<TestDatabase> {
  const name = `doorward_test_${randomBytes(6).toString('hex')}`;
  await asAdmin(adminUrl, async (client) => {
    // CREATE DATABASE … TEMPLATE fails while another copy is being made: one at a time.
    await client.query('select pg_advisory_lock(76214)');
    await client.query(`create database ${name}${template ? ` template ${template}` : ''}`);
  });
  return {
    url: named(adminUrl, name),
    drop: () =>
      asAdmin(
        adminUrl,
        async (client) => void (await client.query(`drop database if exists ${name} with (force)`)),
      ),
  };
}

/** Creates the template again and returns its address. */
export async function freshTemplate(adminUrl: string): Promise<string> {
  await asAdmin(adminUrl, async (client) => {
    await client.query(`drop database if exists ${TEMPLATE} with (force)`);
    await client.query(`create database ${TEMPLATE}`);
  });
  return named(adminUrl, TEMPLATE);
}
