import { expect } from 'vitest';
import { call, callOrThrow, signUp, type Service, type SignedUp } from '../../../../../scripts/service.ts';
import { verifyExport } from '../../../../node/src/audit.ts';

/** What the users of a former version made, and that it is all there and works at another version. */

interface Session {
  readonly accessToken: string;
  readonly refreshToken: string;
}

interface Inhabitants {
  readonly ada: SignedUp;
  readonly session: Session;
  readonly key: { readonly clientId: string; readonly clientSecret: string; readonly scope: Scope };
  /** Answers of the former version, by path. */
  readonly read: ReadonlyMap<string, unknown>;
}

interface Scope {
  readonly tenant: string;
  readonly id: string;
}

const login = {
  provider: 'email',
  providerId: 'ada@example.test',
  providerData: { password: 'three-lanterns-in-the-harbour' },
};
const signIn = ({ base }: Service) => callOrThrow<Session>(`${base}/api/auth/login`, { body: login });
const inScope = ({ tenant, id }: Scope) => `tenant=${tenant}&scopeId=${id}`;

/** A user with everything that an organization and its project have, made at the former version. */
export async function settle(service: Service): Promise<Inhabitants> {
  const ada = await signUp(service);
  const post = <D = { id: string }>(path: string, body: object) =>
    callOrThrow<D>(`${service.base}/api/${path}`, { token: ada.token, body });
  const account = { tenant: 'account', id: ada.accountId };
  const organization = { tenant: 'organization', id: ada.organizationId };
  const tag = await post('tags', { scope: organization, name: 'paying' });
  const viewer = await callOrThrow<{ items: { id: string; name: string }[] }>(
    `${service.base}/api/roles?${inScope(organization)}&limit=50`,
    { token: ada.token },
  ).then(({ items }) => items.find(({ name }) => name === 'Organization Viewer'));
  await post('organization-invitations/invite', {
    ...{ scope: organization, email: 'bob@example.test', roleId: viewer?.id },
  });
  const project = await post('projects', { scope: organization, name: 'Bookshop', tagIds: [tag.id] });
  const scope = { tenant: 'organizationProject', id: `${ada.organizationId}:${project.id}` };
  const resource = await post('resources', {
    scope,
    name: 'Invoice',
    slug: 'invoice',
    actions: ['read', 'approve'],
  });
  const condition = { Equals: { 'resource.ownerId': '{{user.id}}' } };
  const permission = await post('permissions', { scope, resourceId: resource.id, action: 'read', condition });
  const group = await post('groups', { scope, name: 'Own invoices', permissionIds: [permission.id] });
  const role = await post('roles', { scope, name: 'Customer', groupIds: [group.id] });
  await post('users', { scope, userId: ada.userId, roleIds: [role.id], metadata: {} });
  await post('users', {
    ...{
      scope: organization,
      kind: 'service',
      name: 'Robot',
      roleIds: [viewer?.id],
      metadata: { seat: 'A1' },
    },
  });
  const customer = await post('organizations', { scope: account, name: 'Customer' });
  await post('project-grants', { scope, organizationId: customer.id, name: 'Customer', roleIds: [role.id] });
  const key = await post<Inhabitants['key']>('api-keys', { scope, name: 'backend', roleId: role.id });
  await post('project-apps', { scope, name: 'Shop', redirectUris: ['https://shop.example.test/callback'] });
  // Switched off: what it would send stays stored, and nothing leaves this machine.
  await post('webhook-subscriptions', {
    ...{ scope, url: 'https://127.0.0.1:9443/hook', eventTypes: ['*'], active: false },
  });
  const policy = { version: 1, roles: { Clerk: { groups: ['Role: Query'] } } };
  await post(`projects/${project.id}/policy/apply`, { scope, policy });
  await post('signing-keys/rotate', { scope });

  const paths = [
    ...['me', 'me/authentication-methods', 'me/sessions', 'me/notifications', 'me/notification-preferences'],
    ...listsOf(account, ['organizations', 'projects', 'audit-logs', 'events']),
    ...listsOf(organization, [
      'tags',
      'projects',
      'organization-members',
      'organization-invitations',
      'audit-logs',
    ]),
    ...listsOf(scope, [
      ...[
        'resources',
        'permissions',
        'groups',
        'roles',
        'users',
        'project-grants',
        'api-keys',
        'project-apps',
      ],
      ...['webhook-subscriptions', 'signing-keys', 'audit-logs', 'events'],
    ]),
    `projects/${project.id}/policy?${inScope(scope)}`,
  ];
  const inhabitants: Inhabitants = {
    ada,
    session: await signIn(service),
    key: { clientId: key.clientId, clientSecret: key.clientSecret, scope: key.scope },
    read: new Map(),
  };
  await allow(service, inhabitants);
  const read = new Map<string, unknown>();
  for (const path of paths) read.set(path, await readOf(service, path, ada.token));
  return { ...inhabitants, read };
}

