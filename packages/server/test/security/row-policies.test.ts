import { sql, type SQL } from 'drizzle-orm';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { APP_ROLE } from '../../src/db/tenancy/app-role.ts';
import { SYSTEM_NODE } from '../../src/schema/nodes.ts';
import { pgCode } from '../../src/db/statements/pg-error.ts';
import {
  policyFunctions,
  serviceOnlyTables,
  POLICY_REVISION,
  rowPolicies,
} from '../../src/db/tenancy/row-policies.ts';
import { preparedRowsOf } from '../../src/db/statements/prepared.ts';
import { rowsOf } from '../../src/db/statements/rows.ts';
import { withoutRls } from '../../src/db/tenancy/rls.ts';
import { TENANT_ROLE } from '../../src/db/tenancy/tenant-role.ts';
import { groups } from '../../src/schema/rights/group.ts';
import type { Executor } from '../../src/kernel/scoped-db.ts';
import { house, type House } from '../contract/world.ts';
import { startOwnApp, type TestApp } from '../support/app/app.ts';

/**
 * Row-level security itself, without the service (decision 0018). `npm run test:rls` shows what it refuses when the
 * service does not filter.
 */
const REFUSED = '42501';
const onServer = inject('postgresUrl') !== '';

describe('code that bypasses row-level security', () => {
  /** Each use of `withoutRls` by file, with its reason. */
  const existing: Readonly<Record<string, string>> = {
    'db/tenancy/free-slug.ts': 'a slug is free in the whole installation',
    'db/tenancy/tenant-tree.ts': 'what goes with a deleted node is below it',
    'members/grant-entries.ts': 'the side of a grant that is left reads that the other has ended',
    'members/account.ts': 'a service user of an account ends wherever it is a member',
    'members/app-sessions.ts':
      'sessions belong to people; their events are recorded in the accounts of those people',
    'members/project-roles.ts': 'what an organization says of a member counts in its projects',
    'members/managed-user.ts': 'whether a managed user is in any tenant still',
    'members/organization.ts': 'a membership ends with what the user has in the projects below',
    'people/installation-operator.ts': 'who operates the installation',
    'people/reserved-addresses.ts': 'who is to operate the installation',
    'tenants/users/import/import-users.ts':
      'addresses, sign-in methods and passwords belong to the installation',
    'rights/policy/operations.ts': 'who has a role that is granted to customers',
    'machines/api-keys/management-key.ts': 'what a key of an account can do in the organizations below',
    'tenants/invitations/invited-grants.ts': 'a granted project is outside of the organization',
    'tenants/grants/by-token.ts': 'the holder of a link answers for a project of somebody else',
    'tenants/grants/offer.ts': 'the owner of the project has a name; mail is queued by the service',
    'tenants/grants/operations.ts': 'the users of a customer, of whom the owner sees name and roles',
    'tenants/grants/organization-grant.ts': 'what a customer sees of a project of somebody else',
    'tenants/grants/organization-operations.ts': 'a customer ends its slice of a project of somebody else',
    'tenants/grants/store.ts': 'slice, project and customer of a grant are different tenants',
    'tenants/grants/transitions.ts': 'the organization of a customer is outside of the project',
    'tenants/invitations/transitions.ts': 'whose an address is; mail is queued by the service',
    'rights/roles/assigned-roles.ts': 'whether the role is assigned to a key of a project below',
  };

  it('is listed by file', () => {
    const src = join(import.meta.dirname, '../../src');
    const users = readdirSync(src, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && path !== join('db', 'tenancy', 'rls.ts'))
      .filter((path) => readFileSync(join(src, path), 'utf8').includes('withoutRls('));
    expect(users.map((path) => path.replaceAll('\\', '/')).sort()).toEqual(Object.keys(existing).sort());
  });

  it('uses policies that have not changed without a new revision', () => {
    const digest = createHash('sha256')
      .update(JSON.stringify([policyFunctions, rowPolicies]))
      .digest('hex');
    // Raise POLICY_REVISION together with this: it is how a start knows that the server has former ones.
    expect([POLICY_REVISION, digest.slice(0, 16)]).toEqual([8, 'd77d3d40ee12efa3']);
  });
});

