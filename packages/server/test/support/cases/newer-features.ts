import { hash } from '@node-rs/bcrypt';
import { expect } from 'vitest';
import {
  call,
  callOrThrow,
  mailedToken,
  signUp,
  type Reply,
  type Service,
  type SignedUp,
} from '../../../../../scripts/service.ts';
import { roleIdOf } from '../../../src/schema/rights/built-in-ids.ts';
import { INSTALLATION_ID } from '../../../src/kernel/scope.ts';

/**
 * What this version makes and the former one may not know, in use at both at once: grants with users and keys, operators
 * who act for a user, suspended users and organizations, domains and imported users. A former version that does not know
 * grants may refuse them, but neither allows nor fails; one that knows them decides alike.
 */
interface Versions {
  readonly old: Service;
  readonly now: Service;
  /** The first user of the installation, who is its operator. */
  readonly ada: SignedUp;
  readonly round: string;
  /** Counts the answer, and fails for a 5xx. */
  readonly noted: <R extends { status: number; text: string }>(reply: R) => R;
}

interface Key {
  readonly id: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: object;
}

const refused = (reply: { status: number; text: string }, what: string) => {
  expect(reply.status, `${what}: ${reply.text}`).toBeGreaterThanOrEqual(400);
  expect(reply.status, `${what}: ${reply.text}`).toBeLessThan(500);
};

/** What one process ends, another learns of through the database: the check is repeated, as in two-processes.test.ts. */
async function soon(what: () => Promise<boolean>): Promise<void> {
  const began = performance.now();
  while (!(await what()))
    if (performance.now() - began > 10_000) throw new Error('the former version did not learn of it');
}

