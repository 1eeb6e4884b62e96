import type { Doorward } from '@doorward/node';

export interface Customer {
  /** The customer for ever: an organization with this slug is made once. */
  readonly slug: string;
  readonly name: string;
  readonly admin: string;
  readonly maxUsers: number;
}

type Api = Doorward['api'];
interface ScopeOf<Tenant> {
  readonly tenant: Tenant;
  readonly id: string;
}
interface Vendor {
  readonly account: ScopeOf<'account'>;
  readonly project: ScopeOf<'accountProject'>;
}

/**
 * Makes the organization of a customer, grants it the project, and invites its first administrator. Each step is left out
 * where it is done already, so a run that broke off is finished by another one. Returns what it did.
 */
export async function onboard(
  api: Api,
  customer: Customer,
  { account, project, roleIds }: Vendor & { readonly roleIds: readonly string[] },
) {
  const { slug, name, admin, maxUsers } = customer;
  const done: string[] = [];
  let organizationId = await organizationOf(api, account, slug);
  if (!organizationId) {
    organizationId = (await api.createOrganization({ scope: account, name, slug })).id;
    done.push('created');
  }

  const grant = await grantOf(api, project, organizationId);
  const terms = { name, maxUsers, roleIds: [...roleIds].sort() };
  if (!grant) {
    await api.createProjectGrant({ scope: project, organizationId, ...terms });
    done.push('granted');
  } else if (Object.entries(terms).some(([key, value]) => String(grant[key as 'name']) !== String(value))) {
    await api.updateProjectGrant({ scope: project, id: grant.id, ...terms });
    done.push('changed');
  }

  const scope = { tenant: 'organization', id: organizationId } as const;
  if (!(await isKnown(api, scope, admin))) {
    const { items } = await api.roles({ scope, search: 'Organization Admin' });
    await api.inviteMember({ scope, email: admin, roleId: items[0]?.id ?? '' });
    done.push('invited');
  }
  return { organizationId, done };
}

async function organizationOf(api: Api, scope: Vendor['account'], slug: string): Promise<string | undefined> {
  for await (const organization of api.organizations.each({ scope, search: slug }))
    if (organization.slug === slug) return organization.id;
  return undefined;
}

async function grantOf(api: Api, scope: Vendor['project'], organizationId: string) {
  for (const status of ['active', 'suspended'] as const)
    for await (const grant of api.projectGrants.each({ scope, status }))
      if (grant.organizationId === organizationId) return grant;
  return undefined;
}

/** Whether the address is that of a member, or invited. */
async function isKnown(api: Api, scope: ScopeOf<'organization'>, email: string): Promise<boolean> {
  for await (const member of api.organizationMembers.each({ scope, search: email }))
    if (member.user.email === email) return true;
  for await (const invitation of api.organizationInvitations.each({ scope, search: email }))
    if (invitation.email === email && invitation.status === 'pending') return true;
  return false;
}

/** Ends the grant of a customer, with all that the customer has in the project. False: there is none. */
export async function offboard(api: Api, slug: string, { account, project }: Vendor) {
  const organizationId = await organizationOf(api, account, slug);
  const grant = organizationId && (await grantOf(api, project, organizationId));
  if (!grant) return false;
  await api.revokeProjectGrant({ scope: project, id: grant.id, reason: 'The contract has ended' });
  return true;
}
