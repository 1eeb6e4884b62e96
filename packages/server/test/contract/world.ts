import { sql, type SQL } from 'drizzle-orm';
import { randomUUID } from 'node:crypto';
import { resourceIdOf, roleIdOf, type RoleName } from '../../src/schema/rights/built-in-ids.ts';
import { SYSTEM_NODE } from '../../src/schema/nodes.ts';
import { pascalTenant, tenants, type ScopeRef, type Tenant } from '../../src/kernel/scope.ts';
import { operations } from '../../src/operations.ts';
import type { NamedOperation } from '../../src/kernel/operation.ts';
import type { TestApp } from '../support/app/app.ts';
import type { Person } from '../support/app/client.ts';
import { nounOf, sampleInput } from './sample.ts';

export { nounOf };

interface Rows {
  readonly live: string[];
  readonly deleted: string[];
}

interface Place {
  readonly scope: ScopeRef;
  readonly rows: Record<string, Rows>;
}

/**
 * An account with rows of every kind, so that two of them are foreign to each other: every tenant kind, a live and a
 * deleted row of every noun that can be created there, and a deleted scope of every kind.
 */
export interface House {
  readonly person: Person;
  readonly places: Readonly<Record<Tenant, Place>>;
  /** Scopes that the person owned and deleted. */
  readonly deleted: Readonly<Record<Tenant, ScopeRef>>;
  /** Token of an API key of the account project. */
  readonly keyToken: string;
  /** Tokens of management keys: of the account, whose machine holds all there, and of the organization. */
  readonly managementTokens: readonly string[];
}

const byName = new Map(operations.map((op) => [op.name, op]));
/** Rows that other rows refer to come first. */
const order = ['Tag', 'Resource', 'Permission', 'Group', 'Role', 'User'];
const rank = (noun: string) => (order.indexOf(noun) + order.length + 1) % (order.length + 1);
/** Whether only operators of the installation may call it; src/operators/installation tests these with an operator. */
export const isOfInstallation = ({ tenants: allowed = [] }: NamedOperation): boolean =>
  allowed.length > 0 && allowed.every((tenant) => tenant === 'installation');

const creates = operations
  .filter((op) => op.status === 201 && op.access.endsWith(':Create') && !isOfInstallation(op))
  .sort((a, b) => rank(nounOf(a)) - rank(nounOf(b)));

export const joined = (tenant: Tenant, ...ids: string[]): ScopeRef => ({ tenant, id: ids.join(':') });

/** Ids for a scope of this kind, none of which ever existed. */
export const nowhere = (tenant: Tenant): ScopeRef =>
  tenant === 'account' || tenant === 'organization' || tenant === 'installation'
    ? joined(tenant, randomUUID())
    : joined(tenant, randomUUID(), randomUUID());

