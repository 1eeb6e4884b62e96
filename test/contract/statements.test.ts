import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { transports, type Person } from '../support/client.ts';

/** How many statements a call costs once the caller and the scope are known: a list must not cost more by its length. */
let app: TestApp;
let owner: Person;
let scope: ScopeRef;

beforeAll(async () => {
  app = await startApp();
  owner = await app.person();
  const as = { token: owner.token };
  ({ scope } = await app.must('createProject', { scope: owner.account, name: 'Many' }, as));
  const tag = await app.must('createTag', { scope, name: 't' }, as);
  const groups = [];
  for (let n = 0; n < 3; n++) groups.push((await app.must('createGroup', { scope, name: `G${n}` }, as)).id);
  for (let n = 0; n < 50; n++) {
    await app.must('createRole', { scope, name: `Row${n}`, groupIds: groups, tagIds: [tag.id] }, as);
  }
});
afterAll(() => app.close());

async function counted(work: () => Promise<unknown>): Promise<number> {
  await work();
  app.statements.length = 0;
  await work();
  return app.statements.length;
}

describe.each(transports)('over %s', (via) => {
  const options = () => ({
    token: owner.token,
    via,
    select: '{ items { id groups { id } tags { id } } totalCount nextCursor }',
  });
  const list = { limit: 50, sortField: 'name' };

  it('lists 50 rows with two relations in four statements at most', async () => {
    const cost = await counted(async () => {
      const relations = via === 'rest' ? { relations: ['groups', 'tags'] } : {};
      const { items } = await app.must('roles', { scope, ...list, ...relations }, options());
      expect(items).toHaveLength(50);
      expect(items[7]).toMatchObject({ groups: [{}, {}, {}], tags: [{}] });
    });
    expect(cost).toBeLessThanOrEqual(4);
  });

  it('answers a question without any', async () => {
    const cost = await counted(() =>
      app.must(
        'isAuthorized',
        { scope, permission: { resource: 'Role', action: 'Query' } },
        { token: owner.token, via },
      ),
    );
    expect(cost).toBe(0);
  });

  it('keeps cursor pages right while rows come and go', async () => {
    const as = { token: owner.token, via };
    const all = { scope, isSystem: false, search: 'Row' };
    const before = (await app.must('roles', { ...all, limit: 100 }, as)).items.map(({ id }) => id);
    const seen: string[] = [];
    let cursor: string | null = null;
    for (let round = 0; ; round++) {
      const page: { items: { id: string }[]; nextCursor: string | null } = await app.must(
        'roles',
        {
          scope,
          limit: 10,
          sortField: 'name',
          search: 'Row',
          isSystem: false,
          ...(cursor ? { cursor } : {}),
        },
        as,
      );
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
      if (cursor === null) break;
      // One row before and one behind the cursor, and the last row shown disappears.
      await app.must('createRole', { scope, name: `Row!${via}${round}` }, as);
      await app.must('createRole', { scope, name: `Rowz${via}${round}` }, as);
      if (round === 0) await app.must('deleteRole', { scope, id: seen.at(-1) as string }, as);
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(before.filter((id) => !seen.includes(id))).toEqual([]);
  });
});
