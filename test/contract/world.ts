import { sql, type SQL } from 'drizzle-orm';
import { randomUUID } from 'node:crypto';
import { resourceIdOf, roleIdOf, type RoleName } from '../../src/access/built-in.ts';
import { SYSTEM_NODE } from '../../src/db/nodes.ts';
import { pascalTenant, tenants, type ScopeRef, type Tenant } from '../../src/kernel/scope.ts';
import { operations } from '../../src/operations.ts';
import type { TestApp } from '../support/app.ts';
import type { Person } from '../support/client.ts';
import { nounOf, sampleInput } from './sample.ts';

export { nounOf };

/**
 * Two households that have one of everything, so that each is foreign to the other: every tenant kind, a live and a
 * deleted row of every noun that can be created there, and a deleted scope of every kind.
 */
export interface Rows {
  readonly live: string[];
  readonly deleted: string[];
}

export interface Place {
  readonly scope: ScopeRef;
  readonly rows: Record<string, Rows>;
}

export interface House {
  readonly person: Person;
  readonly places: Readonly<Record<Tenant, Place>>;
  /** Scopes that the person owned until he deleted them. */
  readonly deleted: Readonly<Record<Tenant, ScopeRef>>;
  /** Token of an API key of the account project. */
  readonly keyToken: string;
}

const byName = new Map(operations.map((op) => [op.name, op]));
/** Rows that other rows point at come first. */
const order = ['Tag', 'Resource', 'Permission', 'Group', 'Role'];
const rank = (noun: string) => (order.indexOf(noun) + order.length + 1) % (order.length + 1);
const creates = operations
  .filter(({ access, status }) => status === 201 && access.endsWith(':Create'))
  .sort((a, b) => rank(nounOf(a)) - rank(nounOf(b)));

export const joined = (tenant: Tenant, ...ids: string[]): ScopeRef => ({ tenant, id: ids.join(':') });

/** Ids that a scope of this kind needs, none of which ever existed. */
export const nowhere = (tenant: Tenant): ScopeRef =>
  tenant === 'account' || tenant === 'organization'
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
  // An account ends with its user only, so this one is made as it is left behind.
  await app.database.pool.execute(
    sql`insert into nodes (id, kind, deleted_at) values (${dead.account}::uuid, 'account', now())`,
  );

  const scopes: Record<Tenant, ScopeRef> = {
    account: person.account,
    organization: organizationScope,
    accountProject: joined('accountProject', accountId, inAccount),
    organizationProject: joined('organizationProject', organizationId, inOrganization),
    projectUser: joined('projectUser', inAccount, userId),
  };
  const places = Object.fromEntries(
    await Promise.all(
      tenants.map(async (tenant) => [
        tenant,
        { scope: scopes[tenant], rows: await rowsOf(app, token, scopes[tenant]) },
      ]),
    ),
  ) as Record<Tenant, Place>;
  const rows = (live: string[], deleted: string[]): Rows => ({ live, deleted });
  places.account.rows['Organization'] = rows([organizationId], [dead.organization]);
  places.organization.rows['Organization'] = rows([organizationId], [dead.organization]);
  places.account.rows['Project'] = rows([inAccount], [dead.inAccount]);
  places.accountProject.rows['Project'] = rows([inAccount], [dead.inAccount]);
  places.organization.rows['Project'] = rows([inOrganization], [dead.inOrganization]);
  places.organizationProject.rows['Project'] = rows([inOrganization], [dead.inOrganization]);
  // A member is a user, and his id is the user's.
  places.organization.rows['Member'] = places.organization.rows['User'] ?? rows([], []);
  // A project shows the keys of its users too.
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
    },
    keyToken: await keyToken(app, token, scopes.accountProject),
  };
}

/** One row of each noun that stays, and one that is deleted, as far as this kind of scope can have them. */
async function rowsOf(app: TestApp, token: string, scope: ScopeRef): Promise<Record<string, Rows>> {
  const rows: Record<string, Rows> = {};
  for (const create of creates) {
    const noun = nounOf(create);
    if (noun === 'Project' || noun === 'Organization' || !create.tenants?.includes(scope.tenant as Tenant))
      continue;
    const make = async () => {
      const answer = await app.raw(create.name, sampleInput(create, scope, knownIn(rows)), { token });
      if (!answer.ok) throw new Error(`${create.name} in ${scope.tenant}: ${answer.body}`);
      return (answer.data as { id: string }).id;
    };
    const live = await make();
    const gone = await make();
    // What can only be revoked is still there afterwards.
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

/** A permission is on a resource: the project's own, or a built-in one where there are no others. */
function knownIn(rows: Record<string, Rows>): Record<string, unknown> {
  const own = rows['Resource']?.live[0];
  const resource = own
    ? { resourceId: own, action: 'query' }
    : { resourceId: resourceIdOf('Role'), action: 'Query' };
  return { ...resource, roleId: rows['Role']?.live[0] };
}

/** Creates a key, with a role if one is named, and exchanges it. */
export async function keyToken(
  app: TestApp,
  token: string,
  scope: ScopeRef,
  roleId?: string,
): Promise<string> {
  const key = await app.must('createApiKey', { scope, ...(roleId ? { roleId } : {}) }, { token });
  const exchanged = await app.must('exchangeApiKey', {
    clientId: key.clientId,
    clientSecret: key.clientSecret ?? '',
    scope: { tenant: pascalTenant(scope.tenant as Tenant), id: scope.id },
  });
  return exchanged.accessToken;
}

/** Somebody who joined an organization with a built-in role. */
export async function member(app: TestApp, organizationId: string, role: RoleName): Promise<Person> {
  const person = await app.person();
  await app.database.pool.execute(sql`
    insert into organization_members (tenant_id, user_id, role_id, role_tenant_id)
    values (${organizationId}::uuid, ${person.userId}::uuid, ${roleIdOf(role)}::uuid, ${SYSTEM_NODE}::uuid)`);
  return person;
}

/** A digest of every table, to be compared with a later one; what follows from earlier calls has happened before. */
export async function digest(
  app: TestApp,
  /** Leaves out what a member's refused call writes: its audit entry, and what its node counts and chains. */
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
  const found = await select<{ name: string; digest: string }>(app, sql.join(digests, sql` union all `));
  return Object.fromEntries(found.map(({ name, digest }) => [name, digest]));
}

const withoutDenials: Readonly<Record<string, SQL>> = {
  audit_log: sql`(select * from audit_log where outcome <> 'denied')`,
  nodes: sql`(select to_jsonb(n) - 'audit_sequence' - 'audit_hash' from nodes n)`,
};

async function select<R>(app: TestApp, query: SQL): Promise<R[]> {
  const { rows } = (await app.database.pool.execute(query)) as { rows: R[] };
  return rows;
}
