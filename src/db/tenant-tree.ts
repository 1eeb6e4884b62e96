import { and, eq, isNull, sql, type SQL } from 'drizzle-orm';
import { unknownScope } from '../kernel/scope.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { nodes } from './nodes.ts';
import { idList, rowsOf } from './rows.ts';
import { withoutRls, addToReach } from './rls.ts';

/**
 * Growing and cutting the tenant tree (model §1, §4).
 *
 * Neither leaves a live row in a dead node, whatever runs beside it. A child is made under a share of its parent's
 * key, which the deletion of the parent waits for and which is refused once the parent is gone. Rows of a node are
 * settled at the end of the mutation that makes them, by the lock of the node (events/record.ts).
 */

/** @throws FORBIDDEN, as for a scope that never existed, when the parent was deleted meanwhile */
export async function createNode(
  tx: Executor,
  node: {
    readonly id: string;
    readonly kind: 'account' | 'organization' | 'project';
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
    .returning({ reach: addToReach(node.id) });
}

/** Tables whose rows are marked as deleted together with their node. */
export const marked = [
  'roles',
  'groups',
  'permissions',
  'resources',
  'tags',
  'api_keys',
  'organization_invitations',
  'webhook_subscriptions',
  'project_apps',
] as const;

/** Tables whose rows are the node itself, under its id. */
export const nodeTables = ['accounts', 'organizations', 'projects'] as const;

/** Tables whose rows are gone at once: a deleted node has no members. */
export const emptied = ['organization_members', 'project_users'] as const;

/** The other tables with rows of a node, and why nothing lives on in them. */
export const untouched: Readonly<Record<string, string>> = {
  audit_log: 'is only ever added to',
  events: 'read in the scope of the node, which no longer resolves',
  signing_keys: 'published and used for live projects only',
  project_user_roles: 'go with project_users',
  role_groups: 'links are followed from live rows only',
  role_tags: 'links are followed from live rows only',
  group_permissions: 'links are followed from live rows only',
  group_tags: 'links are followed from live rows only',
  permission_tags: 'links are followed from live rows only',
  resource_tags: 'links are followed from live rows only',
  project_app_tags: 'links are followed from live rows only',
  project_tags: 'links are followed in the scope that made them, which no longer resolves',
  organization_tags: 'links are followed in the scope that made them, which no longer resolves',
  webhook_secrets: 'read for live subscriptions only',
  webhook_deliveries: 'sent for live subscriptions only',
  webhook_attempts: 'go with webhook_deliveries',
  user_tags: 'links are followed in the scope that made them, which no longer resolves',
};

/**
 * Deletes a node and everything below it, softly: projects, custom rows, keys, invitations. Memberships go, and
 * sessions with their apps, and with them managed users of these nodes who belong nowhere else. Of an account,
 * organizations stay that somebody else belongs to: membership, not ownership, is what they live by.
 *
 * @returns the topics of all that is gone, so that no cached right or key outlives it
 */
export const deleteNode = async (tx: Executor, nodeId: string): Promise<string[]> =>
  (await deleteNodes(tx, [nodeId])).topics;

/** What went with a deletion. */
interface Felled {
  readonly ids: ReadonlySet<string>;
  readonly topics: string[];
}

/**
 * Several at once, whose locks are taken together. `unlessShared` are organizations that go only if nobody belongs to
 * them but the owners of the accounts that go; whether somebody does is decided under the lock that a new member needs.
 */
export const deleteNodes = (
  tx: Executor,
  rootIds: readonly string[],
  unlessShared: readonly string[] = [],
): Promise<Felled> => withoutRls(tx, () => fell(tx, { rootIds, unlessShared }));

async function fell(tx: Executor, felling: Felling): Promise<Felled> {
  await lockRows(tx, felling);
  const rows = await rowsOf<{ id: string }>(
    tx,
    sql`update nodes set deleted_at = now() where deleted_at is null and id in ${idList(await subtree(tx, felling))}
      returning id`,
  );
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return { ids: new Set(), topics: [] };
  const dead = idList(ids);
  const mark = (table: string, column: 'id' | 'tenant_id') =>
    tx.execute(
      sql`update ${sql.identifier(table)} set deleted_at = now()
        where ${sql.identifier(column)} in ${dead} and deleted_at is null`,
    );
  for (const table of marked) await mark(table, 'tenant_id');
  for (const table of nodeTables) await mark(table, 'id');
  // Nobody may use what was mailed for an invitation that is gone, also not a reader that forgets to look.
  await tx.execute(sql`delete from organization_invitation_tokens where invitation_id in (
    select id from organization_invitations where tenant_id in ${dead})`);
  for (const table of emptied) {
    await tx.execute(sql`delete from ${sql.identifier(table)} where tenant_id in ${dead}`);
  }
  await tx.execute(sql`update sessions set ended_at = now() where ended_at is null and ${ofAppsIn(dead)}`);
  const stranded = await rowsOf<{ id: string }>(
    tx,
    sql`update users u set deleted_at = now(), updated_at = now()
      where is_managed and deleted_at is null and managed_by in ${dead}
        and not exists (select 1 from organization_members m where m.user_id = u.id)
        and not exists (select 1 from project_users p where p.user_id = u.id)
      returning id`,
  );
  const topics = [
    ...ids.flatMap((id) => [`node:${id}`, `keys:${id}`]),
    ...stranded.map(({ id }) => `user:${id}`),
  ];
  return { ids: new Set(ids), topics };
}

/** Sessions that users have with apps of these nodes. */
const ofAppsIn = (ids: SQL): SQL =>
  sql`project_app_id in (select id from project_apps where tenant_id in ${ids})`;

interface Felling {
  readonly rootIds: readonly string[];
  readonly unlessShared: readonly string[];
}

/** Nobody belongs to the node `n` but owners of accounts that go. Only organizations have members. */
const isUnshared = ({ rootIds }: Felling): SQL => sql`not exists (
  select 1 from organization_members m join users u on u.id = m.user_id and u.deleted_at is null
  where m.tenant_id = n.id
    and m.user_id not in (select owner_id from accounts where id in ${idList(rootIds)}))`;

/**
 * Waits for whoever is changing a row of what goes, and makes others wait. Every mutation locks its rows first and its
 * node last; a deletion that held the node already would run into a deadlock with each of them.
 */
async function lockRows(tx: Executor, felling: Felling): Promise<void> {
  const { rootIds, unlessShared } = felling;
  const tree = await rowsOf<{ id: string }>(
    tx,
    sql`with recursive tree as (
      select n.id from nodes n where n.id in ${idList(rootIds)}
        or (n.id in ${idList(unlessShared)} and ${isUnshared(felling)})
      union select n.id from nodes n join tree t on n.parent_id = t.id
        where n.deleted_at is null and ${isUnshared(felling)})
      select id from tree`,
  );
  const ids = idList(tree.map(({ id }) => id));
  const lock = (table: string, column: 'id' | 'tenant_id') =>
    tx.execute(
      sql`select count(*) from (select 1 from ${sql.identifier(table)}
        where ${sql.identifier(column)} in ${ids} for update) locked`,
    );
  for (const table of nodeTables) await lock(table, 'id');
  for (const table of [...emptied, ...marked]) await lock(table, 'tenant_id');
  await tx.execute(
    sql`select count(*) from (select 1 from sessions where ${ofAppsIn(ids)} for update) locked`,
  );
}

/**
 * The nodes that go, from the top. Parents are locked against new children before their children are looked up, each
 * in a statement of its own, which sees what the lock waited for. Projects have no children, and are left unlocked so
 * that a busy one does not hold up its own deletion.
 */
async function subtree(tx: Executor, felling: Felling): Promise<string[]> {
  const { rootIds, unlessShared } = felling;
  await lockNodes(tx, [...rootIds, ...unlessShared]);
  let level = [...rootIds, ...(await unshared(tx, unlessShared, felling))];
  const found = new Set<string>();
  while (level.length > 0) {
    for (const id of level) found.add(id);
    const children = await rowsOf<{ id: string }>(
      tx,
      sql`select id from nodes where parent_id in ${idList(level)} and deleted_at is null`,
    );
    const below = children.map(({ id }) => id).filter((id) => !found.has(id));
    await lockNodes(tx, below);
    level = await unshared(tx, below, felling);
  }
  return [...found];
}

/** In a fixed order, so that two deletions cannot deadlock. */
const lockNodes = (tx: Executor, ids: readonly string[]): PromiseLike<unknown> =>
  tx.execute(
    sql`select 1 from nodes where id in ${idList(ids)} and kind <> 'project' order by id for update`,
  );

/**
 * Lets what was deleted with these nodes, or below them before, be purged from this moment on and not after its
 * retention: their rows, and managed users who went with them.
 */
export async function purgeFrom(tx: Executor, nodeIds: Iterable<string>, at: Date): Promise<void> {
  const moment = sql`${at.toISOString()}::timestamptz`;
  const rows = await rowsOf<{ id: string }>(
    tx,
    sql`with recursive tree as (
      select n.id from nodes n where n.id in ${idList([...nodeIds])} and n.deleted_at is not null
      union select n.id from nodes n join tree t on n.parent_id = t.id where n.deleted_at is not null)
      update nodes set purge_at = ${moment} where id in (select id from tree) returning id`,
  );
  await tx.execute(sql`update users set purge_at = ${moment}
    where deleted_at is not null and managed_by in ${idList(rows.map(({ id }) => id))}`);
}

async function unshared(tx: Executor, ids: readonly string[], felling: Felling): Promise<string[]> {
  const rows = await rowsOf<{ id: string }>(
    tx,
    sql`select n.id from nodes n where n.id in ${idList(ids)} and ${isUnshared(felling)}`,
  );
  return rows.map(({ id }) => id);
}

/**
 * A slug from a name: `Acme GmbH` → `acme-gmbh`, with the lowest free number behind it where it is taken among
 * live rows. Two that race for the same one are decided by the unique index.
 */
export async function freeSlug(
  tx: Executor,
  table: 'organizations' | 'projects',
  name: string,
  ownerId: string | null,
): Promise<string> {
  const base =
    name
      .normalize('NFKD')
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 55)
      .replace(/-+$/, '') || table.slice(0, -1);
  const owner = ownerId === null ? sql`true` : sql`owner_id = ${ownerId}::uuid`;
  // Of an organization it is taken or free in the whole installation.
  const rows = await withoutRls(tx, () =>
    rowsOf<{ slug: string }>(
      tx,
      sql`
      select slug from ${sql.identifier(table)}
      where deleted_at is null and ${owner} and (slug = ${base} or slug like ${`${base}-%`})`,
    ),
  );
  const taken = new Set(rows.map(({ slug }) => slug));
  for (let number = 1; ; number++) {
    const slug = number === 1 ? base : `${base}-${number}`;
    if (!taken.has(slug)) return slug;
  }
}
