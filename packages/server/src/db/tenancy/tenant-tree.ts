/*
 * Creates and deletes nodes of the tenant tree (model §1, §4).
 *
 * Neither leaves a live row in a deleted node, even under concurrency. `createNode` takes a key-share lock on the
 * parent: a deletion waits for this lock (except on projects, see `findSubtree`), and the lock fails once the parent is
 * deleted. For other rows the recorder locks the node at the end of the mutation and checks that it is live
 * (events/record.ts).
 */

import { and, eq, isNull, sql, type SQL } from 'drizzle-orm';
import { unknownScope } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { nodes } from '../../schema/nodes.ts';
import { anyOf, rowsOf } from '../statements/rows.ts';
import { withoutRls, addToSessionTenants } from './rls.ts';

/**
 * Inserts a node under a live parent.
 *
 * @throws FORBIDDEN if the parent was deleted concurrently, as for an unknown scope
 */
export async function createNode(
  tx: Executor,
  node: {
    readonly id: string;
    readonly kind: 'account' | 'organization' | 'project' | 'grant';
    readonly parentId: string | null;
  },
): Promise<void> {
  if (node.parentId !== null) {
    const parent = await tx
      .select({ id: nodes.id })
      .from(nodes)
      .where(and(eq(nodes.id, node.parentId), isNull(nodes.deletedAt)))
      .for('key share');
    if (parent.length === 0) throw unknownScope();
  }
  await tx
    .insert(nodes)
    .values(node)
    .returning({ reach: addToSessionTenants(node.id) });
}

/** Tables whose rows are soft-deleted together with their node. */
export const softDeletedTables = [
  'roles',
  'groups',
  'permissions',
  'resources',
  'tags',
  'api_keys',
  'organization_invitations',
  'organization_domains',
  'organization_connections',
  'webhook_subscriptions',
  'project_apps',
  'project_grants',
] as const;

/** Tables with the account, organization or project of a node, whose rows have the node's id. */
export const nodeTables = ['accounts', 'organizations', 'projects'] as const;

/** Tables whose rows are removed immediately, because a deleted node has no members. */
export const membershipTables = ['organization_members', 'account_service_users', 'project_users'] as const;

/** The other tables with rows of a node, and why their rows have no effect after the node is deleted. */
export const retainedTables: Readonly<Record<string, string>> = {
  audit_log: 'append-only',
  events: 'read in the scope of the node, which does not resolve',
  logos: 'served for live nodes only',
  signing_keys: 'published and used for live projects only',
  project_grant_roles: 'go with project_grants, or stay to show what a revoked grant gave',
  project_user_roles: 'go with project_users',
  role_groups: 'links are followed from live rows only',
  role_tags: 'links are followed from live rows only',
  group_permissions: 'links are followed from live rows only',
  group_tags: 'links are followed from live rows only',
  permission_tags: 'links are followed from live rows only',
  resource_tags: 'links are followed from live rows only',
  policy_versions: 'read and applied in the scope of the project, which does not resolve',
  policy_documents: 'read and applied in the scope of the project, which does not resolve',
  project_app_tags: 'links are followed from live rows only',
  project_tags: 'links are followed in the scope that created them, which does not resolve',
  organization_tags: 'links are followed in the scope that created them, which does not resolve',
  webhook_secrets: 'read for live subscriptions only',
  webhook_deliveries: 'sent for live subscriptions only',
  webhook_attempts: 'go with webhook_deliveries',
  user_tags: 'links are followed in the scope that created them, which does not resolve',
};

/**
 * Soft-deletes a node and everything below it: projects, custom rows, keys, invitations. Removes its memberships, ends
 * sessions with its apps, and soft-deletes managed users of these nodes who have no other membership. Deleting an
 * account keeps organizations that have other members.
 */
export const deleteNode = (tx: Executor, nodeId: string): Promise<DeletedSubtree> =>
  deleteNodes(tx, [nodeId]);

