import { mailedToken } from '../scripts/service.ts';
import { request } from './load.ts';
import { callOrThrow, type Service } from './service.ts';

/** A scope of the API. */
export interface Scope {
  readonly tenant: string;
  readonly id: string;
}

export interface Person {
  readonly email: string;
  readonly userId: string;
  readonly token: string;
  readonly refreshToken: string;
  readonly accountId: string;
}

/** An organization and its owner. */
export interface Tenant extends Person {
  readonly organizationId: string;
  readonly scope: Scope;
  /** Creates something over the API as the owner. */
  readonly post: <D = { id: string }>(path: string, body: Readonly<Record<string, unknown>>) => Promise<D>;
}

export const PASSWORD = 'three-lanterns-in-the-harbour';

export const credentialsOf = (email: string) => ({
  provider: 'email',
  providerId: email,
  providerData: { password: PASSWORD },
});

interface SignIn {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly user: { readonly id: string };
  readonly accounts: readonly { readonly id: string }[];
}

/** A user with a verified address. */
export async function newPerson({ base, mailDir }: Service, name: string): Promise<Person> {
  const email = `${name}@example.test`;
  const body = { ...credentialsOf(email), type: 'organization' };
  const {
    accessToken: token,
    refreshToken,
    user,
    accounts,
  } = await callOrThrow<SignIn>(`${base}/api/auth/register`, { body });
  await callOrThrow(`${base}/api/auth/verify-email`, { body: { token: await mailedToken(mailDir, email) } });
  return { email, userId: user.id, token, refreshToken, accountId: accounts[0]?.id ?? '' };
}

export async function newTenant(service: Service, name: string): Promise<Tenant> {
  const person = await newPerson(service, name);
  const post: Tenant['post'] = (path, body) =>
    callOrThrow(`${service.base}/api/${path}`, { token: person.token, body });
  const scope = { tenant: 'account', id: person.accountId };
  const { id } = await post('organizations', { scope, name: `${name} & co` });
  return { ...person, organizationId: id, scope: { tenant: 'organization', id }, post };
}

export const inQuery = ({ tenant, id }: Scope): string => `tenant=${tenant}&scopeId=${id}`;

/** The id of a role that every installation has. */
export async function builtInRole(
  { base }: Service,
  { token, scope }: { token: string; scope: Scope },
  name: string,
) {
  const { items } = await callOrThrow<{ items: readonly { id: string; name: string }[] }>(
    `${base}/api/roles?${inQuery(scope)}&isSystem=true&limit=100`,
    { token },
  );
  const role = items.find((item) => item.name === name);
  if (!role) throw new Error(`there is no built-in role ${name}`);
  return role.id;
}

export async function newProject({ organizationId, scope, post }: Tenant, name: string) {
  const { id } = await post('projects', { scope, name });
  return { id, scope: { tenant: 'organizationProject', id: `${organizationId}:${id}` } };
}

export interface Key {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: Scope;
}

export async function newKey({ post }: Tenant, scope: Scope, roleId: string): Promise<Key> {
  const { clientId, clientSecret } = await post<Key>('api-keys', { scope, roleId });
  return { clientId, clientSecret, scope };
}

export const exchange = async ({ base }: Service, body: Key): Promise<string> =>
  (await callOrThrow<{ accessToken: string }>(`${base}/api/auth/token`, { body })).accessToken;

/** A project to check access in: 50 permissions on one resource, 200 users and 200 API keys with one role. */
export interface Policy {
  readonly scope: Scope;
  readonly projectId: string;
  readonly ownerId: string;
  readonly roleId: string;
  readonly userIds: readonly string[];
  readonly keys: readonly Key[];
  readonly keyTokens: readonly string[];
  /** Token of an API key that may check other subjects. */
  readonly backendToken: string;
}

const ACTIONS = Array.from({ length: 50 }, (_, index) => `action-${index + 1}`);
/** Of five permissions, two are unconditional, two apply to the owner of the resource, and one is in no group. */
const kindOf = (action: number) =>
  (['always', 'always', 'owner', 'owner', 'never'] as const)[action % 5] ?? 'never';

