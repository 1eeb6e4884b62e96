import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { startOwnApp, type TestApp } from '../support/app/app.ts';
import type { Person } from '../support/app/client.ts';
import { customerOf, grantTo, memberOf, vendorOf, type Vendor } from '../support/tenants/grants.ts';

/** The owner changes a role that 10,000 users of one customer have: how long until a check of one of them follows. */
const USERS = 10_000;
let app: TestApp;
let vendor: Vendor;
let user: Person;
let grant: { id: string; scope: ScopeRef };

beforeAll(async () => {
  app = await startOwnApp();
  vendor = await vendorOf(app);
  const customer = await customerOf(app);
  grant = await grantTo(app, vendor, customer);
  user = await memberOf(app, customer, 'Organization Viewer');
  const assigned = { scope: grant.scope, userId: user.userId, roleIds: [vendor.reader, vendor.writer] };
  await app.must('createUser', assigned, customer);
  const db = app.owner;
  await db.execute(
    sql`create temporary table many as select gen_random_uuid() as id from generate_series(1, ${USERS - 1})`,
  );
  await db.execute(sql`insert into users (id, name) select id, 'User' from many`);
  await db.execute(sql`insert into organization_members (tenant_id, user_id, role_id, role_tenant_id)
    select m.tenant_id, many.id, m.role_id, m.role_tenant_id from many, organization_members m
    where m.tenant_id = ${customer.id}::uuid and m.user_id = ${user.userId}::uuid`);
  await db.execute(
    sql`insert into project_users (tenant_id, user_id) select ${grant.id}::uuid, id from many`,
  );
  await db.execute(sql`insert into project_user_roles (tenant_id, user_id, role_id, role_tenant_id)
    select r.tenant_id, many.id, r.role_id, r.role_tenant_id from many, project_user_roles r
    where r.tenant_id = ${grant.id}::uuid and r.user_id = ${user.userId}::uuid`);
  await db.execute(sql.raw('analyze'));
}, 120_000);
afterAll(() => app.close());

const reasonOf = async (action: string) => {
  const permission = { resource: 'invoice', action };
  return (await app.must('isAuthorized', { scope: grant.scope, permission }, user)).reason;
};

async function timed(change: () => Promise<unknown>, action: string, expected: string): Promise<number> {
  const start = performance.now();
  await change();
  expect(await reasonOf(action)).toBe(expected);
  return Math.round(performance.now() - start);
}

it('takes effect for all of them with the answer of the change', { timeout: 120_000 }, async () => {
  expect(await reasonOf('write')).toBe('ALLOWED');
  const { scope } = vendor;
  const took = {
    role: await timed(
      () => app.must('updateRole', { scope, id: vendor.writer, groupIds: [] }, vendor),
      'write',
      'NO_PERMISSION',
    ),
    roleIds: await timed(
      () => app.must('updateProjectGrant', { scope, id: grant.id, roleIds: [vendor.writer] }, vendor),
      'read',
      'NO_PERMISSION',
    ),
  };
  const counted = await app.must('projectGrant', { scope, id: grant.id }, vendor);
  expect(counted.userCount).toBe(USERS);
  process.stdout.write(`${USERS} users: role ${took.role} ms, roles of the grant ${took.roleIds} ms\n`);
});