export interface DeletedSubtree {
  /** The deleted nodes. */
  readonly ids: ReadonlySet<string>;
  /** Topics to invalidate, so that no cached permission or key outlives the deletion. */
  readonly topics: string[];
  /** The project grants that ended with the deletion, with the status that they had before. */
  readonly endedGrants: ReadonlyMap<string, string>;
}

/**
 * Deletes several subtrees and takes their locks together. Organizations in `unlessShared` are deleted only if all
 * their members are owners of the deleted accounts. The check runs under the lock that adding a member needs.
 */
export const deleteNodes = (
  tx: Executor,
  rootIds: readonly string[],
  unlessShared: readonly string[] = [],
): Promise<DeletedSubtree> => withoutRls(tx, () => deleteSubtree(tx, { rootIds, unlessShared }));

async function deleteSubtree(tx: Executor, deletion: SubtreeDeletion): Promise<DeletedSubtree> {
  await lockRows(tx, deletion);
  const rows = await rowsOf<{ id: string }>(
    tx,
    sql`update nodes set deleted_at = now() where deleted_at is null and id = ${anyOf(await findSubtree(tx, deletion, lockNodes))}
      returning id`,
  );
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return { ids: new Set(), topics: [], endedGrants: new Map() };
  const deletedIds = anyOf(ids);
  const mark = (table: string, column: 'id' | 'tenant_id') =>
    tx.execute(
      sql`update ${sql.identifier(table)} set deleted_at = now()
        where ${sql.identifier(column)} = ${deletedIds} and deleted_at is null`,
    );
  for (const table of softDeletedTables) await mark(table, 'tenant_id');
  for (const table of nodeTables) await mark(table, 'id');
  // A mailed token must not work after the deletion, even in code that does not check the invitation.
  await tx.execute(sql`delete from organization_invitation_tokens where invitation_id in (
    select id from organization_invitations where tenant_id = ${deletedIds})`);
  await tx.execute(sql`delete from project_grant_tokens where grant_id in (
    select id from project_grants where tenant_id = ${deletedIds})`);
  // Revokes the live grants whose slice is deleted, because its project or its customer is.
  const ended = await rowsOf<{ id: string; status: string }>(
    tx,
    sql`update project_grants g set status = 'revoked', revoked_by = 'system', revoked_at = now(), updated_at = now()
      from (select id, status from project_grants where id = ${deletedIds} and status in ('active', 'suspended')) former
      where g.id = former.id returning g.id, former.status`,
  );
  for (const table of membershipTables) {
    await tx.execute(sql`delete from ${sql.identifier(table)} where tenant_id = ${deletedIds}`);
  }
  await tx.execute(
    sql`update sessions set ended_at = now() where ended_at is null and ${ofAppsIn(deletedIds)}`,
  );
  const deletedUsers = await rowsOf<{ id: string }>(
    tx,
    sql`update users u set deleted_at = now(), updated_at = now()
      where is_managed and deleted_at is null and managed_by = ${deletedIds}
        and not exists (select 1 from organization_members m where m.user_id = u.id)
        and not exists (select 1 from project_users p where p.user_id = u.id)
      returning id`,
  );
  const topics = [
    ...ids.flatMap((id) => [`node:${id}`, `keys:${id}`]),
    ...deletedUsers.map(({ id }) => `user:${id}`),
  ];
  return { ids: new Set(ids), topics, endedGrants: new Map(ended.map(({ id, status }) => [id, status])) };
}

/** SQL condition: the session is with an app of these nodes. */
const ofAppsIn = (ids: SQL): SQL =>
  sql`project_app_id in (select id from project_apps where tenant_id = ${ids})`;

/**
 * SQL for the nodes that are deleted together with these: nodes below them, and the slices of a deleted customer, which
 * are below other owners' projects.
 */
const endingWith = (ids: SQL): SQL => sql`(select below.id from nodes below where below.parent_id = ${ids}
  union all select g.id from project_grants g where g.organization_id = ${ids})`;

interface SubtreeDeletion {
  readonly rootIds: readonly string[];
  readonly unlessShared: readonly string[];
}

/**
 * SQL condition: all people who are members of node `n` own accounts that are being deleted. Only organizations have
 * such members. Service users do not count, because none of them can sign in.
 */
