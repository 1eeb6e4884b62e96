import { call, callOrThrow, signUp, type Service } from './service.ts';

/** What shows that an installed service is whole: answers of its pages, and the way from a sign-up to a checked permission. */
export interface FirstCheck {
  /** The key may read what it was given. */
  readonly granted: boolean;
  /** It may do something else. */
  readonly other: boolean;
  /** Status of each page, by its path. */
  readonly pages: Readonly<Record<string, number>>;
}

export async function firstCheck(service: Pick<Service, 'base' | 'mailDir'>): Promise<FirstCheck> {
  const { base } = service;
  const { token, organizationId } = await signUp(service);
  const post = <D = { id: string }>(path: string, body: object): Promise<D> =>
    callOrThrow<D>(`${base}/api/${path}`, { token, body });
  const owner = { tenant: 'organization', id: organizationId };
  const project = await post('projects', { scope: owner, name: 'Bookshop' });
  const scope = { tenant: 'organizationProject', id: `${organizationId}:${project.id}` };
  const actions = ['read', 'approve'];
  const resource = await post('resources', { scope, name: 'Invoice', slug: 'invoice', actions });
  const permission = await post('permissions', { scope, resourceId: resource.id, action: 'read' });
  const group = await post('groups', { scope, name: 'Invoices', permissionIds: [permission.id] });
  const role = await post('roles', { scope, name: 'Reader', groupIds: [group.id] });
  const key = await post<Credentials>('api-keys', { scope, name: 'backend', roleId: role.id });
  const { clientId, clientSecret } = key;
  const { accessToken } = await callOrThrow<{ accessToken: string }>(`${base}/api/auth/token`, {
    body: { clientId, clientSecret, scope: key.scope },
  });
  const may = async (action: string) => {
    const body = { scope, permission: { resource: 'invoice', action } };
    const asked = await call<{ authorized: boolean }>(`${base}/api/auth/is-authorized`, {
      ...{ token: accessToken, body },
    });
    return asked.data.authorized;
  };
  const pages: Record<string, number> = {};
  for (const path of ['/', '/console/', '/api-docs', '/docs/', '/health/live'])
    pages[path] = (await fetch(`${base}${path}`, { headers: { accept: 'text/html' } })).status;
  return { granted: await may('read'), other: await may('approve'), pages };
}

interface Credentials {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: object;
}
