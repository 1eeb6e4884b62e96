import type { Doorward } from '@doorward/node';

/** What `main.ts` reads. */
export interface Environment {
  readonly DOORWARD_URL: string;
  readonly DOORWARD_SCOPE: string;
  readonly DOORWARD_CLIENT_ID: string;
  readonly DOORWARD_CLIENT_SECRET: string;
  readonly MACHINE_ROLE_ID: string;
  readonly WEBHOOK_SECRET: string;
}

/** Creates a project with orders to protect, a role for machines, the key of the service, and its webhook. */
export async function setUp(
  { api, url }: Doorward,
  accountId: string,
  ordersUrl: string,
): Promise<Environment> {
  const { id: projectId } = await api.createProject({
    scope: { tenant: 'account', id: accountId },
    name: 'Orders',
  });
  const scope = { tenant: 'accountProject', id: `${accountId}:${projectId}` } as const;

  const actions = ['read', 'approve', 'automate'];
  const order = await api.createResource({ scope, name: 'Order', slug: 'order', actions });
  const may = async (action: string, condition?: Record<string, Record<string, string | number>>) =>
    (await api.createPermission({ scope, resourceId: order.id, action, condition })).id;
  const permissionIds = [
    await may('read', { Equals: { 'resource.region': 'eu' } }),
    await may('approve', { NumericLessThan: { 'resource.amount': 1000 } }),
  ];
  const clerks = await api.createGroup({ scope, name: 'Clerks', permissionIds });
  const machines = await api.createRole({ scope, name: 'Machine', groupIds: [clerks.id] });

  const automation = await api.createGroup({
    scope,
    name: 'Automation',
    permissionIds: [await may('automate')],
  });
  const { items: builtIns } = await api.roles({ scope, search: 'Project Admin', relations: ['groups'] });
  const adminGroups = builtIns[0]?.groups?.map(({ id }) => id) ?? [];
  const service = await api.createRole({
    scope,
    name: 'Service',
    groupIds: [...adminGroups, clerks.id, automation.id],
  });
  const key = await api.createApiKey({ scope, name: 'orders service', roleId: service.id });

  const { secret } = await api.createWebhookSubscription({
    scope,
    url: `${ordersUrl}/webhooks`,
    eventTypes: ['project.user_removed'],
  });
  return {
    DOORWARD_URL: url,
    DOORWARD_SCOPE: `${scope.tenant}:${scope.id}`,
    DOORWARD_CLIENT_ID: key.clientId,
    DOORWARD_CLIENT_SECRET: key.clientSecret ?? '',
    MACHINE_ROLE_ID: machines.id,
    WEBHOOK_SECRET: secret ?? '',
  };
}
