import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import { unique } from '../../../test/support/app/client.ts';
import {
  customerOf,
  grantTo,
  memberOf,
  vendorOf,
  type Vendor,
} from '../../../test/support/tenants/grants.ts';
import { roleIdOf } from '../../schema/rights/built-in-ids.ts';

/** Keys of a customer's service users, who gain rights in a project that was granted to the customer. */
let app: TestApp;
let vendor: Vendor;
beforeAll(async () => {
  app = await startApp();
  vendor = await vendorOf(app);
});
afterAll(() => app.close());

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const revoked = { status: 'revoked', revokedBy: null, revokedReason: 'userRightsGrew' };

  /** A customer with a machine, whose key an administrator made. Maker and machine can only read invoices. */
  async function customerWithMachine() {
    const customer = await customerOf(app);
    const grant = await grantTo(app, vendor, customer);
    const owner = { token: customer.token, via };
    const maker = await memberOf(app, customer, 'Organization Admin');
    const { id: userId } = await app.must(
      'createUser',
      {
        scope: customer.scope,
        name: 'Robot',
        kind: 'service',
        roleIds: [roleIdOf('Organization Viewer')],
      },
      owner,
    );
    const assign = (id: string, roleId: string) =>
      app.must('createUser', { scope: grant.scope, userId: id, roleIds: [roleId] }, owner);
    const reassign = (id: string, roleId: string) =>
      app.must('updateUser', { scope: grant.scope, id, roleIds: [roleId] }, owner);
    await assign(maker.userId, vendor.reader);
    const key = await app.must(
      'createApiKey',
      { scope: customer.scope, userId },
      { token: maker.token, via },
    );
    const keyNow = () => app.must('apiKey', { scope: customer.scope, id: key.id }, owner);
    return { customer, grant, owner, maker, userId, key, assign, reassign, keyNow };
  }

  it('end when the machine gains there what its maker does not hold', async () => {
    const { userId, assign, reassign, keyNow } = await customerWithMachine();
    await assign(userId, vendor.reader);
    expect(await keyNow()).toMatchObject({ status: 'active' });
    await reassign(userId, vendor.writer);
    expect(await keyNow()).toMatchObject(revoked);
  });

  it('end when the machine gains there after its maker has lost that, or has left', async () => {
    const lost = await customerWithMachine();
    await lost.reassign(lost.maker.userId, vendor.writer);
    await lost.assign(lost.userId, vendor.reader);
    await lost.reassign(lost.maker.userId, vendor.reader);
    expect(await lost.keyNow()).toMatchObject({ status: 'active' });
    await lost.reassign(lost.userId, vendor.writer);
    expect(await lost.keyNow()).toMatchObject(revoked);

    const left = await customerWithMachine();
    const { customer, owner, maker, userId, key } = left;
    await app.must('removeOrganizationMember', { scope: customer.scope, userId: maker.userId }, owner);
    expect(await left.keyNow()).toMatchObject({ status: 'active' });
    await left.assign(userId, vendor.reader);
    expect(await left.keyNow()).toMatchObject(revoked);
    const events = await app.must('events', { scope: customer.scope, types: ['api_key.revoked'] }, owner);
    expect(events.items).toMatchObject([{ data: { id: key.id }, scope: customer.scope }]);
  });

  it('stay valid when the maker holds that there too, and when another customer gains', async () => {
    const [own, other] = [await customerWithMachine(), await customerWithMachine()];
    await own.reassign(own.maker.userId, vendor.writer);
    await own.assign(own.userId, vendor.reader);
    await own.reassign(own.userId, vendor.writer);
    await other.assign(other.userId, vendor.writer);
    expect(await other.keyNow()).toMatchObject(revoked);
    expect(await own.keyNow()).toMatchObject({ status: 'active', revokedReason: null });
  });

  it('end when the vendor adds to a role of the machine, which its maker lacks', async () => {
    const owner = { token: vendor.token, via };
    const name = unique();
    const group = await app.must('createGroup', { scope: vendor.scope, name, permissionIds: [] }, owner);
    const role = await app.must('createRole', { scope: vendor.scope, name, groupIds: [group.id] }, owner);
    const [first, second] = [await customerWithMachine(), await customerWithMachine()];
    for (const { grant } of [first, second])
      await app.must(
        'updateProjectGrant',
        { scope: vendor.scope, id: grant.id, roleIds: [vendor.reader, vendor.writer, role.id] },
        owner,
      );
    await first.assign(first.userId, role.id);
    await second.assign(second.userId, role.id);
    await second.reassign(second.maker.userId, role.id);
    const permissionIds = [vendor.permissions['pay'] as string];
    await app.must('updateGroup', { scope: vendor.scope, id: group.id, permissionIds }, owner);
    expect(await first.keyNow()).toMatchObject(revoked);
    expect(await second.keyNow()).toMatchObject({ status: 'active' });
  });
});