const isUnshared = ({ rootIds }: SubtreeDeletion): SQL => sql`not exists (
  select 1 from organization_members m
  join users u on u.id = m.user_id and u.deleted_at is null and u.kind = 'person'
  where m.tenant_id = n.id
    and m.user_id not in (select owner_id from accounts where id = ${anyOf(rootIds)}))`;

/**
 * Locks the rows of the subtree before its nodes. Every mutation locks its rows first and its node last, so the
 * opposite order would cause deadlocks.
 */
async function lockRows(tx: Executor, deletion: SubtreeDeletion): Promise<void> {
  const ids = anyOf(await findSubtree(tx, deletion));
  const lock = (table: string, column: 'id' | 'tenant_id') =>
    tx.execute(
      sql`select count(*) from (select 1 from ${sql.identifier(table)}
        where ${sql.identifier(column)} = ${ids} for update) locked`,
    );
  for (const table of nodeTables) await lock(table, 'id');
  for (const table of [...membershipTables, ...softDeletedTables]) await lock(table, 'tenant_id');
  // For a deleted customer: its grants of other owners' projects, which have the ids of the slices.
  await lock('project_grants', 'id');
  await tx.execute(
    sql`select count(*) from (select 1 from sessions where ${ofAppsIn(ids)} for update) locked`,
  );
}

/**
 * Finds the nodes to delete, level by level. With `lock`, each level is locked against new children before the next
 * statement reads the children, so that it sees children whose commit the lock waited for. Projects, which have only
 * slices below them, stay unlocked, so that a busy project does not delay its deletion.
 */
async function findSubtree(
  tx: Executor,
  deletion: SubtreeDeletion,
  lock: (tx: Executor, ids: readonly string[]) => PromiseLike<unknown> = async () => undefined,
): Promise<string[]> {
  const { rootIds, unlessShared } = deletion;
  await lock(tx, [...rootIds, ...unlessShared]);
  let level = [...rootIds, ...(await filterUnshared(tx, unlessShared, deletion))];
  const ids = new Set<string>();
  while (level.length > 0) {
    for (const id of level) ids.add(id);
    const children = await rowsOf<{ id: string }>(
      tx,
      sql`select id from nodes where id in ${endingWith(anyOf(level))} and deleted_at is null`,
    );
    const below = children.map(({ id }) => id).filter((id) => !ids.has(id));
    await lock(tx, below);
    level = await filterUnshared(tx, below, deletion);
  }
  return [...ids];
}

/** Locks nodes in the order of their ids, so that two deletions cannot deadlock. */
const lockNodes = (tx: Executor, ids: readonly string[]): PromiseLike<unknown> =>
  tx.execute(sql`select 1 from nodes where id = ${anyOf(ids)} and kind <> 'project' order by id for update`);

/**
 * Allows the purge of these deleted nodes, of deleted nodes below them, and of their deleted managed users from `at`
 * on, before their retention ends.
 */
export async function purgeFrom(tx: Executor, nodeIds: Iterable<string>, at: Date): Promise<void> {
  const moment = sql`${at.toISOString()}::timestamptz`;
  const rows = await rowsOf<{ id: string }>(
    tx,
    sql`with recursive tree as (
      select n.id from nodes n where n.id = ${anyOf([...nodeIds])} and n.deleted_at is not null
      union select n.id from nodes n join tree t on n.parent_id = t.id where n.deleted_at is not null)
      update nodes set purge_at = ${moment} where id in (select id from tree) returning id`,
  );
  await tx.execute(sql`update users set purge_at = ${moment}
    where deleted_at is not null and managed_by = ${anyOf(rows.map(({ id }) => id))}`);
}

async function filterUnshared(
  tx: Executor,
  ids: readonly string[],
  deletion: SubtreeDeletion,
): Promise<string[]> {
  const rows = await rowsOf<{ id: string }>(
    tx,
    sql`select n.id from nodes n where n.id = ${anyOf(ids)} and ${isUnshared(deletion)}`,
  );
  return rows.map(({ id }) => id);
}
