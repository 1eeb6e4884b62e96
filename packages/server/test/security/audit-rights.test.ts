import { sql, type SQL } from 'drizzle-orm';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { APP_ROLE } from '../../src/db/tenancy/app-role.ts';
import { prepareDatabase } from '../../src/db/preparation/migrate.ts';
import { openPostgres, type Database } from '../../src/db/connection/open.ts';
import { pgCode } from '../../src/db/statements/pg-error.ts';
import { rowsOf } from '../../src/db/statements/rows.ts';
import { TENANT_ROLE } from '../../src/db/tenancy/tenant-role.ts';
import { eraseBatch } from '../../src/events/audit/erasure.ts';
import type { Executor } from '../../src/kernel/scoped-db.ts';
import { startOwnApp, type TestApp } from '../support/app/app.ts';
import { postgresDatabase, type TestDatabase } from '../support/databases/postgres.ts';

/**
 * On a server the service works as a role that cannot change recorded rows with any statement: because it lacks the
 * privilege, besides the triggers that refuse it too.
 */
const REFUSED = '42501';
const code = (on: Executor, statement: SQL): Promise<string | null> =>
  on.execute(statement).then(
    () => 'done',
    (error: unknown) => pgCode(error),
  );
const userOf = async (pool: Executor) =>
  (await rowsOf<{ name: string }>(pool, sql`select current_user::text as name`))[0]?.name;

describe.skipIf(!inject('postgresUrl'))('the role of the service', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startOwnApp();
    await app.person();
  });
  afterAll(() => app.close());

  const forbidden = [
    sql`delete from audit_log`,
    sql`truncate audit_log`,
    sql`update audit_log set operation = 'x'`,
    sql`update audit_log set hash = repeat('0', 64)`,
    sql`update audit_log set salt = null, previous_hash = repeat('0', 64)`,
    sql`alter table audit_log disable trigger user`,
    sql`drop trigger audit_log_keep on audit_log`,
    sql`drop table audit_log cascade`,
    sql`create or replace function keep_audit_entry() returns trigger language plpgsql as 'begin return old; end'`,
    sql`set session_replication_role = 'replica'`,
    sql`create table public.mine (id int)`,
    sql`truncate nodes cascade`,
    sql`drop schema drizzle cascade`,
    sql`delete from drizzle.__drizzle_migrations`,
  ];

  it('cannot change recorded rows, with triggers and without', async () => {
    expect(await userOf(app.database.pool)).toBe(APP_ROLE);
    const attempts = async () => {
      for (const statement of forbidden) expect(await code(app.database.pool, statement)).toBe(REFUSED);
    };
    await attempts();
    await app.owner.execute(sql`alter table audit_log disable trigger user`);
    await attempts();
    await app.owner.execute(sql`alter table audit_log enable trigger user`);
  });

  it('can clear the personal data of an erasure', async () => {
    const { userId, email } = await app.person();
    const of = sql`select ip_address from audit_log where actor->>'userId' = ${userId} and salt is not null`;
    expect((await rowsOf(app.owner, of)).length).toBeGreaterThan(0);
    await app.database.transaction((tx) => eraseBatch(tx, { id: userId, addresses: [email] }, null));
    expect(await rowsOf(app.owner, of)).toEqual([]);
  });

  it('has the privileges that it needs at every start, also on tables of later migrations, and no others', async () => {
    await app.owner.execute(sql`create table later (id int)`);
    await app.owner.execute(sql`grant all on audit_log to ${sql.identifier(APP_ROLE)}`);
    await app.owner.execute(sql`revoke insert on nodes from ${sql.identifier(APP_ROLE)}`);
    const second = await startOwnApp({}, app);
    expect(await code(second.database.pool, sql`insert into later values (1)`)).toBe('done');
    expect(await code(second.database.pool, sql`delete from audit_log`)).toBe(REFUSED);
    expect((await second.person()).userId).toMatch(/^[0-9a-f-]{36}$/);
    expect(second.logs.join()).not.toContain('only triggers protect');
    await second.close();
  });
});

describe.skipIf(!inject('postgresUrl'))('the user of DATABASE_URL', () => {
  const admin = inject('postgresUrl');
  const migrations = join(import.meta.dirname, '../../migrations');
  const user = `doorward_test_${randomBytes(6).toString('hex')}`;
  let at: TestDatabase;
  const open = (url: string) =>
    openPostgres({
      url,
      poolMax: 1,
      acquireTimeoutMs: 5000,
      maxWaitMs: 5000,
      statementTimeoutMs: 60_000,
      onIdleError: () => undefined,
    });
  async function using<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
    const database = open(url);
    try {
      return await work(database);
    } finally {
      await database.close();
    }
  }
  const asAdmin = (statement: string) => using(at.url, ({ pool }) => pool.execute(sql.raw(statement)));
  const own = (name: string): string => Object.assign(new URL(at.url), { username: name }).href;
  /**
   * Starts as that user, and returns the reason why the privileges were not restricted and the role that works then.
   */
  const started = (name: string, folder: string | null = migrations) =>
    using(own(name), async (database) => {
      const lacking = await prepareDatabase(database, folder, async () => undefined);
      return {
        lacking,
        user: await userOf(database.pool),
        deletes: await code(database.pool, sql`delete from audit_log`),
      };
    });

  beforeAll(async () => {
    at = await postgresDatabase(admin, null);
    await asAdmin(`create role ${user} login; create role ${user}_b login;
      grant create on schema public to ${user}; grant create on database ${new URL(at.url).pathname.slice(1)} to ${user}`);
  });
  afterAll(async () => {
    await at.drop();
    await using(admin, ({ pool }) => pool.execute(sql.raw(`drop role ${user}; drop role ${user}_b`)));
  });

  it('starts unrestricted with a warning where the user may not create the role', async () => {
    const { lacking, ...rest } = await started(user);
    expect(lacking).toEqual([
      expect.stringMatching(/^only triggers protect the audit log.*doorward_app/),
      expect.stringMatching(/separate tenants.*doorward_app/),
    ]);
    expect(rest).toEqual({ user, deletes: 'done' });
  });

  it('works as the role where an administrator has granted it to the user', async () => {
    await asAdmin(`grant ${APP_ROLE} to ${user}`);
    const withoutPolicies = [expect.stringMatching(/separate tenants.*doorward_tenant/)];
    expect(await started(user)).toEqual({ lacking: withoutPolicies, user: APP_ROLE, deletes: REFUSED });
    await asAdmin(`grant ${TENANT_ROLE} to ${user}`);
    expect(await started(user)).toEqual({ lacking: [], user: APP_ROLE, deletes: REFUSED });
    await asAdmin(`revoke ${APP_ROLE}, ${TENANT_ROLE} from ${user}`);
  });

  it('grants the role to its user where it may', async () => {
    await asAdmin(`alter role ${user} createrole`);
    expect(await started(user)).toEqual({ lacking: [], user: APP_ROLE, deletes: REFUSED });
  });

  it('may own nothing, if another user has prepared the database', async () => {
    await asAdmin(`grant ${APP_ROLE}, ${TENANT_ROLE} to ${user}_b`);
    expect(await started(`${user}_b`, null)).toEqual({ lacking: [], user: `${user}_b`, deletes: REFUSED });
  });
});
