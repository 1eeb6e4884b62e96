import type { Doorward } from '@doorward/node';

/** What the other programs read. */
export interface Environment {
  readonly DOORWARD_URL: string;
  readonly PROJECT_SCOPE: string;
  readonly ONBOARDING_CLIENT_ID: string;
  readonly ONBOARDING_CLIENT_SECRET: string;
  readonly ROLE_IDS: string;
}

/** Creates the project with the roles that customers get, and a machine with one key that onboards customers. */
export async function setUp({ api, url }: Doorward, accountId: string): Promise<Environment> {
  const account = { tenant: 'account', id: accountId } as const;
  const project = await api.createProject({ scope: account, name: 'Invoices' });
  const scope = { tenant: 'accountProject', id: `${accountId}:${project.id}` } as const;

  const actions = ['read', 'write', 'pay'];
  const invoice = await api.createResource({ scope, name: 'Invoice', slug: 'invoice', actions });
  const may = async (action: string) =>
    (await api.createPermission({ scope, resourceId: invoice.id, action })).id;
  const reading = await api.createGroup({ scope, name: 'Reading', permissionIds: [await may('read')] });
  const writing = await api.createGroup({ scope, name: 'Writing', permissionIds: [await may('write')] });
  const roles = [
    await api.createRole({ scope, name: 'Reader', groupIds: [reading.id] }),
    await api.createRole({ scope, name: 'Clerk', groupIds: [reading.id, writing.id] }),
  ];

  const key = await machine(api, { account, scope, groupIds: [reading.id, writing.id] });
  return {
    DOORWARD_URL: url,
    PROJECT_SCOPE: `${scope.tenant}:${scope.id}`,
    ONBOARDING_CLIENT_ID: key.clientId,
    ONBOARDING_CLIENT_SECRET: key.clientSecret ?? '',
    ROLE_IDS: roles.map(({ id }) => id).join(),
  };
}

interface Place {
  readonly account: { readonly tenant: 'account'; readonly id: string };
  readonly scope: { readonly tenant: 'accountProject'; readonly id: string };
  readonly groupIds: readonly string[];
}

/**
 * A service user that can make organizations in the account, and grant this project. It also holds what the granted roles
 * give, because a grant needs the same rights. It changes nothing that is in the project.
 */
async function machine(api: Doorward['api'], { account, scope, groupIds }: Place) {
  const onboarding = await api.roles({ scope: account, search: 'Account Onboarding' });
  const { id: userId } = await api.createUser({
    scope: account,
    kind: 'service',
    name: 'Onboarding',
    roleIds: onboarding.items.map(({ id }) => id),
  });
  const permissionIds: string[] = [];
  for await (const { id, name } of api.permissions.each({ scope, search: 'ProjectGrant:' }))
    if (/^ProjectGrant:(Query|Create|Update|Revoke)$/.test(name)) permissionIds.push(id);
  const granting = await api.createGroup({ scope, name: 'Granting', permissionIds });
  const role = await api.createRole({ scope, name: 'Onboarding', groupIds: [granting.id, ...groupIds] });
  await api.createUser({ scope, userId, roleIds: [role.id] });
  return api.createApiKey({ scope: account, userId, name: 'onboarding' });
}
