import { afterAll, beforeAll, expect, it } from 'vitest';
import { openEmbedded, type Database } from '../../db/connection/open.ts';
import { APP_ROLE } from '../../db/tenancy/app-role.ts';
import { TENANT_ROLE } from '../../db/tenancy/tenant-role.ts';
import { sql } from 'drizzle-orm';
import { checkDatabaseClock, checkRoles } from './database.ts';

/** Only a database server has the roles of the service, but the embedded database runs the same statements. */
let database: Database;
beforeAll(async () => {
  database = await openEmbedded(null);
  await database.pool.execute(sql`create table nodes (id uuid)`);
});
afterAll(() => database.close());

it('names what separates tenants too little', async () => {
  const run = (text: string) => database.pool.execute(sql.raw(text));
  expect(await checkRoles(database.pool)).toMatchObject({
    status: 'warn',
    message: expect.stringContaining(APP_ROLE) as string,
  });
  await run(`create role ${APP_ROLE}`);
  await run(`create role ${TENANT_ROLE} bypassrls`);
  expect(await checkRoles(database.pool)).toMatchObject({
    status: 'fail',
    message: expect.stringContaining(TENANT_ROLE) as string,
  });
  await run(`alter role ${TENANT_ROLE} nobypassrls`);
  expect(await checkRoles(database.pool)).toMatchObject({
    status: 'warn',
    message: 'row-level security is off',
  });
  await run('alter table nodes enable row level security');
  expect(await checkRoles(database.pool)).toMatchObject({ status: 'ok' });
});

it('compares clocks', async () => {
  const statusAt = async (offsetMs: number) =>
    (await checkDatabaseClock(database.pool, () => Date.now() + offsetMs)).status;
  expect([await statusAt(0), await statusAt(5000), await statusAt(-60_000)]).toEqual(['ok', 'warn', 'fail']);
});
