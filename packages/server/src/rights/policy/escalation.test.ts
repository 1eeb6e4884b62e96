import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyToken } from '../../../test/contract/world.ts';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { firmOf, type Firm } from '../../../test/support/tenants/firm.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import type { Person } from '../../../test/support/app/client.ts';

/** A document gives and takes nothing that its caller does not hold, whatever it says; and its plan says so. */
let app: TestApp;
let firm: Firm;
let caller: Person;
let version: string;

type Rows = Readonly<Record<string, Readonly<Record<string, unknown>>>>;
interface Policy {
  readonly resources: Rows;
  readonly permissions: Rows;
  readonly groups: Rows;
  readonly roles: Rows;
}

const isOwner = { Equals: { 'resource.ownerId': '{{user.id}}' } };
const base: Policy = {
  resources: { invoice: { actions: ['read', 'approve'] } },
  permissions: {
    'invoice:read': {},
    'invoice:approve': {},
    'approve own': { resource: 'invoice', action: 'approve', condition: isOwner },
  },
  groups: {
    Billing: { permissions: ['invoice:read', 'approve own'] },
    Approval: { permissions: ['invoice:approve'] },
    Labels: { permissions: ['Tag:Query'] },
  },
  roles: { Clerk: { groups: ['Billing'] }, Head: { groups: ['Approval'] }, Reader: { groups: ['Labels'] } },
};
const held = [
  ...['Policy:Query', 'Policy:Plan', 'Policy:Apply', 'Tag:Query'],
  ...['Role', 'Group', 'Resource'].flatMap((noun) =>
    ['Create', 'Update', 'Delete'].map((act) => `${noun}:${act}`),
  ),
  ...['Permission:Update', 'Permission:Delete'],
];
/** Built-in permissions that the caller lacks. */
const lacking = [
  ...['User:Create', 'User:Update', 'User:Delete', 'ApiKey:Create', 'ApiKey:Rotate', 'ApiKey:Revoke'],
  ...['ApiKey:CreateForUser', 'Permission:Create', 'Tag:Create', 'Tag:Delete', 'ProjectApp:Create'],
  ...['ProjectApp:RotateSecret', 'SigningKey:Rotate', 'WebhookSubscription:Create', 'AuditLog:Query'],
  ...['Event:Query', 'Authorization:Explain', 'PolicySnapshot:Read', 'ProjectGrant:Create', 'Project:Update'],
];

const without = (rows: Rows, key: string): Rows =>
  Object.fromEntries(Object.entries(rows).filter(([name]) => name !== key));
const { permissions, groups, roles } = base;

const attempts: readonly (readonly [string, Partial<Policy>])[] = [
  ...lacking.map(
    (name) => [`a new group with ${name}`, { groups: { ...groups, Mine: { permissions: [name] } } }] as const,
  ),
  ['a new role with rights of others', { roles: { ...roles, Mine: { groups: ['Billing'] } } }],
  [
    'a new role with all of them',
    { roles: { ...roles, Mine: { groups: ['Billing', 'Approval', 'Labels'] } } },
  ],
  [
    'a new role with a built-in group',
    { roles: { ...roles, Mine: { groups: ['SigningKey: Query, Rotate'] } } },
  ],
  [
    'more in a role that the caller may change',
    { roles: { ...roles, Reader: { groups: ['Labels', 'Billing'] } } },
  ],
  [
    'more in a group that the caller may change',
    { groups: { ...groups, Labels: { permissions: ['Tag:Query', 'invoice:read'] } } },
  ],
  [
    'more in a group of others',
    { groups: { ...groups, Billing: { permissions: ['invoice:read', 'invoice:approve'] } } },
  ],
  ['less in a group of others', { groups: { ...groups, Billing: { permissions: ['invoice:read'] } } }],
  ['nothing in a group of others', { groups: { ...groups, Billing: {} } }],
  ['less in a role of others', { roles: { ...roles, Clerk: {} } }],
  ['another role for a group of others', { roles: { ...roles, Clerk: { groups: ['Labels'] } } }],
  [
    'a role of others renamed',
    { roles: { ...without(roles, 'Clerk'), Mine: { groups: ['Billing'], renamedFrom: 'Clerk' } } },
  ],
  [
    'a group of others renamed',
    {
      groups: { ...without(groups, 'Billing'), Mine: { ...groups['Billing'], renamedFrom: 'Billing' } },
      roles: { ...roles, Clerk: { groups: ['Mine'] } },
    },
  ],
  [
    'metadata of a role of others, which conditions read',
    { roles: { ...roles, Clerk: { groups: ['Billing'], metadata: { region: 'eu' } } } },
  ],
  [
    'metadata of a group of others',
    { groups: { ...groups, Billing: { ...groups['Billing'], metadata: { a: 1 } } } },
  ],
  [
    'no condition any more',
    { permissions: { ...permissions, 'approve own': { resource: 'invoice', action: 'approve' } } },
  ],
  [
    'another condition',
    {
      permissions: {
        ...permissions,
        'approve own': {
          resource: 'invoice',
          action: 'approve',
          condition: { Equals: { 'resource.open': true } },
        },
      },
    },
  ],
  [
    'a condition on what has none',
    { permissions: { ...permissions, 'invoice:read': { condition: isOwner } } },
  ],
  [
    'a permission under the name of another',
    { permissions: { ...permissions, 'invoice:read': { resource: 'invoice', action: 'approve' } } },
  ],
  ['a resource switched off', { resources: { invoice: { actions: ['read', 'approve'], isActive: false } } }],
  ['a role of others deleted', { roles: without(roles, 'Clerk') }],
  ['a group of others deleted', { groups: without(groups, 'Billing'), roles: without(roles, 'Clerk') }],
  [
    'a permission of others deleted',
    { permissions: without(permissions, 'invoice:approve'), groups: { ...groups, Approval: {} } },
  ],
  ['everything deleted', { resources: {}, permissions: {}, groups: {}, roles: {} }],
];

