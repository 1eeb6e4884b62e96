import { sql } from 'drizzle-orm';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { joined, keyToken } from '../../../test/contract/world.ts';
import { isFraming, startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import { transports, type Person } from '../../../test/support/app/client.ts';
import { leastToll } from '../../../test/support/app/event-loop.ts';
import { firmOf, type Firm } from '../../../test/support/tenants/firm.ts';
import { roleIdOf } from '../../schema/rights/built-in-ids.ts';
import type { ScopeRef } from '../../kernel/scope.ts';

/** Who may do something, page by page. test/properties/who-can.test.ts compares it with every single decision. */
let app: TestApp;
let firm: Firm;
let as: { readonly token: string };
/** Ids of members by their roles, and of users of the project. */
let admin: Person;
let viewer: Person;
let clerk: string;
let disabled: string;
const inSales = { Equals: { 'user.metadata.dept': { $ref: 'resource.dept' } } };

const ask = (resource: string, action: string, attributes?: Record<string, unknown>) => ({
  permission: { resource, action },
  ...(attributes && { context: { resource: attributes } }),
});

beforeAll(async () => {
  app = await startOwnApp();
  firm = await firmOf(app);
  as = { token: firm.owner.token };
  admin = await firm.member('Organization Admin');
  viewer = await firm.member('Organization Viewer');
  const { project: scope } = firm;
  const order = { scope, name: 'Order', slug: 'order', actions: ['read', 'approve'] };
  const { id: resourceId } = await app.must('createResource', order, as);
  const permissionIds: string[] = [];
  for (const [action, condition] of [
    ['read', null],
    ['approve', inSales],
  ] as const)
    permissionIds.push((await app.must('createPermission', { scope, resourceId, action, condition }, as)).id);
  const group = await app.must('createGroup', { scope, name: 'Orders', permissionIds }, as);
  const role = await app.must('createRole', { scope, name: 'Clerk', groupIds: [group.id] }, as);
  const user = (name: string, metadata: Record<string, string>) =>
    app.must('createUser', { scope, name, roleIds: [role.id], metadata }, as);
  clerk = (await user('Clara', { dept: 'sales' })).id;
  disabled = (await user('Dora', { dept: 'sales' })).id;
  await user('Emil', { dept: 'legal' });
  await app.must('updateUser', { scope, id: disabled, status: 'disabled' }, as);
}, 120_000);
afterAll(() => app.close());

const sorted = (...ids: string[]): string[] => ids.sort();

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const page = (input: object, token = as.token) =>
    app.must(
      'whoCan',
      { scope: firm.project, ...input },
      {
        token,
        via,
        select:
          '{ items { subject { type id } reason matchedPermission { id name resource action } } nextCursor complete revision }',
      },
    );
  const idsOf = ({ items }: Awaited<ReturnType<typeof page>>) => items.map(({ subject }) => subject.id);

  it('finds members of the organization by their roles', async () => {
    const answer = await page({ scope: firm.organization, ...ask('OrganizationMember', 'Remove') });
    expect(idsOf(answer)).toEqual(sorted(firm.owner.userId, admin.userId));
    expect(answer).toMatchObject({ complete: true, nextCursor: null });
    expect(answer.items[0]).toMatchObject({ subject: { type: 'user' }, reason: 'ALLOWED' });
  });

  it('finds in a project its users and the members of its organization', async () => {
    const { userId } = firm.owner;
    expect(idsOf(await page(ask('Role', 'Query')))).toEqual(sorted(userId, admin.userId, viewer.userId));
    expect(idsOf(await page(ask('order', 'approve', { dept: 'sales' })))).toEqual([clerk]);
    // Rights about the organization itself have no effect in a project.
    expect(await page(ask('OrganizationMember', 'Remove'))).toMatchObject({ items: [], complete: true });
  });

  it('finds the owner of an account', async () => {
    const { account, userId, token } = firm.owner;
    const { scope } = await app.must('createProject', { scope: account, name: 'Own' }, as);
    const { id } = await app.must(
      'createUser',
      { scope, name: 'Finn', roleIds: [roleIdOf('Project Viewer')] },
      as,
    );
    expect(idsOf(await page({ scope, ...ask('Role', 'Query') }, token))).toEqual(sorted(userId, id));
    expect(idsOf(await page({ scope, ...ask('Role', 'Create') }, token))).toEqual([userId]);
  });

  it('finds the service users of an account in its projects', async () => {
    const { account, token } = firm.owner;
    const { scope } = await app.must('createProject', { scope: account, name: 'Machines' }, as);
    const machine = {
      scope: account,
      kind: 'service' as const,
      name: 'Robot',
      roleIds: [roleIdOf('Account Onboarding')],
    };
    const { id: userId } = await app.must('createUser', machine, { token });
    const question = { scope, ...ask('User', 'Query') };
    const { authorized } = await app.must('isAuthorized', { ...question, subject: { userId } }, { token });
    expect(authorized).toBe(true);
    expect(idsOf(await page(question, token))).toContain(userId);
    await app.must('deleteUser', { scope: account, id: userId }, { token });
    expect(idsOf(await page(question, token))).not.toContain(userId);
  });

  it('decides as isAuthorized does, with the same reason and permission', async () => {
    const question = ask(' ORDER', 'Approve ', { dept: 'sales' });
    const { items } = await page(question);
    expect(items).toHaveLength(1);
    const about = { scope: firm.project, ...question, subject: { userId: clerk } };
    const { reason, matchedPermission } = await app.must('isAuthorized', about, as);
    expect(items[0]).toEqual({ subject: { type: 'user', id: clerk }, reason, matchedPermission });
    expect(await page(ask('order', 'approve'))).toMatchObject({ items: [], complete: true });
    expect(await page(ask('order', 'burn'))).toMatchObject({ items: [], complete: true });
    const byName = await page({ permissionName: 'order:read' });
    expect(idsOf(byName)).not.toContain(disabled);
    expect(idsOf(byName)).toHaveLength(2);
  });

  it('continues with a cursor of the same question, and of no other', async () => {
    const question = { ...ask('Role', 'Query'), limit: 1 };
    const ids: string[] = [];
    let cursor: string | null = null;
    do {
      const answer: Awaited<ReturnType<typeof page>> = await page({ ...question, ...(cursor && { cursor }) });
      expect(answer.complete).toBe(answer.nextCursor === null);
      ids.push(...idsOf(answer));
      cursor = answer.nextCursor;
    } while (cursor !== null);
    expect(ids).toEqual(sorted(firm.owner.userId, admin.userId, viewer.userId));

    const { nextCursor } = await page(question);
    const others: readonly [object, string?][] = [
      [{ ...question, cursor: `${nextCursor}x` }],
      [{ ...question, cursor: 'x' }],
      [{ ...ask('Role', 'Create'), cursor: nextCursor }],
      [{ ...ask('Role', 'Query', { a: 1 }), cursor: nextCursor }],
      [{ ...question, scope: firm.organization, cursor: nextCursor }],
      [{ ...question, cursor: nextCursor }, admin.token],
    ];
    for (const [input, token = as.token] of others) {
      const { code } = await app.raw('whoCan', { scope: firm.project, ...input }, { token, via });
      expect(code).toBe('INVALID_CURSOR');
    }
  });

  it('needs the permission to list users too', async () => {
    const { roleId } = await firm.role(firm.project, 'Authorization:Check');
    const token = await keyToken(app, as.token, firm.project, roleId);
    const refused = await app.raw('whoCan', { ...ask('Role', 'Query'), scope: firm.project }, { token, via });
    expect(refused).toMatchObject({ code: 'FORBIDDEN', reason: 'NO_PERMISSION' });
    const both = await firm.role(firm.project, 'Authorization:Check', 'User:Query');
    const allowed = await keyToken(app, as.token, firm.project, both.roleId);
    expect(idsOf(await page(ask('order', 'read'), allowed))).toHaveLength(2);
  });

  it('names one permission, in a kind of scope that has users', async () => {
    const raw = (input: object) => app.raw('whoCan', { scope: firm.project, ...input }, { ...as, via });
    expect(await raw({})).toMatchObject({ details: [{ path: 'permission', code: 'required' }] });
    expect(await raw({ ...ask('a', 'b'), permissionName: 'a:b' })).toMatchObject({
      details: [{ path: 'permissionName', code: 'excluded' }],
    });
    expect((await raw({ ...ask('a', 'b'), limit: 101 })).code).toBe('VALIDATION_ERROR');
    const personal = joined('projectUser', firm.projectId, firm.owner.userId);
    for (const scope of [firm.owner.account, personal])
      expect((await raw({ ...ask('a', 'b'), scope })).code).toBe('TENANT_NOT_ALLOWED');
  });

  it('names the state that it is about', async () => {
    const change = { scope: firm.organization, id: admin.userId, metadata: { via, at: randomUUID() } };
    const { headers } = await app.raw('updateUser', change, as);
    const { revision } = await page({
      ...ask('Role', 'Query'),
      minRevision: headers['x-doorward-revision'] as string,
    });
    const question = { scope: firm.project, ...ask('Role', 'Query'), minRevision: revision };
    expect((await app.must('isAuthorized', question, as)).authorized).toBe(true);
  });
});

