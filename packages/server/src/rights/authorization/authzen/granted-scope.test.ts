import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyToken } from '../../../../test/contract/world.ts';
import { startApp, type TestApp } from '../../../../test/support/app/app.ts';
import { pathOf, post } from '../../../../test/support/tenants/authzen.ts';
import { unique, type Person } from '../../../../test/support/app/client.ts';
import {
  customerOf,
  grantTo,
  memberOf,
  vendorOf,
  type Customer,
  type Vendor,
} from '../../../../test/support/tenants/grants.ts';
import { roleIdOf } from '../../../schema/rights/built-in-ids.ts';
import type { ScopeRef } from '../../../kernel/scope.ts';

/**
 * Vendor and customer know people by names of their own, even by the same ones. In the scope of the customer only the
 * customer's names count (authzen §2), and what the vendor writes neither shows nor changes an answer there.
 */
let app: TestApp;
let vendor: Vendor;
let customer: Customer;
let scope: ScopeRef;
/** May check others in the scope of the customer. */
let gateway: string;
let ofVendor: string;
/** A member of the customer without a role there, who also is a user of the vendor's project. */
let both: Person;

beforeAll(async () => {
  app = await startApp();
  const person = await app.person({ type: 'organization' });
  const organization = await app.must(
    'createOrganization',
    { scope: person.account, name: 'Vendor' },
    { token: person.token },
  );
  const owner = { tenant: 'organization', id: organization.id } as const;
  vendor = await vendorOf(app, { ...person, account: owner });
  customer = await customerOf(app);
  ({ scope } = await grantTo(app, vendor, customer));
  gateway = customer.token;
  ofVendor = await keyToken(app, vendor.token, vendor.scope, roleIdOf('Project Admin'));
  both = await memberOf(app, customer, 'Organization Viewer');
  const invited = { scope: owner, email: both.email, roleId: roleIdOf('Organization Viewer') };
  await app.must('inviteMember', invited, { token: vendor.token });
  await app.must('acceptInvitation', { token: await app.mailedToken(both.email) }, { token: both.token });
}, 60_000);
afterAll(() => app.close());

const joinVendor = (name: string, externalId: string) =>
  app.must(
    'createUser',
    { scope: vendor.scope, name, metadata: { externalId }, roleIds: [vendor.reader] },
    { token: vendor.token },
  );

/** A managed user of the customer with a role in the granted scope. */
async function joinCustomer(externalId: string): Promise<string> {
  const as = { token: customer.token };
  const roleId = roleIdOf('Organization Viewer');
  const input = { scope: customer.scope, name: 'Clerk', roleIds: [roleId] };
  const { id: userId } = await app.must('createUser', input, as);
  const joining = { scope, userId, roleIds: [vendor.reader], metadata: { externalId } };
  await app.must('createUser', joining, as);
  return userId;
}

const question = { action: { name: 'read' }, resource: { type: 'invoice', id: '1' } };
async function reasonOf(id: string, at: ScopeRef = scope, token = gateway): Promise<unknown> {
  const body = { subject: { type: 'user', id }, ...question };
  const { context } = (await post(app, token, `${pathOf(at)}/access/v1/evaluation`, body)).body;
  return (context as { reason: unknown }).reason;
}

describe('a name in the scope of a customer', () => {
  it('is the externalId that the customer gave, and not that of the vendor', async () => {
    const name = unique();
    const userId = await joinCustomer(name);
    expect(await reasonOf(userId)).toBe('ALLOWED');
    expect(await reasonOf(name)).toBe('ALLOWED');
    expect(await reasonOf(name, vendor.scope, ofVendor)).toBe('SUBJECT_INACTIVE');
  });

  it('stays the same when the vendor gives it to a user of its own', async () => {
    const name = unique();
    await joinCustomer(name);
    await joinVendor('Of the vendor', name);
    expect(await reasonOf(name)).toBe('ALLOWED');
    expect(await reasonOf(name, vendor.scope, ofVendor)).toBe('ALLOWED');
  });

  it('does not show whom the vendor knows by it', async () => {
    const secret = unique();
    const input = { scope: vendor.scope, userId: both.userId, roleIds: [vendor.reader] };
    await app.must('createUser', { ...input, metadata: { externalId: secret } }, { token: vendor.token });
    expect(await reasonOf(both.userId)).toBe('NO_PERMISSION');
    expect(await reasonOf(secret)).toBe('SUBJECT_INACTIVE');
    expect(await reasonOf(secret, vendor.scope, ofVendor)).toBe('ALLOWED');
  });

  it('may be the address of a member, and of no user of the vendor alone', async () => {
    expect(await reasonOf(both.email)).toBe('NO_PERMISSION');
    const { email } = vendor.person;
    expect(await reasonOf(email)).toBe(await reasonOf('stranger@example.test'));
  });

  it('is what a search answers', async () => {
    const name = unique();
    const userId = await joinCustomer(name);
    await joinVendor('Twin of the vendor', name);
    const body = { subject: { type: 'user' }, ...question };
    const search = await post(app, gateway, `${pathOf(scope)}/access/v1/search/subject`, body);
    const ids = (search.body['results'] as { id: string }[]).map(({ id }) => id);
    expect(ids).toContain(name);
    expect(ids).not.toContain(userId);
  });
});
