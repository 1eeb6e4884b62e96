import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import { unique, type Person } from '../../../test/support/app/client.ts';
import {
  customerOf,
  grantTo,
  memberOf,
  vendorOf,
  type Customer,
  type Vendor,
} from '../../../test/support/tenants/grants.ts';
import type { ScopeRef } from '../../kernel/scope.ts';
import { permissionIdOf } from '../../schema/rights/built-in-ids.ts';
import type { Impact } from './impact.ts';

/** What the owner of a project learns of its customers when trying a change of a role that is granted to them. */
let app: TestApp;
let vendor: Vendor;
let active: { customer: Customer; scope: ScopeRef; user: Person };
let suspended: Person;
beforeAll(async () => {
  app = await startApp();
  vendor = await vendorOf(app);
  const join = async () => {
    const customer = await customerOf(app);
    const grant = await grantTo(app, vendor, customer);
    const user = await memberOf(app, customer, 'Organization Viewer');
    const assigned = { scope: grant.scope, userId: user.userId, roleIds: [vendor.writer] };
    await app.must('createUser', assigned, { token: customer.token });
    return { customer, ...grant, user };
  };
  active = await join();
  await app.must(
    'createApiKey',
    { scope: active.scope, roleId: vendor.writer },
    { token: active.customer.token },
  );
  const other = await join();
  suspended = other.user;
  await app.must('suspendProjectGrant', { scope: vendor.scope, id: other.id }, { token: vendor.token });
});
afterAll(() => app.close());

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const dry = async (token: string): Promise<Impact> => {
    const input = { scope: vendor.scope, id: vendor.writer, groupIds: [], dryRun: true };
    const answer = await app.raw('updateRole', input, { token, via, select: '{ id }' });
    const whole = JSON.parse(answer.body) as {
      data: unknown;
      extensions?: { dryRun: Record<string, Impact> };
    };
    expect(answer.ok, answer.body).toBe(true);
    return (via === 'rest' ? whole.data : whole.extensions?.dryRun['updateRole']) as Impact;
  };

  /** A key of the project itself that may change roles, and has what the role contains. */
  async function keyWith(...names: string[]): Promise<string> {
    const as = { token: vendor.token };
    const contents = ['read', 'write'].map((action) => vendor.permissions[action] as string);
    const permissionIds = [...['Role:Query', 'Role:Update', ...names].map(permissionIdOf), ...contents];
    const made = { scope: vendor.scope, name: unique() };
    const group = await app.must('createGroup', { ...made, permissionIds }, as);
    const role = await app.must('createRole', { ...made, groupIds: [group.id] }, as);
    const key = await app.must('createApiKey', { scope: vendor.scope, roleId: role.id }, as);
    const { clientId, clientSecret, scope } = key;
    const exchanged = { clientId, clientSecret: clientSecret ?? '', scope };
    return (await app.must('exchangeApiKey', exchanged)).accessToken;
  }

  it('lists the users of customers who have the role, in their scope and without their keys', async () => {
    const { affected, truncated } = await dry(vendor.token);
    expect(truncated).toBe(false);
    expect(affected).toEqual([
      {
        subject: { type: 'user', id: active.user.userId },
        scope: active.scope,
        gains: [],
        loses: ['read', 'write'].map((action) => ({ resource: 'invoice', action, conditional: false })),
        changes: [],
      },
    ]);
    expect(JSON.stringify(affected)).not.toContain(suspended.userId);
  });

  it('lists them only to those who may read grants and users', async () => {
    expect((await dry(await keyWith('ProjectGrant:Query', 'User:Query'))).affected).toHaveLength(1);
    expect((await dry(await keyWith('ProjectGrant:Query'))).affected).toEqual([]);
    expect((await dry(await keyWith('User:Query'))).affected).toEqual([]);
  });
});
