import { sql } from 'drizzle-orm';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import { roleIdOf } from '../../schema/rights/built-in-ids.ts';
import { loadRolePaths, MAX_PATHS } from './role-paths.ts';

/** Paths of very wide roles, which the tests insert into the database instead of making hundreds of calls. */
let app: TestApp;
let tenantId: string;
let resourceId: string;
beforeAll(async () => {
  app = await startOwnApp();
  const owner = await app.person();
  const made = await app.must(
    'createProject',
    { scope: owner.account, name: 'Wide' },
    { token: owner.token },
  );
  tenantId = made.id;
  const resource = { scope: made.scope, name: 'Order', slug: 'order', actions: ['read'] };
  ({ id: resourceId } = await app.must('createResource', resource, { token: owner.token }));
});
afterAll(() => app.close());

/** Creates a role with this number of groups, each with the same permissions. @returns its id */
async function role(groups: number, permissions: number, condition = '{}', metadata = '{}'): Promise<string> {
  const [id, mark] = [randomUUID(), randomUUID()];
  const run = (statement: ReturnType<typeof sql>) => app.owner.execute(statement);
  await run(
    sql`insert into roles (id, tenant_id, name, level) values (${id}::uuid, ${tenantId}::uuid, ${mark}, 'project')`,
  );
  await run(sql`insert into groups (id, tenant_id, name, metadata)
    select gen_random_uuid(), ${tenantId}::uuid, ${mark}, ${metadata}::text::jsonb from generate_series(1, ${groups}::int)`);
  await run(sql`insert into permissions (id, tenant_id, name, resource_id, resource_tenant_id, action, condition)
    select gen_random_uuid(), ${tenantId}::uuid, ${mark}, ${resourceId}::uuid, ${tenantId}::uuid, 'read', ${condition}::text::jsonb
    from generate_series(1, ${permissions}::int)`);
  await run(sql`insert into role_groups (tenant_id, role_id, group_id, to_tenant_id)
    select ${tenantId}::uuid, ${id}::uuid, id, ${tenantId}::uuid from groups where name = ${mark}`);
  await run(sql`insert into group_permissions (tenant_id, group_id, permission_id, to_tenant_id)
    select ${tenantId}::uuid, g.id, p.id, ${tenantId}::uuid from groups g, permissions p
    where g.name = ${mark} and p.name = ${mark}`);
  return id;
}

const load = (...roleIds: string[]) => loadRolePaths(app.database.pool, roleIds);

it('reads more rows than one batch, each of them once', async () => {
  const { paths, complete } = await load(await role(2, 1100));
  expect(complete).toBe(true);
  expect(paths).toHaveLength(2200);
  expect(new Set(paths.map(({ permission }) => permission)).size).toBe(1100);
  expect(new Set(paths.map(({ role: grantSource }) => grantSource)).size).toBe(1);
  expect(new Set(paths.map(({ group }) => group)).size).toBe(2);
});

it('limits the number of paths, built-in rows first', async () => {
  const wide = await role(21, 500);
  const builtIn = roleIdOf('Project Viewer');
  const own = (await load(builtIn)).paths.length;
  const { paths, complete } = await load(wide, builtIn);
  expect(complete).toBe(false);
  expect(paths).toHaveLength(MAX_PATHS);
  expect(paths.filter(({ role: grantSource }) => grantSource.id === builtIn)).toHaveLength(own);
});

it('limits the bytes', async () => {
  const condition = JSON.stringify({ Equals: { 'resource.status': 'x'.repeat(7900) } });
  const { paths, complete } = await load(await role(1, 1200, condition));
  expect(complete).toBe(false);
  expect(paths.length).toBeGreaterThan(900);
  const bytes = paths.reduce((sum, path) => sum + JSON.stringify(path.condition).length, 0);
  expect(bytes).toBeLessThan(8 * 1024 * 1024);
});

it('keeps built-in rows, however much text the other roles have', async () => {
  const metadata = JSON.stringify({ filler: 'x'.repeat(8000) });
  const wide = await role(1300, 1, '{}', metadata);
  const builtIn = roleIdOf('Project Admin');
  const own = (await load(builtIn)).paths.length;
  const { paths, complete } = await load(wide, builtIn);
  expect(complete).toBe(false);
  expect(paths.filter(({ role: grantSource }) => grantSource.id === builtIn)).toHaveLength(own);
});

it('has no paths without a role', async () => {
  expect(await load()).toEqual({ paths: [], complete: true });
});
