import { sql } from 'drizzle-orm';
import { setImmediate as nextTick } from 'node:timers/promises';
import { ACCOUNT_OWNER } from '../../../schema/rights/built-in-ids.ts';
import { anyOf, rowsOf } from '../../../db/statements/rows.ts';
import type { Executor } from '../../../kernel/scoped-db.ts';
import { pick, type AttributeTree } from './attribute-tree.ts';
import type { JsonSize } from './limits.ts';
import type { SnapshotScope } from './snapshot-scope.ts';
import type { UserFilter } from '../../../access/policy-snapshots.ts';

/**
 * The users of a project as decisions see them (`loadSubject` in `access/grants/grants.ts`): its own users, the
 * members of its organization, and the owner and service users of its account. They are read in the order of their
 * ids, a part at a time, so that no statement and no tick of the event loop is long.
 */
export interface RelatedUser {
  readonly id: string;
  /** Only active users hold rights. Inactive users are watched, because they may become active. */
  readonly active: boolean;
  /** The user's roles in the project, its organization and its account; sorted. */
  readonly roleIds: readonly string[];
}

const ROWS = 2000;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** Counts the users of a project, but not beyond `limit`. */
export async function countRelatedUsers(
  tx: Executor,
  { projectId, organizationId, accountId }: SnapshotScope,
  limit: number,
): Promise<number> {
  const [row] = await rowsOf<{ count: number }>(
    tx,
    sql`select count(*)::int as count from (
      select user_id from organization_members m where m.tenant_id = ${organizationId}::uuid
      union select user_id from project_users p where p.tenant_id = ${projectId}::uuid
      union select user_id from account_service_users s where s.tenant_id = ${accountId}::uuid
      union select owner_id from accounts a where a.id = ${accountId}::uuid and a.deleted_at is null
      limit ${limit}) related`,
  );
  return row?.count ?? 0;
}

interface UserRow {
  readonly id: string;
  readonly active: boolean;
  readonly ownsAccount: boolean;
  readonly memberRoleId: string | null;
  readonly projectRoleIds: readonly string[];
}

export async function readRelatedUsers(
  tx: Executor,
  scope: SnapshotScope,
  filter: UserFilter,
): Promise<RelatedUser[]> {
  if (filter === 'none') return [];
  const users: RelatedUser[] = [];
  for (let after = FIRST_ID; ;) {
    const rows = await readPart(tx, scope, filter, after);
    users.push(...rows.map(relatedUser));
    const last = rows.at(-1);
    if (!last || rows.length < ROWS) return users;
    after = last.id;
    await nextTick();
  }
}

const relatedUser = ({ id, active, ownsAccount, memberRoleId, projectRoleIds }: UserRow): RelatedUser => {
  const roleIds = [
    ...(ownsAccount ? [ACCOUNT_OWNER] : []),
    ...(memberRoleId ? [memberRoleId] : []),
    ...projectRoleIds,
  ];
  return { id, active, roleIds: [...new Set(roleIds)].sort() };
};

/** Reads the next users after an id. Each branch of the union is limited like the whole result. */
function readPart(
  tx: Executor,
  { projectId, organizationId, accountId }: SnapshotScope,
  filter: UserFilter,
  after: string,
): Promise<UserRow[]> {
  const isListed = filter === 'all' ? sql`true` : sql`user_id = ${anyOf([...filter])}`;
  return rowsOf<UserRow>(
    tx,
    sql`
    with related as (
      (select user_id from organization_members where tenant_id = ${organizationId}::uuid
        and user_id > ${after}::uuid and ${isListed} order by user_id limit ${ROWS})
      union (select user_id from project_users where tenant_id = ${projectId}::uuid
        and user_id > ${after}::uuid and ${isListed} order by user_id limit ${ROWS})
      union (select user_id from account_service_users where tenant_id = ${accountId}::uuid
        and user_id > ${after}::uuid and ${isListed} order by user_id limit ${ROWS})
      union (select user_id from (select owner_id as user_id from accounts
          where id = ${accountId}::uuid and deleted_at is null) owner
        where user_id > ${after}::uuid and ${isListed})
      order by user_id limit ${ROWS})
    select u.id, u.status = 'active' and u.deleted_at is null as active,
      exists (select 1 from accounts a where a.id = ${accountId}::uuid and a.owner_id = u.id and a.deleted_at is null)
        as "ownsAccount",
      coalesce(
        (select m.role_id from organization_members m where m.tenant_id = ${organizationId}::uuid and m.user_id = u.id),
        (select s.role_id from account_service_users s where s.tenant_id = ${accountId}::uuid and s.user_id = u.id))
        as "memberRoleId",
      (select coalesce(json_agg(r.role_id), '[]'::json) from project_user_roles r
        where r.tenant_id = ${projectId}::uuid and r.user_id = u.id) as "projectRoleIds"
    from related join users u on u.id = related.user_id order by u.id`,
  );
}

interface AttributeRow {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly emailVerified: boolean;
  readonly metadata: Record<string, unknown> | null;
}

/**
 * The attributes of these users that conditions read, by id; users who are not in the project have no metadata there.
 */
export async function readAttributes(
  tx: Executor,
  scope: SnapshotScope,
  ids: readonly string[],
  tree: AttributeTree,
  size: JsonSize,
): Promise<ReadonlyMap<string, Record<string, unknown>>> {
  const attributes = new Map<string, Record<string, unknown>>();
  for (let start = 0; start < ids.length; start += ROWS) {
    for (const { id, ...values } of await readValues(tx, scope, ids.slice(start, start + ROWS), tree)) {
      const picked = pick(tree, { ...values, metadata: values.metadata ?? {} });
      if (Object.keys(picked).length === 0) continue;
      size.add(JSON.stringify(picked));
      attributes.set(id, picked);
    }
    await nextTick();
  }
  return attributes;
}

/**
 * Reads attributes of users. Of their metadata, it reads only the members that conditions read: there may be much
 * more.
 */
function readValues(
  tx: Executor,
  { projectId, organizationId, accountId }: SnapshotScope,
  ids: readonly string[],
  tree: AttributeTree,
): Promise<AttributeRow[]> {
  const read = tree.get('metadata');
  // Quoted, because a bare `null` in an array literal is not text.
  const members = read === undefined || read === true ? [] : [...read.keys()].map((name) => `"${name}"`);
  const isRead = read === true ? sql`true` : sql`member.key = any(${`{${members.join()}}`}::text[])`;
  const objectOf = (alias: string) =>
    sql.raw(
      `case when jsonb_typeof(${alias}.metadata) = 'object' then ${alias}.metadata else '{}'::jsonb end`,
    );
  return rowsOf<AttributeRow>(
    tx,
    sql`
    select u.id, u.name, u.email, u.email_verified as "emailVerified",
      (select jsonb_object_agg(member.key, member.value)
        from jsonb_each(${objectOf('m')} || ${objectOf('s')} || ${objectOf('p')}) member where ${isRead}) as metadata
    from users u
    left join organization_members m on m.tenant_id = ${organizationId}::uuid and m.user_id = u.id
    left join account_service_users s on s.tenant_id = ${accountId}::uuid and s.user_id = u.id
    left join project_users p on p.tenant_id = ${projectId}::uuid and p.user_id = u.id
    where u.id = ${anyOf(ids)} order by u.id`,
  );
}
