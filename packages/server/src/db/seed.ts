import { sql } from 'drizzle-orm';
import type { Executor } from '../kernel/scoped-db.ts';
import { SYSTEM_NODE } from '../schema/nodes.ts';
import { rowsOf } from './statements/rows.ts';

/** Built-in rows as they are stored; access/built-in.ts declares them. */
interface SeedRows {
  readonly resources: readonly { id: string; slug: string; actions: readonly string[] }[];
  readonly permissions: readonly { id: string; name: string; resourceId: string; action: string }[];
  readonly groups: readonly { id: string; name: string; permissionIds: readonly string[] }[];
  readonly roles: readonly { id: string; name: string; level: string; groupIds: readonly string[] }[];
}

/** Inserts the node of the installation itself. */
export const seedSystemNode = (db: Executor): PromiseLike<unknown> =>
  db.execute(sql`insert into nodes (id, kind) values (${SYSTEM_NODE}, 'system') on conflict do nothing`);

/**
 * Synchronizes the built-in rows with their declarations: inserts new rows, replaces changed sets, and soft-deletes
 * rows that are no longer declared. Runs at every start under the preparation lock. Writes nothing if the rows are up
 * to date.
 */
export async function seedBuiltIns(db: Executor, rows: SeedRows): Promise<void> {
  const fingerprint = JSON.stringify(rows);
  const [stored] = await rowsOf<{ value: string }>(
    db,
    sql`select value from installation where name = 'builtIns'`,
  );
  if (stored?.value === fingerprint) return;
  await db.transaction(async (tx) => {
    const json = (value: unknown) => sql`${JSON.stringify(value)}::json`;
    await seedSystemNode(tx);
    await tx.execute(sql`
      insert into resources (id, tenant_id, name, slug, actions, is_system)
      select id, ${SYSTEM_NODE}::uuid, slug, slug, array(select json_array_elements_text(actions)), true
      from json_to_recordset(${json(rows.resources)}) as r(id uuid, slug text, actions json)
      on conflict (id) do update set actions = excluded.actions, deleted_at = null`);
    await tx.execute(sql`
      insert into permissions (id, tenant_id, name, resource_id, resource_tenant_id, action, is_system)
      select id, ${SYSTEM_NODE}::uuid, name, "resourceId", ${SYSTEM_NODE}::uuid, action, true
      from json_to_recordset(${json(rows.permissions)}) as r(id uuid, name text, "resourceId" uuid, action text)
      on conflict (id) do update set deleted_at = null`);
    await tx.execute(sql`
      insert into groups (id, tenant_id, name, is_system)
      select id, ${SYSTEM_NODE}::uuid, name, true
      from json_to_recordset(${json(rows.groups)}) as r(id uuid, name text)
      on conflict (id) do update set name = excluded.name, deleted_at = null`);
    await tx.execute(sql`
      insert into roles (id, tenant_id, name, level, is_system)
      select id, ${SYSTEM_NODE}::uuid, name, level, true
      from json_to_recordset(${json(rows.roles)}) as r(id uuid, name text, level text)
      on conflict (id) do update set deleted_at = null`);
    for (const [table, list] of [
      ['resources', rows.resources],
      ['permissions', rows.permissions],
      ['groups', rows.groups],
    ] as const) {
      await tx.execute(sql`
        update ${sql.identifier(table)} set deleted_at = now() where is_system and deleted_at is null
          and id not in (select value::uuid from json_array_elements_text(${json(list.map(({ id }) => id))}))`);
    }
    await tx.execute(sql`delete from group_permissions where tenant_id = ${SYSTEM_NODE}`);
    await tx.execute(sql`
      insert into group_permissions (tenant_id, group_id, permission_id, to_tenant_id)
      select ${SYSTEM_NODE}::uuid, id, p.value::uuid, ${SYSTEM_NODE}::uuid
      from json_to_recordset(${json(rows.groups)}) as r(id uuid, "permissionIds" json),
        json_array_elements_text("permissionIds") as p(value)`);
    await tx.execute(sql`delete from role_groups where tenant_id = ${SYSTEM_NODE}`);
    await tx.execute(sql`
      insert into role_groups (tenant_id, role_id, group_id, to_tenant_id)
      select ${SYSTEM_NODE}::uuid, id, g.value::uuid, ${SYSTEM_NODE}::uuid
      from json_to_recordset(${json(rows.roles)}) as r(id uuid, "groupIds" json),
        json_array_elements_text("groupIds") as g(value)`);
    await tx.execute(sql`
      insert into installation (name, value) values ('builtIns', ${fingerprint})
      on conflict (name) do update set value = excluded.value`);
  });
}
