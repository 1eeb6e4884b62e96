import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { startOwnApp, type TestApp } from '../support/app/app.ts';
import { storyTransports } from '../support/cases/breadth.ts';
import type { Person } from '../support/app/client.ts';

/** `totalCount` is exact, also where it is cached because counting is expensive. */
const MANY = 1100;
let app: TestApp;
let owner: Person;
let scope: ScopeRef;
let builtIn: number;

beforeAll(async () => {
  app = await startOwnApp();
  owner = await app.person();
  const as = { token: owner.token };
  ({ scope } = await app.must('createProject', { scope: owner.account, name: 'Many' }, as));
  builtIn = (await app.must('roles', { scope }, as)).totalCount;
  const projectId = scope.id.split(':')[1];
  await app.database.pool.execute(sql`
    insert into roles (id, tenant_id, name, level)
    select gen_random_uuid(), ${projectId}::uuid, 'Role ' || n, 'project' from generate_series(1, ${MANY}) n`);
});
afterAll(() => app.close());

const counts = (statements: readonly string[]) =>
  statements.filter((text) => text.includes('count(*)')).length;

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const as = () => ({ token: owner.token, via });
  const list = (more: object = {}) => app.must('roles', { scope, limit: 10, ...more }, as());

  it('is counted once, and again after every change of the tenant', async () => {
    const { totalCount } = await list();
    expect(totalCount).toBe(builtIn + MANY);
    expect(counts(await app.spent(() => list()))).toBe(0);
    const { id } = await app.must('createRole', { scope, name: 'Late' }, { token: owner.token });
    expect((await list()).totalCount).toBe(builtIn + MANY + 1);
    await app.must('deleteRole', { scope, id }, { token: owner.token });
    expect((await list()).totalCount).toBe(builtIn + MANY);
  });

  it('follows the filters, and is the same on every page', async () => {
    expect((await list()).totalCount).toBe(builtIn + MANY);
    expect((await list({ isSystem: true })).totalCount).toBe(builtIn);
    expect((await list({ isSystem: false })).totalCount).toBe(MANY);
    expect((await list({ search: 'Role 11' })).totalCount).toBe(12);
    const beyond = await list({ page: 1000 });
    expect(beyond).toMatchObject({ items: [], totalCount: builtIn + MANY, hasNextPage: false });
    expect(await list({ search: 'nothing like it' })).toMatchObject({ items: [], totalCount: 0 });
  });

  it('follows the current tags', async () => {
    const tag = (name: string) => app.must('createTag', { scope, name: `${name} ${via}` }, as());
    const [kept, gone] = [await tag('kept'), await tag('gone')];
    await app.database.pool.execute(sql`
      insert into role_tags (tenant_id, role_id, tag_id, to_tenant_id)
      select tenant_id, id, case when row_number() over (order by id) <= 50 then ${gone.id}::uuid else ${kept.id}::uuid end,
        tenant_id from roles where tenant_id = ${scope.id.split(':')[1]}::uuid and deleted_at is null`);
    const tagged = () => list({ tagIds: [kept.id, gone.id] });
    expect((await tagged()).totalCount).toBe(MANY);
    await app.must('deleteTag', { scope, id: gone.id }, as());
    expect((await tagged()).totalCount).toBe(MANY - 50);
  });

  it.each(['ASC', 'DESC'] as const)('of pages with built-in and own rows: %s', async (sortOrder) => {
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: { items: { id: string; name: string }[]; totalCount: number; nextCursor: string | null } =
        await list({ limit: 100, sortField: 'name', sortOrder, ...(cursor ? { cursor } : {}) });
      expect(page.totalCount).toBe(builtIn + MANY);
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor !== null);
    const paged: string[] = [];
    for (let page = 1; page <= Math.ceil((builtIn + MANY) / 100); page++) {
      paged.push(
        ...(await list({ limit: 100, sortField: 'name', sortOrder, page })).items.map(({ id }) => id),
      );
    }
    expect(new Set(seen).size).toBe(builtIn + MANY);
    expect(paged).toEqual(seen);
  });
});