export async function house(app: TestApp): Promise<House> {
  const person = await app.person({ type: 'organization' });
  const { token, userId } = person;
  const accountId = person.account.id;
  const project = async (scope: ScopeRef) =>
    (await app.must('createProject', { scope, name: 'Sample' }, { token })).id;
  const organization = async () =>
    (await app.must('createOrganization', { scope: person.account, name: 'Sample' }, { token })).id;

  const organizationId = await organization();
  const organizationScope = joined('organization', organizationId);
  const inAccount = await project(person.account);
  const inOrganization = await project(organizationScope);
  const dead = {
    organization: await organization(),
    inAccount: await project(person.account),
    inOrganization: await project(organizationScope),
    account: randomUUID(),
  };
  const at = (id: string) => ({ id });
  const dying = joined('organization', dead.organization);
  await app.must('deleteOrganization', { scope: dying, ...at(dead.organization) }, { token });
  await app.must('deleteProject', { scope: person.account, ...at(dead.inAccount) }, { token });
  await app.must('deleteProject', { scope: organizationScope, ...at(dead.inOrganization) }, { token });
  // An account is deleted only with its user, so this one is written as such a deletion leaves it.
  await app.database.pool.execute(
    sql`insert into nodes (id, kind, deleted_at) values (${dead.account}::uuid, 'account', now())`,
  );

  const scopes: Record<Tenant, ScopeRef> = {
    account: person.account,
    organization: organizationScope,
    accountProject: joined('accountProject', accountId, inAccount),
    organizationProject: joined('organizationProject', organizationId, inOrganization),
    projectUser: joined('projectUser', inAccount, userId),
    installation: joined('installation', SYSTEM_NODE),
  };
  // Sequential, so that two houses have the same rows in the same order.
  const places = {} as Record<Tenant, Place>;
  for (const tenant of tenants)
    places[tenant] = { scope: scopes[tenant], rows: await rowsOf(app, token, scopes[tenant]) };
  // No person in a house is an operator.
  Object.assign(places, { installation: { scope: scopes.installation, rows: {} } });
  const rows = (live: string[], deleted: string[]): Rows => ({ live, deleted });
  places.account.rows['Organization'] = rows([organizationId], [dead.organization]);
  places.organization.rows['Organization'] = rows([organizationId], [dead.organization]);
  places.account.rows['Project'] = rows([inAccount], [dead.inAccount]);
  places.accountProject.rows['Project'] = rows([inAccount], [dead.inAccount]);
  places.organization.rows['Project'] = rows([inOrganization], [dead.inOrganization]);
  places.organizationProject.rows['Project'] = rows([inOrganization], [dead.inOrganization]);
  // A member is a user, and has the id of the user.
  places.organization.rows['Member'] = places.organization.rows['User'] ?? rows([], []);
  // The role of a member of an organization counts in its projects too.
  const users = (tenant: Tenant) => places[tenant].rows['User'] ?? rows([], []);
  for (const tenant of ['organization', 'accountProject', 'organizationProject'] as const) {
    const inherited = tenant === 'organizationProject' ? users('organization') : rows([], []);
    places[tenant].rows['Subject'] = rows(
      [...users(tenant).live, ...inherited.live],
      [...users(tenant).deleted, ...inherited.deleted],
    );
  }
  places.organization.rows['OrganizationGrant'] = rows([await grantOf(app, person, organizationId)], []);
  // A project lists the keys of its users too.
  places.accountProject.rows['ApiKey']?.live.push(...(places.projectUser.rows['ApiKey']?.live ?? []));
  return {
    person,
    places,
    deleted: {
      account: joined('account', dead.account),
      organization: dying,
      accountProject: joined('accountProject', accountId, dead.inAccount),
      organizationProject: joined('organizationProject', organizationId, dead.inOrganization),
      projectUser: joined('projectUser', dead.inAccount, userId),
      installation: joined('installation', randomUUID()),
    },
    keyToken: await keyToken(app, token, scopes.accountProject),
    managementTokens: [
      await managementToken(app, token, scopes.account, 'Account Owner'),
      await managementToken(app, token, scopes.organization, 'Organization Admin'),
    ],
  };
}

/** An active grant of another project: the person administers both its owner and the customer. */
async function grantOf(app: TestApp, { account, token }: Person, organizationId: string): Promise<string> {
  const { scope } = await app.must('createProject', { scope: account, name: 'Granted' }, { token });
  const role = await app.must('createRole', { scope, name: 'Granted' }, { token });
  const input = { scope, organizationId, name: 'Sample', roleIds: [role.id] };
  return (await app.must('createProjectGrant', input, { token })).id;
}

/** One live and one deleted row of each noun that this kind of scope can have. */
async function rowsOf(app: TestApp, token: string, scope: ScopeRef): Promise<Record<string, Rows>> {
  const rows: Record<string, Rows> = {};
  for (const create of creates) {
    const noun = nounOf(create);
    if (noun === 'Project' || noun === 'Organization' || !create.tenants?.includes(scope.tenant as Tenant))
      continue;
    const make = async () => {
      const fixed = { ...knownIn(rows), ...(await domainFor(create, app, { scope, token })) };
      rows['OrganizationDomain']?.live.push(...(fixed.domainIds ?? []));
      const answer = await app.raw(create.name, sampleInput(create, scope, fixed), { token });
      if (!answer.ok) throw new Error(`${create.name} in ${scope.tenant}: ${answer.body}`);
      return (answer.data as { id: string }).id;
    };
    const live = await make();
    const gone = await make();
    // A noun that can only be revoked stays visible.
    const remove = byName.get(`delete${noun}`) ?? byName.get(`revoke${noun}`);
    if (!remove) throw new Error(`${noun} can be created and neither deleted nor revoked`);
    rows[noun] = remove.name.startsWith('delete')
      ? { live: [live], deleted: [gone] }
      : { live: [live, gone], deleted: [] };
    const removed = await app.raw(remove.name, { scope, id: gone }, { token });
    if (!removed.ok) throw new Error(`${remove.name} in ${scope.tenant}: ${removed.body}`);
  }
  const [id] = rows['WebhookSubscription']?.live ?? [];
  if (id !== undefined) {
    const delivery = await app.must('testWebhookSubscription', { scope, id }, { token });
    rows['WebhookDelivery'] = { live: [delivery.id], deleted: [] };
  }
  return rows;
}

