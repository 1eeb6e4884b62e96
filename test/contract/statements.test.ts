import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { roleIdOf } from '../../src/access/built-in.ts';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { isFraming, startApp, type TestApp } from '../support/app.ts';
import { transports, type Person } from '../support/client.ts';

/** How many statements a call costs once the caller and the scope are known: a list must not cost more by its length. */
let app: TestApp;
let owner: Person;
let scope: ScopeRef;
/** Owns an organization with people in it. */
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
  const asked = spent.filter((statement) => !isFraming(statement));
  // A begin and a commit around each of them at most.
  expect(spent.length - asked.length).toBeLessThanOrEqual(2 * asked.length);
  return asked.length;
}

it('refreshes a session in four at most', async () => {
  let tokens = { accessToken: owner.token, refreshToken: owner.refreshToken };
  const refresh = async () => {
    const { accessToken, refreshToken } = await app.must('refreshSession', tokens);
    tokens = { accessToken, refreshToken };
  };
  await refresh();
  const spent = (await app.spent(refresh)).filter((text) => !/^(begin|commit)/i.test(text));
  expect(spent.length, spent.join('\n')).toBeLessThanOrEqual(4);
});

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

  it.each([
    ['users', ['roles', 'tags']],
    ['organizationMembers', []],
    ['organizationInvitations', ['role', 'inviter']],
    ['groups', ['permissions', 'tags']],
    ['projects', ['tags']],
  ] as const)('lists %s with %j of an organization in four at most', async (name, relations) => {
    const select = `{ items { id ${relations.map((one) => `${one} { id }`).join(' ')} } totalCount }`;
    const input = { scope: organization, limit: 50 };
    const cost = await counted(async () => {
      const asked = via === 'rest' && relations.length > 0 ? { ...input, relations } : input;
      const { data } = await app.raw(name, asked, { token: head.token, via, select });
      expect((data as { items: unknown[] }).items.length).toBeGreaterThan(1);
    });
    expect(cost).toBeLessThanOrEqual(4);
  });

  it('reads a row by its id in one statement, and each of its relations in one more', async () => {
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

  it('reads the signed-in user with what belongs to them in one', async () => {
    const cost = await counted(async () => {
      const { accounts, memberships } = await app.must('me', {}, { token: head.token, via });
      expect([accounts.length, memberships.length]).toEqual([1, 1]);
    });
    expect(cost).toBe(1);
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

  it('makes a role with two kinds of links in eight at most', async () => {
    const as = { token: owner.token, via };
    const [{ id: groupId } = { id: '' }] = (await app.must('groups', { scope }, as)).items;
    const [{ id: tagId } = { id: '' }] = (await app.must('tags', { scope }, as)).items;
    const links = { groupIds: [groupId], tagIds: [tagId] };
    const cost = await app.spent(() => app.must('createRole', { scope, name: `Zed ${via}`, ...links }, as));
    const framing = cost.filter(isFraming).length;
    expect(cost.length - framing).toBeLessThanOrEqual(8);
    // Into the scope and back to the service.
    expect(framing).toBeLessThanOrEqual(4);
    const { items } = await app.must(
      'roles',
      { scope, search: `Zed ${via}`, ...(via === 'rest' ? { relations: ['groups', 'tags'] } : {}) },
      options(),
    );
    expect(items).toMatchObject([{ groups: [{ id: groupId }], tags: [{ id: tagId }] }]);
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