const listsOf = (scope: Scope, nouns: readonly string[]): string[] =>
  nouns.map((noun) => `${noun}?${inScope(scope)}&limit=100`);

const readOf = async ({ base }: Service, path: string, token: string): Promise<unknown> =>
  callOrThrow<unknown>(`${base}/api/${path}`, { token });

/** The key still stands for Ada: her own invoice yes, those of others no. @returns its token */
async function allow({ base }: Service, { ada, key }: Inhabitants): Promise<string> {
  const { accessToken } = await callOrThrow<Session>(`${base}/api/auth/token`, { body: key });
  const asked = async (ownerId: string) => {
    const question = {
      permission: { resource: 'invoice', action: 'read' },
      context: { resource: { ownerId } },
    };
    const body = { scope: key.scope, ...question };
    return callOrThrow<{ authorized: boolean }>(`${base}/api/auth/is-authorized`, {
      token: accessToken,
      body,
    });
  };
  expect((await asked(ada.userId)).authorized).toBe(true);
  expect((await asked(ada.accountId)).authorized).toBe(false);
  return accessToken;
}

/** At another version: what was read is read again, sessions, keys and passwords are good, and the audit log is whole. */
export async function meetAgain(service: Service, inhabitants: Inhabitants): Promise<void> {
  const { ada, session, read } = inhabitants;
  for (const [path, former] of read) {
    const now = await readOf(service, path, ada.token);
    expect(missing(former, now), path).toEqual([]);
  }
  const refreshed = await callOrThrow<Session>(`${service.base}/api/auth/refresh`, {
    body: { accessToken: session.accessToken, refreshToken: session.refreshToken },
  });
  expect((await call(`${service.base}/api/me`, { token: refreshed.accessToken })).status).toBe(200);
  expect((await call(`${service.base}/api/me`, { token: (await signIn(service)).accessToken })).status).toBe(
    200,
  );
  await allow(service, inhabitants);
  const exported = await fetch(
    `${service.base}/api/audit-logs/export?${inScope({ tenant: 'organization', id: ada.organizationId })}`,
    { headers: { authorization: `Bearer ${ada.token}` } },
  );
  const lines = (await exported.text()).trimEnd().split('\n');
  expect(await verifyExport(lines, { filtered: false, end: 'own entry' })).toMatchObject({ fault: null });
}

/** Moved by reading itself; and the version of a policy, which covers the kinds of rows that the service puts into a document. */
const ofUse = new Set(['lastUsedAt', 'lastActiveAt', 'version']);

/** What a former answer has and this one lacks. Lists may have grown, objects may have more members. */
function missing(former: unknown, now: unknown): unknown[] {
  const items = itemsOf(former);
  if (!items) return isWithin(former, now) ? [] : [former];
  const present = itemsOf(now) ?? [];
  return items.filter((item) => !present.some((candidate) => isWithin(item, candidate)));
}

const itemsOf = (answer: unknown): readonly unknown[] | undefined =>
  (answer as { items?: readonly unknown[] }).items;

function isWithin(former: unknown, now: unknown): boolean {
  if (former === null || now === null || typeof former !== 'object' || typeof now !== 'object')
    return former === now;
  if (Array.isArray(former) && former.length !== (now as unknown[]).length) return false;
  return Object.entries(former).every(
    ([name, member]) => ofUse.has(name) || isWithin(member, (now as Record<string, unknown>)[name]),
  );
}