export async function useNewerFeatures({ old, now, ada, round, noted }: Versions): Promise<void> {
  const at = (service: Service) => {
    const send = async <D>(path: string, options: Parameters<typeof call>[1]): Promise<Reply<D>> => {
      const reply = await call<D>(`${service.base}/api/${path}`, options);
      expect(reply.status < 500, `${path}: ${reply.text}\n${service.output().slice(-2000)}`).toBe(true);
      return noted(reply);
    };
    const must = <D = { id: string }>(path: string, token: string, body?: object): Promise<D> =>
      callOrThrow<D>(`${service.base}/api/${path}`, { token, ...(body ? { body } : {}) });
    return { send, must };
  };
  const [former, newer] = [at(old), at(now)];
  const document = await (await fetch(`${old.base}/api-docs.json`)).text();
  const knowsGrants = document.includes('"/project-grants"') || document.includes('/api/project-grants"');
  const bob = await signUp(old, `bob${round}`);
  const account = { tenant: 'account', id: ada.accountId };

  // A grant to an organization of ada, with bob as an administrator who has a role and a key there.
  const project = await former.must('projects', ada.token, { scope: account, name: `Granted ${round}` });
  const own = { tenant: 'accountProject', id: `${ada.accountId}:${project.id}` };
  const resource = await former.must('resources', ada.token, {
    ...{ scope: own, name: 'Invoice', slug: 'invoice', actions: ['read'] },
  });
  const permission = await newer.must('permissions', ada.token, {
    ...{ scope: own, resourceId: resource.id, action: 'read' },
  });
  const group = await former.must('groups', ada.token, {
    ...{ scope: own, name: 'Readers', permissionIds: [permission.id] },
  });
  const role = await newer.must('roles', ada.token, { scope: own, name: 'Reader', groupIds: [group.id] });
  const customer = await former.must('organizations', ada.token, {
    scope: account,
    name: `Customer ${round}`,
  });
  const grant = await newer.must('project-grants', ada.token, {
    ...{ scope: own, organizationId: customer.id, name: 'Customer', roleIds: [role.id] },
  });
  const slice = { tenant: 'organizationProject', id: `${customer.id}:${project.id}` };
  const query = `tenant=organizationProject&scopeId=${slice.id}`;
  await newer.must('users', ada.token, {
    ...{ scope: slice, userId: ada.userId, roleIds: [role.id], metadata: {} },
  });
  const key = await newer.must<Key>('api-keys', ada.token, { scope: slice, roleId: role.id });
  const credentials = { clientId: key.clientId, clientSecret: key.clientSecret, scope: key.scope };
  const { accessToken } = await newer.must<{ accessToken: string }>('auth/token', '', credentials);
  const question = { scope: slice, permission: { resource: 'invoice', action: 'read' } };
  const asked = (service: typeof former, token: string) =>
    service.send<{ authorized?: boolean } | undefined>('auth/is-authorized', { token, body: question });
  for (const token of [ada.token, accessToken]) {
    expect((await asked(newer, token)).data?.authorized).toBe(true);
    expect((await asked(former, token)).data?.authorized ?? false).toBe(knowsGrants);
    if (knowsGrants) continue;
    for (const path of ['users', 'roles', 'api-keys', 'audit-logs', 'events', 'webhook-subscriptions'])
      refused(await former.send(`${path}?${query}`, { token }), path);
    refused(await former.send('users', { token, body: { scope: slice, userId: ada.userId } }), 'a user');
    refused(await former.send('api-keys', { token, body: { scope: slice, roleId: role.id } }), 'a key');
    refused(await former.send(`api-keys/${key.id}/revoke`, { token, body: { scope: own } }), 'another scope');
  }
  // A version without grants looks for a signing key of the grant, which has none: not a refusal, but no token either.
  const exchanged = await call<unknown>(`${old.base}/api/auth/token`, { body: credentials });
  expect(exchanged.status < 400, exchanged.text).toBe(knowsGrants);

  // A domain of an organization, and a user of another service with the password that they had there.
  await newer.must('organization-domains', ada.token, {
    ...{ scope: { tenant: 'organization', id: customer.id }, domain: `d${round.toLowerCase()}.example.test` },
  });
  const imported = `dora${round}@example.test`;
  const passwordHash = await hash('three-lanterns-in-the-harbour', { cost: 4 });
  await newer.must('users/import', ada.token, {
    ...{ scope: own, users: [{ email: imported, emailVerified: true, passwordHash }] },
  });
  const asImported = {
    provider: 'email',
    providerId: imported,
    providerData: { password: 'three-lanterns-in-the-harbour' },
  };
  const knowsImports = document.includes('/users/import"');
  // A version without imports cannot read the hash: not a refusal, but no sign-in either.
  const early = await call<unknown>(`${old.base}/api/auth/login`, { body: asImported });
  expect(early.status < 400, early.text).toBe(knowsImports);
  // The first sign-in at this version replaces the hash by one that both read.
  for (const service of [newer, former])
    expect((await service.send('auth/login', { body: asImported })).status).toBe(200);

  // Lists and logs that hold what is new are read at the former version too.
  const inOwn = `tenant=accountProject&scopeId=${own.id}`;
  const inCustomer = `tenant=organization&scopeId=${customer.id}`;
  const inAccount = `tenant=account&scopeId=${ada.accountId}`;
  for (const scope of [inOwn, inCustomer, inAccount])
    for (const path of [
      'audit-logs',
      'events',
      'users',
      'roles',
      'permissions',
      'resources',
      'groups',
      'api-keys',
    ])
      for (const service of [former, newer]) await service.send(`${path}?${scope}`, { token: ada.token });

  // An operator acts for bob: a version without operators does not take the token for that of bob.
  const installation = { tenant: 'installation', id: INSTALLATION_ID };
  const because = { scope: installation, reason: 'An upgrade is tried' };
  const { accessToken: acting, impersonationId } = await newer.must<{
    accessToken: string;
    impersonationId: string;
  }>(`installation/users/${bob.userId}/impersonate`, ada.token, because);
  expect((await newer.send('me', { token: acting })).status).toBe(200);
  const inBobs = { tenant: 'organization', id: bob.organizationId };
  const acts: [string, string, object][] = [
    ['PATCH', 'me', { name: 'Mallory' }],
    ['POST', 'me/authentication-methods', { provider: 'email', providerId: `mallory${round}@example.test` }],
    ['POST', 'projects', { scope: inBobs, name: 'Foreign' }],
    [
      'POST',
      'organization-invitations/invite',
      { scope: inBobs, email: `mallory${round}@example.test`, roleId: roleIdOf('Organization Owner') },
    ],
  ];
  const forbidden = acts.filter(([, path]) => path !== 'projects');
  for (const [method, path, body] of forbidden)
    refused(await newer.send(path, { token: acting, method, body }), path);
  for (const [method, path, body] of knowsGrants ? forbidden : acts)
    refused(await former.send(path, { token: acting, method, body }), `${path} at the former version`);
  for (const service of [former, newer]) {
    await service.send('me/sessions', { token: bob.token });
    await service.send('me/notifications', { token: bob.token });
  }
  const inInstallation = `tenant=${installation.tenant}&scopeId=${installation.id}`;
  const ended = await newer.send(`installation/impersonations/${impersonationId}?${inInstallation}`, {
    ...{ token: ada.token, method: 'DELETE' },
  });
  expect(ended.status, ended.text).toBe(200);

  // A suspended user is refused by both, also at the sign-in. They own no organization, which would need another owner.
  const login = {
    provider: 'email',
    providerId: `carol${round}@example.test`,
    providerData: { password: 'three-lanterns-in-the-harbour' },
  };
  const carol = await callOrThrow<{ accessToken: string; user: { id: string } }>(
    `${old.base}/api/auth/register`,
    { body: { ...login, type: 'personal' } },
  );
  const verification = { token: await mailedToken(old.mailDir, login.providerId) };
  await callOrThrow(`${old.base}/api/auth/verify-email`, { body: verification });
  for (const service of [former, newer])
    expect((await service.send('me', { token: carol.accessToken })).status).toBe(200);
  await newer.must(`installation/users/${carol.user.id}/suspend`, ada.token, because);
  await soon(async () => (await former.send('me', { token: carol.accessToken })).status === 401);
  for (const service of [former, newer]) {
    refused(await service.send('me', { token: carol.accessToken }), 'a session of a suspended user');
    refused(await service.send('auth/login', { body: login }), 'a sign-in of a suspended user');
  }

  // A suspended organization is refused by this version; the former one does not know it, and fails nowhere.
  const ofOrganization = `organizations/${customer.id}?${inCustomer}`;
  await newer.must(`installation/organizations/${customer.id}/suspend`, ada.token, because);
  for (const path of [`tags?${inCustomer}`, ofOrganization, `organizations?${inAccount}`])
    await former.send(path, { token: ada.token });
  expect((await newer.send(`tags?${inCustomer}`, { token: ada.token })).status).toBe(403);
  expect((await newer.send(ofOrganization, { token: ada.token })).status).toBe(200);
  refused(await newer.send('auth/token', { body: credentials }), 'a key of a suspended customer');
  expect((await asked(newer, ada.token)).data?.authorized ?? false).toBe(false);
  // What the former version changes meanwhile does not end the suspension.
  await former.send(`organizations/${customer.id}`, {
    ...{
      token: ada.token,
      method: 'PATCH',
      body: { scope: { tenant: 'organization', id: customer.id }, name: 'C' },
    },
  });
  expect((await newer.send(`tags?${inCustomer}`, { token: ada.token })).status).toBe(403);
  await newer.must(`installation/organizations/${customer.id}/reactivate`, ada.token, because);
  expect((await newer.send(`tags?${inCustomer}`, { token: ada.token })).status).toBe(200);
  expect((await asked(newer, ada.token)).data?.authorized).toBe(true);

  // A grant that ends, ends at both.
  await newer.must(`project-grants/${grant.id}/revoke`, ada.token, { scope: own });
  refused(await newer.send('auth/token', { body: credentials }), 'a key of a revoked grant');
  for (const service of [former, newer])
    await soon(async () => !((await asked(service, ada.token)).data?.authorized ?? false));
}