/** A new domain for a new connection: a domain is in one connection at most. */
export async function domainFor(
  { name }: NamedOperation,
  app: TestApp,
  { scope, token }: { readonly scope: ScopeRef; readonly token: string },
): Promise<{ readonly domainIds?: readonly string[] }> {
  if (name !== 'createOrganizationConnection') return {};
  // Domains are listed by name, and this one must come last.
  const domain = `z-${randomUUID()}.example.test`;
  const { id } = await app.must('createOrganizationDomain', { scope, domain }, { token });
  return { domainIds: [id] };
}

/** A permission is on a resource: one of the project, or a built-in one where the scope has no others. */
function knownIn(rows: Record<string, Rows>): Record<string, unknown> {
  const own = rows['Resource']?.live[0];
  const resource = own
    ? { resourceId: own, action: 'query' }
    : { resourceId: resourceIdOf('Role'), action: 'Query' };
  const role = rows['Role']?.live[0];
  return {
    ...resource,
    roleId: role,
    ...(role && { roleIds: [role] }),
    serviceUserId: rows['User']?.live[0],
  };
}

/** A new service user of the organization or account with this role, and a token of its key. */
async function managementToken(
  app: TestApp,
  token: string,
  scope: ScopeRef,
  role: RoleName,
): Promise<string> {
  const input = { scope, kind: 'service' as const, name: 'Machine', roleIds: [roleIdOf(role)] };
  const { id: userId } = await app.must('createUser', input, { token });
  return keyToken(app, token, scope, undefined, userId);
}

/** Creates a key, with a role or a service user if one is named, and exchanges it. */
export async function keyToken(
  app: TestApp,
  token: string,
  scope: ScopeRef,
  roleId?: string,
  userId?: string,
): Promise<string> {
  const holder = { ...(roleId ? { roleId } : {}), ...(userId ? { userId } : {}) };
  const key = await app.must('createApiKey', { scope, ...holder }, { token });
  const exchanged = await app.must('exchangeApiKey', {
    clientId: key.clientId,
    clientSecret: key.clientSecret ?? '',
    scope: { tenant: pascalTenant(scope.tenant as Tenant), id: scope.id },
  });
  return exchanged.accessToken;
}

/** A new person who joined an organization with a built-in role. */
export async function member(app: TestApp, organizationId: string, role: RoleName): Promise<Person> {
  const person = await app.person();
  await app.database.pool.execute(sql`
    insert into organization_members (tenant_id, user_id, role_id, role_tenant_id)
    values (${organizationId}::uuid, ${person.userId}::uuid, ${roleIdOf(role)}::uuid, ${SYSTEM_NODE}::uuid)`);
  return person;
}

/** A digest of every table, to be compared with a later one. Waits for the follow-up work of earlier calls first. */
export async function digest(
  app: TestApp,
  /** Leaves out what a refused call of a member writes: its audit entry, and the counters and chains of its node. */
  { butDenials = false } = {},
): Promise<Record<string, string>> {
  await app.app.flushMails();
  const tables = await select<{ name: string }>(
    app,
    sql`select table_name as name from information_schema.tables where table_schema = 'public' order by 1`,
  );
  const digests = tables.map(({ name }) => {
    const rows = butDenials ? (withoutDenials[name] ?? sql.identifier(name)) : sql.identifier(name);
    return sql`select ${name}::text as name,
      count(*)::text || ' ' || coalesce(md5(string_agg(t::text, E'\n' order by t::text)), '') as digest from ${rows} t`;
  });
  const match = await select<{ name: string; digest: string }>(app, sql.join(digests, sql` union all `));
  return Object.fromEntries(match.map(({ name, digest }) => [name, digest]));
}

const withoutDenials: Readonly<Record<string, SQL>> = {
  audit_log: sql`(select * from audit_log where outcome <> 'denied')`,
  nodes: sql`(select to_jsonb(n) - 'audit_sequence' - 'audit_hash' from nodes n)`,
};

async function select<R>(app: TestApp, query: SQL): Promise<R[]> {
  const { rows } = (await app.database.pool.execute(query)) as { rows: R[] };
  return rows;
}
