import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { startOwnApp, type TestApp } from '../support/app/app.ts';
import { storyTransports } from '../support/cases/breadth.ts';
import { unique, type Person } from '../support/app/client.ts';

/**
 * A response repeats a related row at every path to it, so that few stored rows could make an unlimited response: an
 * HTTP request gets 20,000 related rows and 8 MiB, over both transports.
 */
const GROUPS = 100;
const PERMISSIONS = 100;

let app: TestApp;
let owner: Person;
/** Has a role with a hundred groups, each with the same hundred permissions. */
let wide: ScopeRef;
/** The same with 8 KB of metadata on each permission. */
let heavy: ScopeRef;

beforeAll(async () => {
  app = await startOwnApp();
  owner = await app.person();
  [wide, heavy] = [await project(0), await project(8000)];
});
afterAll(() => app.close());

async function project(bytes: number): Promise<ScopeRef> {
  const as = { token: owner.token };
  const { scope, id } = await app.must('createProject', { scope: owner.account, name: 'Wide' }, as);
  const resource = await app.must('createResource', { scope, name: 'Page', slug: `page-${unique()}` }, as);
  const role = await app.must('createRole', { scope, name: 'Wide' }, as);
  const { pool } = app.database;
  const tenant = sql`${id}::uuid`;
  await pool.execute(sql`insert into permissions (id, tenant_id, name, resource_id, resource_tenant_id, action, metadata)
    select gen_random_uuid(), ${tenant}, 'Wide ' || n, ${resource.id}::uuid, ${tenant}, 'read',
      jsonb_build_object('text', repeat('x', ${bytes}::int)) from generate_series(1, ${PERMISSIONS}) n`);
  await pool.execute(sql`insert into groups (id, tenant_id, name)
    select gen_random_uuid(), ${tenant}, 'Wide ' || n from generate_series(1, ${GROUPS}) n`);
  await pool.execute(sql`insert into group_permissions (tenant_id, group_id, permission_id, to_tenant_id)
    select ${tenant}, g.id, p.id, ${tenant} from groups g, permissions p
    where g.tenant_id = ${tenant} and p.tenant_id = ${tenant}`);
  await pool.execute(sql`insert into role_groups (tenant_id, role_id, group_id, to_tenant_id)
    select ${tenant}, ${role.id}::uuid, g.id, ${tenant} from groups g where g.tenant_id = ${tenant}`);
  return scope;
}

interface GraphqlAnswer {
  readonly data: unknown;
  readonly errors?: readonly { path?: string[]; extensions: { code: string; fix: string } }[];
}

