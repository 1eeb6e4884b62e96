import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { roleIdOf } from '../../src/schema/rights/built-in-ids.ts';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { isFraming, startApp, type TestApp } from '../support/app/app.ts';
import { storyTransports } from '../support/cases/breadth.ts';
import type { Person } from '../support/app/client.ts';

/**
 * The number of statements of a call once the caller and the scope are cached: it must not grow with the length of a
 * list.
 */
let app: TestApp;
let owner: Person;
let scope: ScopeRef;
/** The owner of an organization with members. */
let head: Person;
let organization: ScopeRef;

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
  head = await app.person({ type: 'organization' });
  const his = { token: head.token };
  const { id } = await app.must('createOrganization', { scope: head.account, name: 'Many' }, his);
  organization = { tenant: 'organization', id };
  const label = await app.must('createTag', { scope: organization, name: 't' }, his);
  const viewer = roleIdOf('Organization Viewer');
  for (let n = 0; n < 50; n++) {
    const person = { scope: organization, name: `P${n}`, roleIds: [viewer], tagIds: [label.id] };
    await app.must('createUser', person, his);
  }
  for (let n = 0; n < 3; n++) {
    const email = `invited-${n}@example.test`;
    await app.must('inviteMember', { scope: organization, email, roleId: viewer }, his);
    await app.must('createProject', { scope: organization, name: `P${n}`, tagIds: [label.id] }, his);
  }
});
afterAll(() => app.close());

async function counted(work: () => Promise<unknown>): Promise<number> {
  await work();
  const spent = await app.spent(work);
  const requested = spent.filter((statement) => !isFraming(statement));
  // With at most one begin and one commit around each call.
  expect(spent.length - requested.length).toBeLessThanOrEqual(2 * requested.length);
  return requested.length;
}

it('refreshes a session with at most four', async () => {
  let tokens = { accessToken: owner.token, refreshToken: owner.refreshToken };
  const refresh = async () => {
    const { accessToken, refreshToken } = await app.must('refreshSession', tokens);
    tokens = { accessToken, refreshToken };
  };
  await refresh();
  const spent = (await app.spent(refresh)).filter((text) => !/^(begin|commit)/i.test(text));
  expect(spent.length, spent.join('\n')).toBeLessThanOrEqual(4);
});

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const options = () => ({
    token: owner.token,
    via,
    select: '{ items { id groups { id } tags { id } } totalCount nextCursor }',
  });
  const list = { limit: 50, sortField: 'name' };

  it('lists 50 rows with two relations with at most four statements', async () => {
    const cost = await counted(async () => {
      const relations = via === 'rest' ? { relations: ['groups', 'tags'] } : {};
      const { items } = await app.must('roles', { scope, ...list, ...relations }, options());
      expect(items).toHaveLength(50);
      expect(items[7]).toMatchObject({ groups: [{}, {}, {}], tags: [{}] });
    });
    expect(cost).toBeLessThanOrEqual(4);
  });

  it.each([
    ['users', ['roles', 'tags']],
    ['organizationMembers', []],
    ['organizationInvitations', ['role', 'inviter']],
    ['groups', ['permissions', 'tags']],
    ['projects', ['tags']],
  ] as const)('lists %s with %j of an organization with at most four', async (name, relations) => {
    const select = `{ items { id ${relations.map((relation) => `${relation} { id }`).join(' ')} } totalCount }`;
    const input = { scope: organization, limit: 50 };
    const cost = await counted(async () => {
      const requested = via === 'rest' && relations.length > 0 ? { ...input, relations } : input;
      const { data } = await app.raw(name, requested, { token: head.token, via, select });
      expect((data as { items: unknown[] }).items.length).toBeGreaterThan(1);
    });
    expect(cost).toBeLessThanOrEqual(4);
  });

  it('reads a row by id with one statement, and each of its relations with one more', async () => {
    const as = { token: owner.token, via };
    const [{ id } = { id: '' }] = (await app.must('roles', { scope, search: 'Row' }, as)).items;
    const alone = await counted(() => app.must('role', { scope, id }, { ...as, select: '{ id name }' }));
    expect(alone).toBe(1);
    const withTwo = await counted(async () => {
      const relations = via === 'rest' ? { relations: ['groups', 'tags'] } : {};
      const select = '{ id groups { id } tags { id } }';
      expect(await app.must('role', { scope, id, ...relations }, { ...as, select })).toMatchObject({
        groups: [{}, {}, {}],
        tags: [{}],
      });
    });
    expect(withTwo).toBe(3);
  });

  it('reads the signed-in user with all relations with one', async () => {
    const cost = await counted(async () => {
      const { accounts, memberships } = await app.must('me', {}, { token: head.token, via });
      expect([accounts.length, memberships.length]).toEqual([1, 1]);
    });
    expect(cost).toBe(1);
  });

  it('answers an authorization check without any', async () => {
    const cost = await counted(() =>
      app.must(
        'isAuthorized',
        { scope, permission: { resource: 'Role', action: 'Query' } },
        { token: owner.token, via },
      ),
    );
    expect(cost).toBe(0);
  });

  it('creates a role with two kinds of links with at most eight', async () => {
    const as = { token: owner.token, via };
    const [{ id: groupId } = { id: '' }] = (await app.must('groups', { scope }, as)).items;
    const [{ id: tagId } = { id: '' }] = (await app.must('tags', { scope }, as)).items;
    const links = { groupIds: [groupId], tagIds: [tagId] };
    const cost = await app.spent(() => app.must('createRole', { scope, name: `Zed ${via}`, ...links }, as));
    const framing = cost.filter(isFraming).length;
    expect(cost.length - framing).toBeLessThanOrEqual(8);
    // Two of them switch to the session identity of the scope and back.
    expect(framing).toBeLessThanOrEqual(4);
    const { items } = await app.must(
      'roles',
      { scope, search: `Zed ${via}`, ...(via === 'rest' ? { relations: ['groups', 'tags'] } : {}) },
      options(),
    );
    expect(items).toMatchObject([{ groups: [{ id: groupId }], tags: [{ id: tagId }] }]);
  });

  it('returns correct cursor pages while rows are created and deleted', async () => {
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
      // One row before and one after the cursor are added, and the last row returned is deleted.
      await app.must('createRole', { scope, name: `Row!${via}${round}` }, as);
      await app.must('createRole', { scope, name: `Rowz${via}${round}` }, as);
      if (round === 0) await app.must('deleteRole', { scope, id: seen.at(-1) as string }, as);
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(before.filter((id) => !seen.includes(id))).toEqual([]);
  });
});
