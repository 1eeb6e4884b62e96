/** The defaults of a PostgreSQL server, database or user change nothing, or the service does not start. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { openPostgres } from '../../src/db/connection/open.ts';
import { DatabaseUnusable } from '../../src/db/preparation/database-unusable.ts';
import { prepareDatabase } from '../../src/db/preparation/migrate.ts';
import { startOwnApp, type TestApp } from '../support/app/app.ts';
import { asAdmin, named } from '../support/databases/postgres-template.ts';

const adminUrl = inject('postgresUrl');

describe.skipIf(!adminUrl)('on a PostgreSQL server', () => {
  let plain: TestApp;
  let name: string;
  beforeAll(async () => {
    plain = await startOwnApp();
    name = new URL(plain.postgres?.url ?? '').pathname.slice(1);
  });
  afterAll(() => plain.close());

  const administer = (statement: string): Promise<void> =>
    asAdmin(adminUrl, async (client) => void (await client.query(statement)));

  /** Registers, changes rows at once, and reads what it wrote. */
  async function story(service: TestApp): Promise<void> {
    const { token, account } = await service.person();
    const made = await Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        service.call('createTag', { scope: account, name: `Tag ${at % 8}` }, { token }),
      ),
    );
    expect(made.map(({ status }) => status).sort()).toEqual([...Array<number>(8).fill(201), 409, 409]);
    const tags = await service.call('tags', { scope: account, search: 'TAG' }, { token });
    expect(tags.data).toMatchObject({ totalCount: 8 });
    const [tag] = tags.data.items;
    expect(Math.abs(Date.now() - Date.parse(tag?.createdAt ?? ''))).toBeLessThan(600_000);
    expect(await service.call('auditLogs', { scope: account }, { token })).toMatchObject({ status: 200 });
    expect((await service.server.inject('/health/ready')).statusCode).toBe(200);
  }

  test.each([
    { datestyle: `'SQL, DMY'`, intervalstyle: `'sql_standard'`, timezone: `'Asia/Kathmandu'` },
    { datestyle: `'German'`, bytea_output: `'escape'`, extra_float_digits: `'-15'`, array_nulls: `'off'` },
    { datestyle: `'Postgres, YMD'`, standard_conforming_strings: `'off'`, transform_null_equals: `'on'` },
    { default_transaction_isolation: `'serializable'`, default_transaction_deferrable: `'on'` },
    { default_transaction_isolation: `'repeatable read'`, search_path: 'pg_catalog' },
    { lock_timeout: `'1'`, deadlock_timeout: `'1'`, statement_timeout: `'1'` },
    { idle_session_timeout: `'200'`, idle_in_transaction_session_timeout: `'200'`, row_security: `'off'` },
  ])('works with %j', async (settings) => {
    try {
      for (const [setting, value] of Object.entries(settings))
        await administer(`alter database ${name} set ${setting} = ${value}`);
      const service = await startOwnApp({}, plain);
      try {
        await story(service);
      } finally {
        await service.close();
      }
    } finally {
      await administer(`alter database ${name} reset all`);
    }
  });

  /** The error of a start on a new database that was made by `create`. */
  async function refusal(create: string, ...more: readonly string[]): Promise<unknown> {
    const fresh = `${name}_${randomBytes(3).toString('hex')}`;
    await administer(`create database ${fresh} template template0 ${create}`);
    const database = openPostgres({
      ...{ url: named(adminUrl, fresh), poolMax: 1, acquireTimeoutMs: 5000, maxWaitMs: 5000 },
      ...{ statementTimeoutMs: 10_000, onIdleError: () => undefined },
    });
    try {
      for (const statement of more) await administer(statement.replace('$', fresh));
      return await prepareDatabase(database, null, async () => undefined).catch((error: unknown) => error);
    } finally {
      await database.close();
      await administer(`drop database ${fresh} with (force)`);
    }
  }

  test.each([
    ['a Turkish locale', `locale_provider icu icu_locale 'tr' locale 'C'`, /has the locale tr/],
    ['a Lithuanian locale', `locale_provider icu icu_locale 'lt' locale 'C'`, /has the locale lt/],
    ['another encoding', `encoding 'LATIN1' locale 'C'`, /encoding LATIN1/],
  ])('refuses %s', async (_, create, reason) => {
    const error = await refusal(create);
    expect(error).toBeInstanceOf(DatabaseUnusable);
    expect((error as Error).message).toMatch(/^DATABASE_URL: database "/);
    expect((error as Error).message).toMatch(reason);
  });

  test.each([
    ['session_replication_role', `'replica'`, 'session_replication_role is "replica"'],
    ['default_transaction_read_only', 'on', 'default_transaction_read_only is on'],
  ])('refuses a database with %s', async (setting, value, reason) => {
    const error = await refusal('', `alter database $ set ${setting} = ${value}`);
    expect(error).toBeInstanceOf(DatabaseUnusable);
    expect((error as Error).message).toContain(reason);
  });
});