/** The outcome of each document: its error code, or that it succeeded. */
async function graphql(payload: unknown): Promise<(string | undefined)[]> {
  const { body, statusCode } = await app.server.inject({
    method: 'POST',
    url: '/graphql',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${owner.token}` },
    payload: JSON.stringify(payload),
  });
  expect(statusCode).toBe(200);
  expect(body.length).toBeLessThanOrEqual(8 * 1024 * 1024 + 10_000);
  return [JSON.parse(body) as GraphqlAnswer].flat().map(({ data, errors }) => {
    if (!errors) return 'answered';
    expect(data).toBeNull();
    expect(errors).toHaveLength(1);
    expect(errors[0]?.extensions.fix).toContain('smaller limit');
    return [errors[0]?.extensions.code, ...(errors[0]?.path ?? []).slice(0, 1)].join(' ');
  });
}

const at = ({ tenant, id }: ScopeRef) => `scope: {tenant: ${tenant}, id: "${id}"}`;
const roles = (scope: ScopeRef, below: string) =>
  `roles(input: {${at(scope)}, search: "Wide"}) { items { ${below} } }`;
const tooMuch = 'QUERY_TOO_COMPLEX';

describe('20,000 related rows', () => {
  it('are counted at every path of a nested response, and no more are read', async () => {
    // 100 groups, 10,000 permissions, and a million groups.
    const below = 'groups { permissions { groups { __typename } } }';
    let answers: (string | undefined)[] = [];
    const statements = await app.spent(async () => {
      answers = await graphql({ query: `{ ${roles(wide, below)} }` });
    });
    expect(answers).toEqual([`${tooMuch} roles`]);
    expect(statements.filter((text) => text.includes('"permissions"')).length).toBeLessThan(4);
  });

  it('are one budget for all fields and documents of a request', async () => {
    const item = roles(wide, 'groups { permissions { id } }');
    expect(await graphql({ query: `{ ${item} }` })).toEqual(['answered']);
    expect((await graphql({ query: `{ a: ${item} b: ${item} }` }))[0]).toContain(tooMuch);
    const batch = await graphql([
      { query: `{ ${item} }` },
      { query: `{ ${item} }` },
      { query: '{ __typename }' },
    ]);
    expect(batch).toEqual(['answered', `${tooMuch} roles`, tooMuch]);
  });

  it('count a relation under two aliases twice', async () => {
    const groups = (below: string) =>
      `groups(input: {${at(wide)}, search: "Wide", limit: 100}) { items { ${below} } }`;
    expect(await graphql({ query: `{ ${groups('permissions { id }')} }` })).toEqual(['answered']);
    const thrice = groups('a: permissions { id } b: permissions { id } c: permissions { id }');
    expect(await graphql({ query: `{ ${thrice} }` })).toEqual([`${tooMuch} groups`]);
  });

  it('leave a committed mutation as it is', async () => {
    const name = `Kept ${unique()}`;
    const [role] = (await app.must('roles', { scope: wide, search: 'Wide' }, { token: owner.token })).items;
    const below = 'groups { permissions { groups { id } } }';
    const query = `mutation { updateRole(input: {${at(wide)}, id: "${role?.id}", description: "${name}"}) { ${below} } }`;
    expect(await graphql({ query })).toEqual([`${tooMuch} updateRole`]);
    const after = await app.must('role', { scope: wide, id: role?.id ?? '' }, { token: owner.token });
    expect(after.description).toBe(name);
  });
});

describe('8 MiB', () => {
  it.each(storyTransports(import.meta))('limit what relations repeat over %s', async (via) => {
    const input = { scope: heavy, search: 'Wide', limit: 100 };
    const requested = via === 'rest' ? { ...input, relations: ['permissions'] } : input;
    const select = '{ items { id permissions { id metadata } } }';
    const refused = await app.raw('groups', requested, { token: owner.token, via, select });
    expect(refused.code).toBe('QUERY_TOO_COMPLEX');
    expect(refused.body).toContain('smaller limit');
    expect(refused.body).toContain('8388608');
    if (via === 'rest') expect(refused.status).toBe(400);
    const few = await app.raw('groups', { ...requested, limit: 5 }, { token: owner.token, via, select });
    expect(few.code).toBeNull();
  });

  it('count the response, not the stored rows', async () => {
    const below = `groups(input: {${at(heavy)}, search: "Wide", limit: 100}) { items { permissions { id name } } }`;
    expect(await graphql({ query: `{ ${below} }` })).toEqual(['answered']);
    const repeated = `role: permissions(input: {${at(heavy)}, search: "Wide", limit: 100}) { items { ${Array.from({ length: 12 }, (_, i) => `a${i}: metadata`).join(' ')} } }`;
    expect(await graphql({ query: `{ ${repeated} }` })).toEqual([`${tooMuch} role`]);
  });

  it('are not read from the database before the refusal', async () => {
    const { scope, id } = await app.must(
      'createProject',
      { scope: owner.account, name: 'Large' },
      { token: owner.token },
    );
    const resource = await app.must(
      'createResource',
      { scope, name: 'Page', slug: 'page' },
      { token: owner.token },
    );
    const tenant = sql`${id}::uuid`;
    const { pool } = app.database;
    await pool.execute(sql`insert into groups (id, tenant_id, name)
      select gen_random_uuid(), ${tenant}, 'Wide ' || n from generate_series(1, 50) n`);
    await pool.execute(sql`insert into permissions (id, tenant_id, name, resource_id, resource_tenant_id, action, metadata)
      select gen_random_uuid(), ${tenant}, 'Wide ' || n, ${resource.id}::uuid, ${tenant}, 'read',
        jsonb_build_object('text', repeat('x', 8000)) from generate_series(1, 2500) n`);
    await pool.execute(sql`insert into group_permissions (tenant_id, group_id, permission_id, to_tenant_id)
      select ${tenant}, g.id, p.id, ${tenant}
      from (select id, row_number() over () as n from permissions where tenant_id = ${tenant}) p
      join (select id, row_number() over () as n from groups where tenant_id = ${tenant}) g on g.n = 1 + p.n % 50`);
    const query = `{ groups(input: {${at(scope)}, search: "Wide"}) { items { permissions { id } } } }`;
    expect(await graphql({ query })).toEqual([`${tooMuch} groups`]);
  });
});
