import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { asAdmin, named, prefixOf, TEMPLATE } from './postgres-template.ts';

export interface TestDatabase {
  readonly url: string;
  readonly drop: () => Promise<void>;
}

/** A new database, copied from the template that the run prepared. */
export async function postgresDatabase(
  adminUrl: string,
  template: string | null = TEMPLATE,
): Promise<TestDatabase> {
  const name = `${prefixOf(inject('run'))}${randomBytes(6).toString('hex')}`;
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
