import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { roleIdOf } from '../../src/schema/rights/built-in-ids.ts';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { joined } from '../contract/world.ts';
import { startApp, type TestApp } from '../support/app/app.ts';
import { storyTransports } from '../support/cases/breadth.ts';
import { unique, type Person } from '../support/app/client.ts';
import { granted, vendorOf } from '../support/tenants/grants.ts';

/**
 * A vendor sells one project to three customers. A machine with one key of the account onboards them. The people of a
 * customer have its granted roles only, one person works for two customers, an improvement of a role reaches all of
 * them, and a grant that ends takes everything with it.
 */
let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

describe.each(storyTransports(import.meta))('over %s', (via) => {
  test('one project, three customers', async () => {
    const vendor = await vendorOf(app);
    const must = async <T = { id: string }>(name: string, input: object, token: string): Promise<T> => {
      const answer = await app.raw(name, input, { token, via });
      if (!answer.ok) throw new Error(`${name}: ${answer.body}`);
      return answer.data as T;
    };

    // One key with scope Account, for a machine that holds what the owner holds.
    const roleIds = [roleIdOf('Account Owner')];
    const machine = {
      scope: vendor.person.account,
      kind: 'service',
      name: 'Onboarding',
      roleIds,
      metadata: {},
    };
    const { id: machineId } = await must('createUser', machine, vendor.token);
    const key = await must<{ clientId: string; clientSecret: string; scope: ScopeRef }>(
      'createApiKey',
      { scope: vendor.person.account, userId: machineId },
      vendor.token,
    );
    const credentials = { clientId: key.clientId, clientSecret: key.clientSecret, scope: key.scope };
    const { accessToken: script } = await must<{ accessToken: string }>('exchangeApiKey', credentials, '');

    const onboard = async (name: string, plan: string) => {
      const { id } = await must(
        'createOrganization',
        { scope: vendor.person.account, name: `${name} ${unique()}` },
        script,
      );
      const scope = joined('organization', id);
      const grant = await must<{ id: string; status: string }>(
        'createProjectGrant',
        {
          scope: vendor.scope,
          organizationId: id,
          name,
          roleIds: [vendor.reader, vendor.writer],
          metadata: { plan },
        },
        script,
      );
      expect(grant.status).toBe('active');
      const admin = await app.person();
      const invitation = { scope, email: admin.email, roleId: roleIdOf('Organization Admin') };
      await must('inviteMember', invitation, script);
      await must('acceptInvitation', { token: await app.mailedToken(admin.email) }, admin.token);
      return { id, scope, admin, grantId: grant.id, slice: granted({ id }, vendor) };
    };
    const acme = await onboard('Acme', 'gold');
    const globex = await onboard('Globex', 'free');
    const initech = await onboard('Initech', 'free');

    const may = async (who: { token: string }, action: string, scope: ScopeRef) => {
      const question = { scope, permission: { resource: 'invoice', action } };
      return (await must<{ reason: string }>('isAuthorized', question, who.token)).reason;
    };
    const hire = async (customer: typeof acme, person: Person, role: string) => {
      const invitation = {
        scope: customer.scope,
        email: person.email,
        roleId: roleIdOf('Organization Viewer'),
        grants: [{ grantId: customer.grantId, roleIds: [role] }],
      };
      await must('inviteMember', invitation, customer.admin.token);
      await must('acceptInvitation', { token: await app.mailedToken(person.email) }, person.token);
    };

    // The administrator of a customer gives granted roles only; one person works for two customers.
    const clerk = await app.person();
    await hire(acme, clerk, vendor.writer);
    await hire(globex, clerk, vendor.reader);
    expect(await may(clerk, 'write', acme.slice)).toBe('ALLOWED');
    expect(await may(clerk, 'write', globex.slice)).toBe('NO_PERMISSION');
    expect(await may(clerk, 'read', globex.slice)).toBe('ALLOWED');
    expect(await may(clerk, 'read', initech.slice)).toBe('INVALID_SCOPE');
    const change = { scope: acme.slice, id: clerk.userId, roleIds: [roleIdOf('Project Admin')] };
    expect((await app.raw('updateUser', change, { token: acme.admin.token, via })).code).toBe('NOT_FOUND');

    // The vendor adds a permission to a role, under a condition on what the customer has bought: all have it.
    const permission = await must(
      'createPermission',
      {
        scope: vendor.scope,
        resourceId: vendor.resourceId,
        action: 'pay',
        condition: { Equals: { 'organization.metadata.plan': 'gold' } },
      },
      vendor.token,
    );
    const group = await must(
      'createGroup',
      { scope: vendor.scope, name: unique(), permissionIds: [permission.id] },
      vendor.token,
    );
    const reader = await must<{ groups: { id: string }[] }>(
      'role',
      { scope: vendor.scope, id: vendor.reader },
      vendor.token,
    );
    expect(reader).toBeDefined();
    const before = await app.must(
      'role',
      { scope: vendor.scope, id: vendor.writer, relations: ['groups'] },
      vendor,
    );
    const groupIds = [
      ...(before as unknown as { groups: { id: string }[] }).groups.map(({ id }) => id),
      group.id,
    ];
    await must('updateRole', { scope: vendor.scope, id: vendor.writer, groupIds }, vendor.token);
    const colleague = await app.person();
    await hire(initech, colleague, vendor.writer);
    expect(await may(clerk, 'pay', acme.slice)).toBe('ALLOWED_BY_CONDITION');
    expect(await may(colleague, 'pay', initech.slice)).toBe('CONDITION_NOT_MET');

    // The vendor sees its customers with their numbers, and which users have which roles.
    const { items } = await must<{ items: { id: string; userCount: number }[] }>(
      'projectGrants',
      { scope: vendor.scope },
      vendor.token,
    );
    const counts = new Map(items.map(({ id, userCount }) => [id, userCount]));
    expect([acme, globex, initech].map(({ grantId }) => counts.get(grantId))).toEqual([1, 1, 1]);

    // A grant ends: keys, roles and checks of that customer end, and nothing of the others.
    const robot = await must<{ clientId: string; clientSecret: string; scope: ScopeRef }>(
      'createApiKey',
      { scope: acme.slice, roleId: vendor.reader },
      acme.admin.token,
    );
    const secret = { clientId: robot.clientId, clientSecret: robot.clientSecret, scope: robot.scope };
    const { accessToken } = await must<{ accessToken: string }>('exchangeApiKey', secret, '');
    expect(await may({ token: accessToken }, 'read', acme.slice)).toBe('ALLOWED');
    await must('revokeProjectGrant', { scope: vendor.scope, id: acme.grantId, reason: 'Ended' }, script);
    expect(await may(clerk, 'write', acme.slice)).toBe('INVALID_SCOPE');
    const refused = { scope: acme.slice, permission: { resource: 'invoice', action: 'read' } };
    expect((await app.raw('isAuthorized', refused, { token: accessToken, via })).code).toBe(
      'UNAUTHENTICATED',
    );
    expect((await app.raw('exchangeApiKey', secret, { via })).code).toBe('UNAUTHENTICATED');
    expect(await may(clerk, 'read', globex.slice)).toBe('ALLOWED');
    expect(await may(colleague, 'write', initech.slice)).toBe('ALLOWED');
  });
});