beforeAll(async () => {
  app = await startApp();
  firm = await firmOf(app);
  caller = await firm.user({}, ...held);
  const input = { id: firm.projectId, scope: firm.project, policy: { version: 1, ...base } as never };
  ({ version } = await app.must('applyPolicy', input, firm.owner));
});
afterAll(() => app.close());

it('covers forty attempts', () => {
  expect(attempts.length).toBeGreaterThanOrEqual(40);
});

describe.each(storyTransports(import.meta))('over %s', (via) => {
  it.each(attempts)('refuses %s', async (_, part) => {
    const as = { token: caller.token, via };
    const policy = { version: 1, ...base, ...part } as never;
    const at = { id: firm.projectId, scope: firm.project, policy, allowDelete: true };
    const { blocked, changes } = await app.must('planPolicy', at, as);
    expect(changes).not.toEqual([]);
    expect(blocked.map(({ code }) => code)).toContain('PRIVILEGE_ESCALATION');
    const refused = await app.call('applyPolicy', { ...at, ifVersion: version }, as);
    expect(['PRIVILEGE_ESCALATION', 'FORBIDDEN']).toContain(refused.code);
  });

  it('and changed nothing', async () => {
    const now = await app.must('policy', { id: firm.projectId, scope: firm.project }, { ...firm.owner, via });
    expect(now.version).toBe(version);
  });

  it('lets them give what they hold', async () => {
    const as = { token: caller.token, via };
    const policy = {
      version: 1,
      ...base,
      roles: { ...roles, [`Reader ${via}`]: { groups: ['Labels'] } },
    } as never;
    const planned = await app.must(
      'planPolicy',
      { id: firm.projectId, scope: firm.project, policy, allowDelete: true },
      as,
    );
    expect(planned.blocked).toEqual([]);
  });
});

it.each(storyTransports(import.meta))('names no user over %s to a caller who may only plan', async (via) => {
  const { scope, owner, projectId } = { ...firm, scope: firm.project };
  const { items } = await app.must('roles', { scope, isSystem: false, search: 'Clerk' }, owner);
  const clerk = await firm.member('Organization Viewer');
  await app.must('createUser', { scope, userId: clerk.userId, roleIds: [items[0]?.id ?? ''] }, owner);
  const policy = { version: 1, ...base, roles: { ...roles, Clerk: {} } } as never;
  const planned = (token: string) => app.must('planPolicy', { id: projectId, scope, policy }, { token, via });
  const seen = await planned(owner.token);
  expect(seen.impact?.affected.map(({ subject }) => subject.id)).toContain(clerk.userId);
  const { roleId } = await firm.role(scope, 'Policy:Plan');
  const blind = await planned(await keyToken(app, owner.token, scope, roleId));
  expect(blind.impact).toBeNull();
  expect(blind.changes).toMatchObject([{ kind: 'roles', key: 'Clerk', action: 'update' }]);
  for (const secret of [clerk.userId, clerk.email]) expect(JSON.stringify(blind)).not.toContain(secret);
});
