import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isFraming, startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import {
  customerOf,
  grantTo,
  memberOf,
  vendorOf,
  type Customer,
  type Vendor,
} from '../../../test/support/tenants/grants.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import { roleIdOf } from '../../schema/rights/built-in-ids.ts';

/**
 * The vendor adds permissions to a role, so that a machine of each customer gets more rights than the maker of its key.
 * Every such key is revoked, and the number of statements does not depend on the number of customers.
 */
let app: TestApp;
let vendor: Vendor;
let customer: Customer;
let first: { id: string; organizationId: string; userId: string; makerId: string; keyId: string };
beforeAll(async () => {
  app = await startOwnApp();
  vendor = await vendorOf(app);
  customer = await customerOf(app);
  const { id, scope } = await grantTo(app, vendor, customer);
  const as = { token: customer.token };
  const maker = await memberOf(app, customer, 'Organization Admin');
  const viewer = roleIdOf('Organization Viewer');
  const machine = { scope: customer.scope, kind: 'service' as const, name: 'M', roleIds: [viewer] };
  const { id: userId } = await app.must('createUser', machine, as);
  await app.must('createUser', { scope, userId, roleIds: [vendor.reader] }, as);
  const key = await app.must('createApiKey', { scope: customer.scope, userId }, { token: maker.token });
  first = { id, organizationId: customer.id, userId, makerId: maker.userId, keyId: key.id };
});
afterAll(() => app.close());

/** Adds customers like the first one: an organization, a machine with a key, and a role in a slice of its own. */
async function addCustomers(count: number): Promise<void> {
  const db = app.owner;
  const project = sql`${vendor.projectId}::uuid`;
  const account = sql`${customer.owner.account.id}::uuid`;
  /** Copies the row of the first customer, with other values in these columns. */
  const copy = async (table: string, where: ReturnType<typeof sql>, changed: Record<string, string>) => {
    const named = await rowsOf<{ name: string }>(
      db,
      sql`select column_name as name from information_schema.columns where table_schema = 'public' and table_name = ${table} and is_generated = 'NEVER'`,
    );
    const columns = named.map(({ name }) => name);
    await db.execute(
      sql`insert into ${sql.identifier(table)} (${sql.raw(columns.map((name) => `"${name}"`).join(', '))})
        select ${sql.raw(columns.map((name) => changed[name] ?? `source."${name}"`).join(', '))}
        from more cross join ${sql.identifier(table)} source where ${where}`,
    );
  };
  await db.execute(sql`create temporary table more as select gen_random_uuid() as slice_id, gen_random_uuid() as organization_id,
    gen_random_uuid() as user_id, gen_random_uuid() as key_id from generate_series(1, ${count})`);
  await db.execute(
    sql`insert into nodes (id, kind, parent_id) select organization_id, 'organization', ${account} from more`,
  );
  await db.execute(
    sql`insert into nodes (id, kind, parent_id) select slice_id, 'grant', ${project} from more`,
  );
  const of = (column: string, id: string) => sql`source.${sql.identifier(column)} = ${id}::uuid`;
  await copy('organizations', of('id', first.organizationId), {
    id: 'more.organization_id',
    slug: `'c-' || more.organization_id`,
  });
  await copy('users', of('id', first.userId), { id: 'more.user_id', managed_by: 'more.organization_id' });
  const membership = { tenant_id: 'more.organization_id', user_id: 'more.user_id' };
  await copy('organization_members', of('user_id', first.userId), membership);
  await copy('project_grants', of('id', first.id), {
    id: 'more.slice_id',
    organization_id: 'more.organization_id',
  });
  await copy('project_grant_roles', of('project_grant_id', first.id), { project_grant_id: 'more.slice_id' });
  const inSlice = { tenant_id: 'more.slice_id', user_id: 'more.user_id' };
  await copy('project_users', of('user_id', first.userId), inSlice);
  await copy('project_user_roles', of('user_id', first.userId), inSlice);
  await copy('api_keys', of('id', first.keyId), {
    ...membership,
    id: 'more.key_id',
    client_id: 'gen_random_uuid()',
    scope_id: 'more.organization_id::text',
  });
  await db.execute(sql`drop table more`);
}

const liveKeys = async (): Promise<number> => {
  const [row] = await rowsOf<{ count: number }>(
    app.owner,
    sql`select count(*)::int as count from api_keys where scope_tenant = 'Organization' and revoked_at is null`,
  );
  return row?.count ?? -1;
};

it('costs as many statements with 200 customers as with few', async () => {
  const as = { token: vendor.token };
  const permissionIds = [vendor.permissions['read'] as string];
  const group = await app.must('createGroup', { scope: vendor.scope, name: randomUUID(), permissionIds }, as);
  await app.must('updateRole', { scope: vendor.scope, id: vendor.reader, groupIds: [group.id] }, as);
  const grow = async (action: string) => {
    permissionIds.push(vendor.permissions[action] as string);
    const input = { scope: vendor.scope, id: group.id, permissionIds: [...permissionIds] };
    const spent = await app.spent(() => app.must('updateGroup', input, as));
    // Not counted, because the topics of 200 keys do not fit into one notification of PostgreSQL.
    return spent.filter((statement) => !isFraming(statement) && !statement.includes('pg_notify')).length;
  };
  await addCustomers(3);
  expect(await liveKeys()).toBe(4);
  const few = await grow('write');
  expect(await liveKeys()).toBe(0);

  await addCustomers(200);
  // The keys of the first step are revoked, and so are their copies: makes all of them live again.
  await app.owner.execute(sql`update api_keys set revoked_at = null, revoked_reason = null`);
  const before = await liveKeys();
  expect(before).toBe(204);
  const many = await grow('pay');
  expect(await liveKeys()).toBe(0);
  process.stdout.write(`statements when keys of 4 and of ${before} customers end: ${few} and ${many}\n`);
  expect(many).toBeLessThanOrEqual(few);
});