describe.skipIf(!onServer)('row policies', () => {
  let app: TestApp;
  let alice: House;
  let mallory: House;
  let client: pg.Client;

  beforeAll(async () => {
    app = await startOwnApp({ DATABASE_POOL_MAX: '1' });
    [alice, mallory] = [await house(app), await house(app)];
    client = new pg.Client({ connectionString: app.postgres?.url });
    await client.connect();
  });
  afterAll(async () => {
    await client.end();
    await app.close();
  });

  const nodeOf = ({ places }: House): string => places.organizationProject.scope.id.split(':')[1] as string;
  /** Runs as an operation in that scope, and rolls back. */
  async function asTenant<T>(reach: string, work: () => Promise<T>): Promise<T> {
    await client.query('begin');
    try {
      await client.query(`set local role ${TENANT_ROLE}`);
      await client.query("select set_config('doorward.tenants', $1, true)", [reach]);
      return await work();
    } finally {
      await client.query('rollback');
    }
  }
  const reported = (statement: string, values: unknown[] = []): Promise<string | number | null> =>
    client.query(statement, values).then(
      ({ rowCount }) => rowCount,
      (error: unknown) => pgCode(error),
    );

  const remaining = async () => {
    const match = await rowsOf<{ name: string; secured: boolean; roles: string[]; reached: boolean }>(
      app.owner,
      sql`select c.relname as name, c.relrowsecurity as secured,
        array(select distinct r.rolname::text from pg_policy p, unnest(p.polroles) as one
          join pg_roles r on r.oid = one where p.polrelid = c.oid order by 1) as roles,
        has_table_privilege(${TENANT_ROLE}, c.oid, 'select, insert, update, delete, truncate, references, trigger')
          or has_any_column_privilege(${TENANT_ROLE}, c.oid, 'select, insert, update, references') as reached
      from pg_class c where c.relkind in ('r', 'p', 'v', 'm') and c.relnamespace = 'public'::regnamespace`,
    );
    return Object.fromEntries(match.map(({ name, ...rest }) => [name, rest]));
  };
  const secured = { secured: true, roles: [APP_ROLE, TENANT_ROLE], reached: true };
  const closed = { secured: false, roles: [], reached: false };
  const complete = {
    ...Object.fromEntries(Object.keys(rowPolicies).map((name) => [name, secured])),
    ...Object.fromEntries(Object.keys(serviceOnlyTables).map((name) => [name, closed])),
  };

  it('exist on every table, for both roles, or the scope role has no privilege on it', async () => {
    expect(await remaining()).toEqual(complete);
  });

  it('are restored by a start, also while another process uses the table', async () => {
    for (const change of [
      'alter table roles disable row level security',
      `drop policy doorward_${POLICY_REVISION}_service on tags`,
      `grant update on tags to ${TENANT_ROLE}`,
      `revoke select on nodes from ${TENANT_ROLE}`,
    ])
      await app.owner.execute(sql.raw(change));
    await client.query('begin; lock table roles in access share mode');
    const starting = startOwnApp({}, app);
    const waits = sql`select from pg_locks where relation = 'roles'::regclass and not granted`;
    while ((await rowsOf(app.owner, waits)).length === 0);
    await client.query('commit');
    await (await starting).close();
    expect(await remaining()).toEqual(complete);
    const grants = sql`select has_table_privilege(${TENANT_ROLE}, 'tags', 'update') as moves,
      has_table_privilege(${TENANT_ROLE}, 'nodes', 'select') as reads`;
    expect(await rowsOf(app.owner, grants)).toEqual([{ moves: false, reads: true }]);
  });

  it('are evaluated again for a statement that was planned for another scope', async () => {
    const at = ({ places }: House) => {
      const [parentId = '', nodeId = ''] = places.organizationProject.scope.id.split(':');
      return { nodeId, parentId, level: 'project' as const };
    };
    const places = [at(alice), at(mallory)];
    // Without a filter, so that the policies alone select.
    const statement = sql`select distinct tenant_id as id from groups where tenant_id <> ${SYSTEM_NODE}::uuid`;
    const owners = async (place: (typeof places)[number] | undefined) => {
      const { rls } = app.database;
      const rows = await rls.read(place, (tx) => preparedRowsOf<{ id: string }>(tx, statement));
      return rows.map(({ id }) => id);
    };
    for (let round = 0; round < 30; round++) {
      for (const place of places) {
        const reached = [place.nodeId, place.parentId];
        const seen = await owners(place);
        expect(seen).toContain(place.nodeId);
        expect(seen.filter((id) => !reached.includes(id))).toEqual([]);
      }
      const all = new Set(await owners(undefined));
      expect(places.map(({ nodeId }) => all.has(nodeId))).toEqual([true, true]);
    }
    const planned = sql`select generic_plans > 0 as "isGeneric" from pg_prepared_statements
      where statement like 'select distinct tenant_id as id from groups%'`;
    expect(await rowsOf(app.database.pool, planned)).toEqual([{ isGeneric: true }]);
  });

  it('apply to a role that owns nothing and cannot bypass them', async () => {
    const roles = await rowsOf(
      app.owner,
      sql`select rolname, rolsuper, rolbypassrls, rolcreaterole, rolcanlogin,
        exists (select 1 from pg_class c where c.relowner = r.oid) as owns,
        exists (select 1 from pg_auth_members m where m.member = r.oid) as belongs
      from pg_roles r where rolname in (${APP_ROLE}, ${TENANT_ROLE}) order by 1`,
    );
    const nothing = {
      rolsuper: false,
      rolbypassrls: false,
      rolcreaterole: false,
      rolcanlogin: false,
      owns: false,
      belongs: false,
    };
    expect(roles).toEqual([APP_ROLE, TENANT_ROLE].map((rolname) => ({ rolname, ...nothing })));
  });

  it('return only built-in rows where no session identity is set', async () => {
    await asTenant('', async () => {
      for (const name of Object.keys(rowPolicies)) {
        const { rows } = await client.query<{ row: { tenant_id?: string } }>(
          `select to_jsonb(t) as row from ${name} t`,
        );
        const strange = rows.filter(({ row }) => row.tenant_id !== SYSTEM_NODE);
        expect(strange, name).toEqual([]);
      }
    });
  });

  it('refuse a tenant to read, write, move or delete rows of another one', async () => {
    const mine = nodeOf(alice);
    const theirs = nodeOf(mallory);
    const tables = await rowsOf<{ name: string }>(
      app.owner,
      sql`select table_name as name from information_schema.columns
        where column_name = 'tenant_id' and table_schema = 'public' order by 1`,
    );
    const seen: string[] = [];
    for (const { name } of tables) {
      const where = `tenant_id = '${theirs}'`;
      const attempts = {
        read: `select 1 from ${name} where ${where}`,
        lock: `select 1 from ${name} where ${where} for update`,
        delete: `delete from ${name} where ${where}`,
        move: `update ${name} set tenant_id = '${mine}' where ${where}`,
        'move away': `update ${name} set tenant_id = '${theirs}'`,
        // Only the tenant is set: the policy is checked before the other constraints of a row.
        add: `insert into ${name} (tenant_id) values ('${theirs}')`,
      };
      for (const [what, statement] of Object.entries(attempts)) {
        const outcome = await asTenant(mine, () => reported(statement));
        expect([0, REFUSED], `${what} ${name}: ${outcome}`).toContain(outcome);
      }
      // The rows exist and are visible to their owner: the policy is what refuses.
      if ((await asTenant(theirs, () => reported(attempts.read))) !== 0) seen.push(name);
    }
    expect(seen.length, seen.join()).toBeGreaterThan(12);
  });

  it('keep built-in rows and those of the owner unchanged', async () => {
    const builtIn = `update roles set name = 'x' where tenant_id = '${SYSTEM_NODE}'`;
    await asTenant(nodeOf(alice), async () => {
      expect(
        await reported(`select 1 from roles where tenant_id = '${SYSTEM_NODE}' for share`),
      ).toBeGreaterThan(0);
      expect(await reported(builtIn)).toBe(REFUSED);
    });
    const owner = alice.places.organization.scope.id;
    const ofOwner = `roles where tenant_id = '${owner}'`;
    await asTenant(nodeOf(alice), async () => {
      expect(await reported(`select 1 from ${ofOwner}`)).toBe(0);
      await client.query("select set_config('doorward.owner', $1, true)", [owner]);
      expect(await reported(`select 1 from ${ofOwner}`)).toBeGreaterThan(0);
      expect(await reported(`delete from ${ofOwner}`)).toBe(0);
      expect(await reported(`update roles set name = 'x' where tenant_id = '${owner}'`)).toBe(REFUSED);
    });
  });

  describe('and the session identity', () => {
    const identity = async (on: Executor) =>
      (
        await rowsOf<{ role: string; reach: string }>(
          on,
          sql`select current_user::text as role, coalesce(current_setting('doorward.tenants', true), '') as reach`,
        )
      )[0];
    const scopeOf = (nodeId: string) => ({ nodeId, parentId: null, level: 'account' as const });
    const service = { role: APP_ROLE, reach: '' };

    it('ends with the transaction, so that the next statement on the connection is outside of that scope', async () => {
      const { pool, rls, transaction } = app.database;
      const [a, b] = [scopeOf(alice.person.account.id), scopeOf(mallory.person.account.id)];
      const of = ({ nodeId }: typeof a) => ({ role: TENANT_ROLE, reach: nodeId });
      expect(await rls.read(a, identity)).toEqual(of(a));
      expect(await identity(pool)).toEqual(service);
      expect(await rls.read(b, identity)).toEqual(of(b));
      expect(await rls.read(a, identity)).toEqual(of(a));
      expect(await rls.read(undefined, identity)).toEqual(service);
      const seen = await transaction(async (tx) => [
        await identity(tx),
        await rls.within(tx, b, () => identity(tx)),
        await identity(tx),
        await rls.within(tx, b, () => withoutRls(tx, () => identity(tx))),
        await rls.within(tx, b, async () => (await withoutRls(tx, () => identity(tx)), identity(tx))),
      ]);
      const roles = [APP_ROLE, TENANT_ROLE, APP_ROLE, APP_ROLE, TENANT_ROLE];
      expect(seen.map((item) => item?.role)).toEqual(roles);
      expect(await identity(pool)).toEqual(service);
    });

    it('applies to statements that are sent at once too', async () => {
      const scopes = [alice, mallory].map(({ person }) => scopeOf(person.account.id));
      const seen = await Promise.all(
        scopes.map((scope) =>
          app.database.rls.read(scope, (tx) => Promise.all([identity(tx), identity(tx), identity(tx)])),
        ),
      );
      expect(seen.map((each) => new Set(each.map((item) => item?.reach)))).toEqual(
        scopes.map(({ nodeId }) => new Set([nodeId])),
      );
    });

    it('ends with a transaction that failed in it', async () => {
      const { pool, rls, transaction } = app.database;
      const scope = scopeOf(alice.person.account.id);
      const failing = (statement: SQL) =>
        transaction((tx) => rls.within(tx, scope, async () => tx.execute(statement)));
      await expect(failing(sql`select 1 / 0`)).rejects.toThrow();
      expect(await identity(pool)).toEqual(service);
      await expect(rls.read(scope, async (tx) => tx.execute(sql`select 1 / 0`))).rejects.toThrow();
      expect(await identity(pool)).toEqual(service);
      // What a policy refuses looks to the caller as if it did not exist.
      const foreign = sql`insert into tags (id, tenant_id, name) values (${SYSTEM_NODE}, ${nodeOf(mallory)}, 'x')`;
      await expect(failing(foreign)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    });

    it('does not allow writes in a read-only operation', async () => {
      const scope = scopeOf(alice.person.account.id);
      const writing = app.database.rls.read(scope, async (tx) => tx.delete(groups));
      expect(await writing.then(() => null, pgCode)).toBe('25006');
    });
  });
});
