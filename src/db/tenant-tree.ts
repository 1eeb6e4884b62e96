import { sql } from 'drizzle-orm';
import { rowsOf } from './rows.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { nodes } from './nodes.ts';

/** Growing and cutting the tenant tree (model §1, §4). */

export async function createNode(
  tx: Executor,
  node: {
    readonly id: string;
    readonly kind: 'account' | 'organization' | 'project';
    readonly parentId: string | null;
  },
): Promise<void> {
  await tx.insert(nodes).values(node);
}

/** Tables whose rows die with their node. Links need no mark: they are only followed from live rows. */
const owned = [
  'roles',
  'groups',
  'permissions',
  'resources',
  'tags',
  'api_keys',
  'organization_invitations',
] as const;

/**
 * Deletes a node and everything below it, softly: projects, custom rows, keys. Memberships go, since a deleted
 * organization has none. Whatever still refers to a dead node resolves to nothing.
 *
 * @returns the topics of all nodes that are gone, so that no cached right or key outlives them
 */
export async function deleteNode(tx: Executor, nodeId: string): Promise<string[]> {
  const rows = await rowsOf<{ id: string }>(
    tx,
    sql`
    with recursive tree as (
      select id from nodes where id = ${nodeId}::uuid
      union all select n.id from nodes n join tree t on n.parent_id = t.id where n.deleted_at is null)
    update nodes set deleted_at = now() where id in (select id from tree) and deleted_at is null
    returning id`,
  );
  const dead = sql`(${sql.join(
    rows.map(({ id }) => sql`${id}::uuid`),
    sql`, `,
  )})`;
  if (rows.length === 0) return [];
  for (const table of owned) {
    await tx.execute(
      sql`update ${sql.identifier(table)} set deleted_at = now() where tenant_id in ${dead} and deleted_at is null`,
    );
  }
  await tx.execute(sql`update projects set deleted_at = now() where id in ${dead} and deleted_at is null`);
  await tx.execute(
    sql`update organizations set deleted_at = now() where id in ${dead} and deleted_at is null`,
  );
  await tx.execute(sql`delete from organization_members where tenant_id in ${dead}`);
  await tx.execute(sql`delete from project_users where tenant_id in ${dead}`);
  return rows.flatMap(({ id }) => [`node:${id}`, `keys:${id}`]);
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
  const rows = await rowsOf<{ slug: string }>(
    tx,
    sql`
    select slug from ${sql.identifier(table)}
    where deleted_at is null and ${owner} and (slug = ${base} or slug like ${`${base}-%`})`,
  );
  const taken = new Set(rows.map(({ slug }) => slug));
  for (let number = 1; ; number++) {
    const slug = number === 1 ? base : `${base}-${number}`;
    if (!taken.has(slug)) return slug;
  }
}
