import { sql } from 'drizzle-orm';
import { preparedRowsOf } from '../db/statements/prepared.ts';
import { email, uuid } from '../kernel/input/values.ts';
import { usersNodeOf, type ResolvedScope } from '../kernel/scope.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { loadSubjects } from './grants/grants.ts';

/*
 * Names that other systems use for the users of a scope: the id here, a verified address, or the `externalId` in the
 * metadata of the membership (authzen §2). A name that several users share identifies none of them.
 */

interface NameReader {
  readonly scope: ResolvedScope;
  /** Runs `work` in the scope, so that PostgreSQL hides rows of other tenants from its statements. */
  readonly read: <T>(work: (tx: Executor) => Promise<T>) => Promise<T>;
}

/** Longer values of `externalId` are not indexed, so they identify no user. */
const MAX_EXTERNAL_ID = 255;
/**
 * If more users than this have the same `externalId`, it is ambiguous, even if other metadata replaces it for all but
 * one of them.
 */
const MAX_CANDIDATES = 20;

/** Returns the ids of users by name. Names that identify no user of the scope are absent. */
export async function usersByName(
  { scope, read }: NameReader,
  names: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const users = new Map<string, string>();
  const addresses = new Map<string, string[]>();
  const externalIds: string[] = [];
  for (const name of new Set(names)) {
    const id = uuid.safeParse(name);
    if (id.success) users.set(name, id.data);
    else if (name.includes('@')) {
      const address = email.safeParse(name);
      if (address.success) addresses.set(address.data, [...(addresses.get(address.data) ?? []), name]);
    } else if (isIndexed(name)) externalIds.push(name);
  }
  if (addresses.size === 0 && externalIds.length === 0) return users;
  await read(async (tx) => {
    for (const [address, userId] of await ownersOf(tx, scope, [...addresses.keys()])) {
      for (const name of addresses.get(address) ?? []) users.set(name, userId);
    }
    for (const [externalId, userId] of await usersWith(tx, scope, externalIds)) users.set(externalId, userId);
  });
  return users;
}

/**
 * Returns a function that gives each user a name by which `usersByName` finds them again: their `externalId` if no
 * other user has it, else the id.
 */
export async function namesOfUsers(
  { scope, read }: NameReader,
  userIds: readonly string[],
): Promise<(userId: string) => string> {
  const subjects = await read((tx) =>
    loadSubjects(
      tx,
      userIds.map((userId) => ({ scope, userId })),
    ),
  );
  const externalIds = new Map<string, string>();
  for (const { user } of subjects) {
    const externalId = user?.metadata['externalId'];
    if (user && typeof externalId === 'string') externalIds.set(user.id, externalId);
  }
  const users = await usersByName({ scope, read }, [...externalIds.values()]);
  return (userId) => {
    const externalId = externalIds.get(userId);
    return externalId !== undefined && users.get(externalId) === userId ? externalId : userId;
  };
}

/**
 * Whether a name can be an indexed `externalId`. PostgreSQL refuses NUL and lone surrogates, so no stored text has
 * them.
 */
const isIndexed = (name: string): boolean =>
  !/[\0\p{Cs}]/u.test(name) && name.length <= 2 * MAX_EXTERNAL_ID && [...name].length <= MAX_EXTERNAL_ID;

interface NamedUser {
  readonly name: string;
  readonly userId: string;
}

/**
 * The members of a scope that determine which users it has. `projectId` is not among them: in a granted scope, the
 * project's users belong to the owner, not to the customer.
 */
type Owners = Pick<ResolvedScope, 'accountId' | 'organizationId'> & Parameters<typeof usersNodeOf>[0];

/** The users of the scope who have these verified addresses. */
async function ownersOf(
  db: Executor,
  scope: Owners,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (addresses.length === 0) return new Map();
  const { accountId, organizationId } = scope;
  const ownAccountId = organizationId === null ? accountId : null;
  const rows = await preparedRowsOf<NamedUser>(
    db,
    sql`
    select u.email as name, u.id as "userId"
    from json_array_elements_text(${JSON.stringify(addresses)}::text::json) as requested(address)
    join users u on u.email = requested.address and u.email_verified and u.deleted_at is null
    where exists (select 1 from project_users p where p.tenant_id = ${usersNodeOf(scope)}::uuid and p.user_id = u.id)
      or exists (select 1 from organization_members m where m.tenant_id = ${organizationId}::uuid and m.user_id = u.id)
      or exists (select 1 from accounts a where a.id = ${ownAccountId}::uuid and a.owner_id = u.id)`,
  );
  return onlyOnes(rows);
}

/**
 * The users of the scope with these values of `externalId`. A project's metadata is merged over that of its owner, so a
 * user may have the value in one of them while another value is in effect.
 */
async function usersWith(
  db: Executor,
  scope: Owners,
  externalIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (externalIds.length === 0) return new Map();
  const { accountId, organizationId } = scope;
  const ownAccountId = organizationId === null ? accountId : null;
  const memberships = [
    ['project_users', usersNodeOf(scope)],
    ['organization_members', organizationId],
    ['account_service_users', ownAccountId],
  ] as const;
  const metadataIn = ([table, tenantId]: (typeof memberships)[number]) =>
    sql`coalesce((select t.metadata from ${sql.identifier(table)} t where t.tenant_id = ${tenantId}::uuid and t.user_id = u.id), '{}'::jsonb)`;
  // Must equal the predicate of the index word for word; otherwise PostgreSQL would not use the index.
  const candidatesIn = ([table, tenantId]: (typeof memberships)[number]) =>
    sql`(select t.user_id from ${sql.identifier(table)} t where t.tenant_id = ${tenantId}::uuid
      and jsonb_typeof(t.metadata -> 'externalId') = 'string' and char_length(t.metadata ->> 'externalId') <= 255
      and (t.metadata ->> 'externalId') = requested.name ${sql.raw(`limit ${MAX_CANDIDATES + 1}`)})`;
  const [ofProject, ofOrganization, ofAccount] = memberships;
  const rows = await preparedRowsOf<NamedUser & { readonly inEffect: boolean; readonly candidates: number }>(
    db,
    sql`
    select requested.name, u.id as "userId", candidate.total::int as candidates,
      coalesce((${metadataIn(ofOrganization)} || ${metadataIn(ofAccount)} || ${metadataIn(ofProject)})
        -> 'externalId' = to_jsonb(requested.name), false) as "inEffect"
    from json_array_elements_text(${JSON.stringify(externalIds)}::text::json) as requested(name)
    cross join lateral (
      select user_id, count(*) over () as total from (
        ${candidatesIn(ofProject)} union ${candidatesIn(ofOrganization)} union ${candidatesIn(ofAccount)}) members) candidate
    join users u on u.id = candidate.user_id and u.deleted_at is null`,
  );
  return onlyOnes(rows.filter(({ inEffect, candidates }) => inEffect && candidates <= MAX_CANDIDATES));
}

/** Drops the names that several users have. */
function onlyOnes(rows: readonly NamedUser[]): ReadonlyMap<string, string> {
  const users = new Map<string, string>();
  const ambiguous = new Set<string>();
  for (const { name, userId } of rows) {
    if (users.has(name)) ambiguous.add(name);
    users.set(name, userId);
  }
  for (const name of ambiguous) users.delete(name);
  return users;
}
