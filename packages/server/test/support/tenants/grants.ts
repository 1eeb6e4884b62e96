import { roleIdOf } from '../../../src/schema/rights/built-in-ids.ts';
import type { ScopeRef } from '../../../src/kernel/scope.ts';
import type { TestApp } from '../app/app.ts';
import { unique, type Person } from '../app/client.ts';

/** A vendor with one project, whose roles it can grant to the organizations of customers. */
export interface Vendor {
  readonly person: Person;
  readonly token: string;
  /** The project's own scope. */
  readonly scope: ScopeRef;
  readonly projectId: string;
  readonly resourceId: string;
  /** Permission ids by action of the resource `invoice`. */
  readonly permissions: Readonly<Record<string, string>>;
  readonly reader: string;
  readonly writer: string;
}

/** A customer with its own organization, and the owner of it. */
export interface Customer {
  readonly owner: Person;
  readonly token: string;
  readonly id: string;
  readonly scope: ScopeRef;
}

export const granted = (
  customer: { readonly id: string },
  vendor: { readonly projectId: string },
): ScopeRef => ({
  tenant: 'organizationProject',
  id: `${customer.id}:${vendor.projectId}`,
});

export async function vendorOf(app: TestApp, person?: Person): Promise<Vendor> {
  const owner = person ?? (await app.person({ type: 'organization' }));
  const as = { token: owner.token };
  const project = await app.must('createProject', { scope: owner.account, name: `Billing ${unique()}` }, as);
  const scope = project.scope;
  const resource = await app.must(
    'createResource',
    { scope, name: 'Invoice', slug: 'invoice', actions: ['read', 'write', 'pay'], createPermissions: true },
    as,
  );
  const made = await app.must('permissions', { scope, resourceId: resource.id, limit: 100 }, as);
  const permissions = Object.fromEntries(made.items.map(({ action, id }) => [action, id]));
  const roleWith = async (name: string, ...actions: string[]) => {
    const permissionIds = actions.map((action) => permissions[action] as string);
    const group = await app.must('createGroup', { scope, name, permissionIds }, as);
    return (await app.must('createRole', { scope, name, groupIds: [group.id] }, as)).id;
  };
  return {
    person: owner,
    token: owner.token,
    scope,
    projectId: project.id,
    resourceId: resource.id,
    permissions,
    reader: await roleWith('Reader', 'read'),
    writer: await roleWith('Writer', 'read', 'write'),
  };
}

export async function customerOf(app: TestApp): Promise<Customer> {
  const owner = await app.person({ type: 'organization' });
  const { id } = await app.must(
    'createOrganization',
    { scope: owner.account, name: `Customer ${unique()}` },
    { token: owner.token },
  );
  return { owner, token: owner.token, id, scope: { tenant: 'organization', id } };
}

/** Offers the project by mail, and accepts for the customer. */
export async function grantTo(
  app: TestApp,
  vendor: Vendor,
  customer: Customer,
  fields: {
    readonly roleIds?: string[];
    readonly metadata?: Record<string, never> | Record<string, string | number | boolean>;
    readonly maxUsers?: number;
    readonly defaultRoleId?: string;
    readonly features?: ('apiKeys' | 'webhooks' | 'audit')[];
  } = {},
) {
  const email = `${unique()}@example.test`;
  const input = {
    scope: vendor.scope,
    email,
    name: 'Acme',
    roleIds: [vendor.reader, vendor.writer],
    ...fields,
  };
  const grant = await app.must('createProjectGrant', input, { token: vendor.token });
  const token = await app.mailedToken(email);
  await app.must('acceptProjectGrant', { scope: customer.scope, token }, { token: customer.token });
  return { id: grant.id, scope: granted(customer, vendor) };
}

/** A person who joined the organization of the customer with a built-in role. */
export async function memberOf(
  app: TestApp,
  customer: Customer,
  role: 'Organization Admin' | 'Organization Viewer' | 'Organization Owner' | 'Organization Developer',
): Promise<Person> {
  const person = await app.person();
  const invited = { scope: customer.scope, email: person.email, roleId: roleIdOf(role) };
  await app.must('inviteMember', invited, { token: customer.token });
  const token = await app.mailedToken(person.email);
  await app.must('acceptInvitation', { token }, { token: person.token });
  return person;
}
