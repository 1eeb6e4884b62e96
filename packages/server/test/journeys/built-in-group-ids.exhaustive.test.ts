import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { v5 } from 'uuid';
import { expect, test } from 'vitest';
import { builtIns } from '../../src/access/built-in.ts';
import { groupIdOf } from '../../src/schema/rights/built-in-ids.ts';
import { openEmbedded } from '../../src/db/connection/open.ts';
import { rowsOf } from '../../src/db/statements/rows.ts';
import { seedBuiltIns } from '../../src/db/seed.ts';
import { declaredPermissions, operations } from '../../src/operations.ts';

/** Before migration 0027 the id of a built-in group was derived from its list of actions. */
const formerId = (name: string): string => v5(`doorward:group:${name}`, v5.URL);
const migrations = join(import.meta.dirname, '../../migrations');
const RENAMING = '0027_built_in_group_ids.sql';

test('roles of tenants keep their built-in groups when these get new ids', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'doorward-groups-'));
  const database = await openEmbedded(directory);
  const db = database.pool;
  try {
    const apply = async (file: string) => {
      for (const statement of readFileSync(join(migrations, file), 'utf8').split('--> statement-breakpoint'))
        await db.execute(sql.raw(statement));
    };
    const files = readdirSync(migrations).filter((file) => file.endsWith('.sql'));
    for (const file of files.filter((name) => name < RENAMING)) await apply(file);
    const rows = builtIns(declaredPermissions(operations));
    const former = new Map(rows.groups.map(({ id, name }) => [id, formerId(name)]));
    const formerOf = (id: string) => former.get(id) ?? '';
    await seedBuiltIns(db, {
      ...rows,
      groups: rows.groups.map((group) => ({ ...group, id: formerOf(group.id) })),
      roles: rows.roles.map((role) => ({ ...role, groupIds: role.groupIds.map(formerOf) })),
    });
    const [tenant, role] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'];
    await db.execute(sql`insert into nodes (id, kind) values (${tenant}, 'organization')`);
    await db.execute(sql`
      insert into roles (id, tenant_id, name, level) values (${role}, ${tenant}, 'Reader', 'organization')`);
    await db.execute(sql`
      insert into role_groups (tenant_id, role_id, group_id, to_tenant_id)
      values (${tenant}, ${role}, ${formerId('Role: Query')}, '00000000-0000-0000-0000-000000000000')`);
    const held = () =>
      rowsOf<{ id: string; permission: string }>(
        db,
        sql`
        select g.id, p.name as permission from role_groups rg
        join groups g on g.id = rg.group_id and g.deleted_at is null
        join group_permissions gp on gp.group_id = g.id join permissions p on p.id = gp.permission_id
        where rg.role_id = ${role}`,
      );
    expect(await held()).toEqual([{ id: formerId('Role: Query'), permission: 'Role:Query' }]);

    await apply(RENAMING);
    const renamed = [{ id: groupIdOf('Role', 'view'), permission: 'Role:Query' }];
    expect(await held()).toEqual(renamed);
    await seedBuiltIns(db, rows);
    expect(await held()).toEqual(renamed);
    const live = await rowsOf<{ id: string }>(
      db,
      sql`select id from groups where is_system and deleted_at is null`,
    );
    expect(live.map(({ id }) => id).sort()).toEqual(rows.groups.map(({ id }) => id).sort());
  } finally {
    await database.close();
    await rm(directory, { recursive: true, force: true });
  }
}, 120_000);
