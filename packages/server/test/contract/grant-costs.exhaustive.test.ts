import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startOwnApp, type TestApp } from '../support/app/app.ts';
import {
  customerOf,
  grantTo,
  memberOf,
  vendorOf,
  type Customer,
  type Vendor,
} from '../support/tenants/grants.ts';
import type { ScopeRef } from '../../src/kernel/scope.ts';

/**
 * A check in a granted scope, and a page of customers, cost the same with 10 grants as with 10,000. Counted are the rows
 * that PostgreSQL's plans touch, not milliseconds, so that a busy machine fails no test.
 */
let app: TestApp;
let vendor: Vendor;
let customer: Customer;
let scope: ScopeRef;

beforeAll(async () => {
  // One connection, whose statistics the test can flush.
  app = await startOwnApp({ DATABASE_POOL_MAX: '1' });
  vendor = await vendorOf(app);
  customer = await customerOf(app);
  ({ scope } = await grantTo(app, vendor, customer));
  const user = await memberOf(app, customer, 'Organization Viewer');
  await app.must('createUser', { scope, userId: user.userId, roleIds: [vendor.reader] }, customer);
});
afterAll(() => app.close());

/** More grants of the project, each of an organization of its own, with a slice and a user in it. */
async function addGrants(count: number): Promise<void> {
  const { projectId, person, reader } = vendor;
  const db = app.owner;
  const project = sql`${projectId}::uuid`;
  await db.execute(sql`create temporary table more as select gen_random_uuid() as id, gen_random_uuid() as organization_id
    from generate_series(1, ${count})`);
  await db.execute(
    sql`insert into nodes (id, kind, parent_id) select organization_id, 'organization', ${customer.owner.account.id}::uuid from more`,
  );
  await db.execute(sql`insert into organizations (id, account_id, name, slug) select organization_id, ${customer.owner.account.id}::uuid,
    'C', 'c-' || organization_id from more`);
  await db.execute(sql`insert into nodes (id, kind, parent_id) select id, 'grant', ${project} from more`);
  await db.execute(sql`insert into project_grants (id, tenant_id, organization_id, name, features, status, created_by)
    select id, ${project}, organization_id, 'Customer', '{apiKeys}', 'active', ${person.userId}::uuid from more`);
  await db.execute(sql`insert into project_grant_roles (tenant_id, project_grant_id, role_id, to_tenant_id)
    select ${project}, id, ${reader}::uuid, ${project} from more`);
  await db.execute(
    sql`insert into project_users (tenant_id, user_id) select id, ${customer.owner.userId}::uuid from more`,
  );
  await db.execute(sql`insert into project_user_roles (tenant_id, user_id, role_id, role_tenant_id)
    select id, ${customer.owner.userId}::uuid, ${reader}::uuid, ${project} from more`);
  await db.execute(sql`drop table more`);
  await db.execute(sql.raw('analyze'));
  // The foreign keys of these rows have read others, and a server may count that up to a second later.
  await db.execute(sql`select pg_stat_force_next_flush()`);
}

/** Rows that the tables of grants, roles and users were read for, by the calls. */
async function rowsReadBy(work: () => Promise<unknown>): Promise<number> {
  const read = async () => {
    await app.database.pool.execute(sql`select pg_stat_force_next_flush()`);
    const { rows } = (await app.owner
      .execute(sql`select coalesce(sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)), 0)::int as read
      from pg_stat_user_tables where relname in ('project_grants', 'project_grant_roles', 'project_users', 'project_user_roles', 'nodes')`)) as {
      rows: { read: number }[];
    };
    return rows[0]?.read ?? 0;
  };
  const start = await read();
  await work();
  return (await read()) - start;
}

it('costs the same with 10 grants and with 10,000', { timeout: 120_000 }, async () => {
  const permission = { resource: 'invoice', action: 'read' };
  const check = async () => {
    // Each change of the project makes every cached right stale, so that the next check reads the database.
    await app.must(
      'updateRole',
      { scope: vendor.scope, id: vendor.reader, description: `${Math.random()}` },
      vendor,
    );
    return app.must('isAuthorized', { scope, permission }, customer);
  };
  const list = () => app.must('projectGrants', { scope: vendor.scope, limit: 10 }, vendor);
  const own = () => app.must('organizationGrants', { scope: customer.scope }, customer);
  const costs = async () => {
    const measured = [];
    for (const work of [check, list, own]) {
      await work();
      measured.push(await rowsReadBy(work));
    }
    return measured as [number, number, number];
  };
  await addGrants(10);
  const few = await costs();
  await addGrants(10_000);
  const many = await costs();
  process.stdout.write(
    `rows read with 10 and 10,010 grants: check ${few[0]}, ${many[0]}; list ${few[1]}, ${many[1]}; own ${few[2]}, ${many[2]}\n`,
  );
  expect(Math.min(...few)).toBeGreaterThan(0);
  expect(many[0]).toBeLessThanOrEqual(few[0] + 50);
  expect(many[1]).toBeLessThanOrEqual(few[1] + 50);
  expect(many[2]).toBeLessThanOrEqual(few[2] + 50);
});

it(
  'a project with 10,000 customers is deleted, and each of them reads of it',
  { timeout: 120_000 },
  async () => {
    const { account: ofVendor, token } = vendor.person;
    await app.must('deleteProject', { scope: ofVendor, id: vendor.projectId }, { token });
    const { rows } = (await app.owner.execute(
      sql`select count(distinct tenant_id)::int as count from events where type = 'project_grant.revoked'`,
    )) as { rows: { count: number }[] };
    expect(rows[0]?.count).toBe(10_011);
  },
);