export async function newPolicy(
  service: Service,
  tenant: Tenant,
  name: string,
  subjects = 200,
): Promise<Policy> {
  const { post } = tenant;
  const { id: projectId, scope } = await newProject(tenant, name);
  const resource = await post('resources', { scope, name: 'Invoice', slug: 'invoice', actions: ACTIONS });
  const permissionIds: string[] = [];
  for (const [index, action] of ACTIONS.entries()) {
    const kind = kindOf(index);
    const condition = kind === 'owner' ? { Equals: { 'resource.ownerId': '{{user.id}}' } } : null;
    const { id } = await post('permissions', { scope, resourceId: resource.id, action, condition });
    if (kind !== 'never') permissionIds.push(id);
  }
  const group = await post('groups', { scope, name: 'Invoices', permissionIds });
  const role = await post('roles', { scope, name: 'Clerk', groupIds: [group.id] });
  const [userIds, keys, keyTokens]: [string[], Key[], string[]] = [[], [], []];
  for (let count = 0; count < subjects; count++) {
    userIds.push((await post('users', { scope, name: `User ${count}`, roleIds: [role.id] })).id);
    const key = await newKey(tenant, scope, role.id);
    keys.push(key);
    keyTokens.push(await exchange(service, key));
  }
  const admin = await builtInRole(service, { token: tenant.token, scope }, 'Project Admin');
  const backendToken = await exchange(service, await newKey(tenant, scope, admin));
  return {
    scope,
    projectId,
    ownerId: tenant.userId,
    roleId: role.id,
    userIds,
    keys,
    keyTokens,
    backendToken,
  };
}

/** A check and the expected decision. */
interface Question {
  readonly token: string;
  readonly body: object;
  readonly isAllowed: boolean;
}

/** Checks of 50 permissions for each of 200 subjects: `named` by a backend, or with their `own` tokens. */
function questions({ scope, ownerId, ...policy }: Policy, whose: 'named' | 'own'): Question[] {
  const subjects = whose === 'named' ? policy.userIds : policy.keyTokens;
  return subjects.flatMap((subject, position) =>
    ACTIONS.map((action, index): Question => {
      const isOwner = (position + index) % 2 === 0;
      // An API key acts for the user who created it.
      const user = whose === 'named' ? subject : ownerId;
      const resource = { id: '00000000-0000-4000-8000-00{n}', ownerId: isOwner ? user : 'another user' };
      const permission = { resource: 'invoice', action };
      const kind = kindOf(index);
      return {
        token: whose === 'named' ? policy.backendToken : subject,
        body: {
          permission,
          context: { resource },
          scope,
          ...(whose === 'named' && { subject: { userId: subject } }),
        },
        isAllowed: kind === 'always' || (kind === 'owner' && isOwner),
      };
    }),
  );
}

/**
 * Requests for is-authorized, each about another resource, shuffled so that subjects and permissions do not repeat soon.
 * @throws when a decision differs from the policy, because the bench would then measure something else
 */
export async function checks({ base }: Service, policy: Policy, whose: 'named' | 'own'): Promise<string[]> {
  const all = questions(policy, whose);
  const shuffled = all
    .map((_, index) => all[(index * 7919) % all.length])
    .filter((question) => question !== undefined);
  for (const { token, body, isAllowed } of shuffled.slice(0, 100)) {
    const { authorized } = await callOrThrow<{ authorized: boolean }>(`${base}/api/auth/is-authorized`, {
      token,
      body,
    });
    if (authorized !== isAllowed) throw new Error(`answered ${authorized}: ${JSON.stringify(body)}`);
  }
  return shuffled.map(({ token, body }) => request('/api/auth/is-authorized', { token, body }));
}

/** Roles with two groups and two tags each, and the requests for their pages of 50 with both relations. */
export interface RoleList {
  readonly scope: Scope;
  readonly groupIds: readonly string[];
  readonly tagIds: readonly string[];
}

export async function newRoleList({ post }: Tenant, scope: Scope): Promise<RoleList> {
  const [groupIds, tagIds]: [string[], string[]] = [[], []];
  for (const name of ['one', 'two']) {
    groupIds.push((await post('groups', { scope, name: `Group ${name}` })).id);
    tagIds.push((await post('tags', { scope, name: `Tag ${name}` })).id);
  }
  return { scope, groupIds, tagIds };
}

export async function addRoles(
  { post }: Tenant,
  { scope, groupIds, tagIds }: RoleList,
  count: number,
): Promise<string[]> {
  const ids: string[] = [];
  for (let number = 1; number <= count; number++)
    ids.push((await post('roles', { scope, name: `Role ${number}`, groupIds, tagIds })).id);
  return ids;
}

export const listPath = (scope: Scope): string =>
  `/api/roles?${inQuery(scope)}&limit=50&relations=groups,tags`;

const ROLE = 'id name description metadata level isSystem createdAt updatedAt deletedAt';
const GROUP = 'id name description metadata isSystem createdAt updatedAt deletedAt';
const TAG = 'id name color metadata createdAt updatedAt deletedAt';

/** A GraphQL request for the rows and members of `listPath`. */
export const graphqlList = (scope: Scope, cursor: string | null) => ({
  query: `query List($input: RolesInput!) { roles(input: $input) {
    items { ${ROLE} groups { ${GROUP} } tags { ${TAG} } } totalCount hasNextPage nextCursor } }`,
  variables: { input: { scope, limit: 50, ...(cursor !== null && { cursor }) } },
});