it('counts ten checks for a page, and in no other class', async () => {
  const limited = await startOwnApp({ SECURITY_RATE_LIMIT_CHECK_MAX: '25' });
  try {
    const { owner, project: scope } = await firmOf(limited);
    const call = (via: 'rest' | 'graphql') =>
      limited.raw('whoCan', { scope, ...ask('Role', 'Query') }, { token: owner.token, via });
    expect(String((await call('rest')).headers['ratelimit'])).toMatch(/^"check";r=15;/);
    expect((await call('graphql')).ok).toBe(true);
    for (const via of transports) expect((await call(via)).code).toBe('RATE_LIMITED');
  } finally {
    await limited.close();
  }
});

describe('of many thousand users', () => {
  const MEMBERS = 6000;
  let scope: ScopeRef;
  let last: string;

  beforeAll(async () => {
    const { organization, role } = await firmOf(app).then((other) => {
      scope = other.organization;
      as = { token: other.owner.token };
      return other;
    });
    const { roleId } = await role(organization, { on: 'Tag:Create', when: inSales });
    // Thousands of invitations would take minutes.
    const added = await app.owner.execute(sql`
      with made as (insert into users (id, name, is_managed, managed_by)
        select gen_random_uuid(), 'Member ' || n, true, ${organization.id}::uuid
        from generate_series(1, ${MEMBERS}) n returning id)
      insert into organization_members (tenant_id, user_id, role_id, role_tenant_id)
      select ${organization.id}::uuid, id, ${roleId}::uuid, ${organization.id}::uuid from made returning user_id`);
    last =
      (added as { rows: { user_id: string }[] }).rows
        .map((row) => row.user_id)
        .sort()
        .at(-1) ?? '';
    await app.owner.execute(
      sql`update organization_members set metadata = '{"dept":"sales"}' where user_id = ${last}::uuid`,
    );
  }, 120_000);

  it('goes on although a page is empty, and holds neither the event loop nor many statements', async () => {
    const question = { scope, ...ask('Tag', 'Create', { dept: 'sales' }) };
    const { result: first, blockedMs } = await leastToll(1000, () => app.must('whoCan', question, as));
    const held = first.items.map(({ subject }) => subject.id);
    expect(held.length).toBeLessThanOrEqual(1);
    expect(first.complete).toBe(false);
    expect(typeof first.nextCursor).toBe('string');
    expect(blockedMs).toBeLessThan(1000);
    const next = await app.must('whoCan', { ...question, cursor: first.nextCursor as string }, as);
    expect(next).toMatchObject({ complete: true, nextCursor: null });
    expect([...held, ...next.items.map(({ subject }) => subject.id)]).toContain(last);

    const spent = await app.spent(() => app.must('whoCan', question, as));
    expect(spent.filter((text) => !isFraming(text)).length).toBeLessThan(30);
  });

  it('ends a page with its limit', async () => {
    const question = { scope, ...ask('Organization', 'Query'), limit: 100 };
    const { items, complete } = await app.must('whoCan', question, as);
    expect([items.length, complete]).toEqual([1, true]);
  });
});
