import type { StatsFs } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { sql } from 'drizzle-orm';
import type pg from 'pg';
import type { Config } from '../../config/config.ts';
import { assertSessionPooling } from '../../db/preparation/session-pooling.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import { APP_ROLE } from '../../db/tenancy/app-role.ts';
import { TENANT_ROLE } from '../../db/tenancy/tenant-role.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { migrationsOf } from '../migrations.ts';
import { attempt, counted, fail, ok, skip, warn, type Check } from './check.ts';

const LEAST_VERSION = 15;
const LEAST_BYTES = 1024 ** 3;

/** Checks the version of PostgreSQL and the migrations. */
export async function checkDatabase(db: Executor | null): Promise<Check[]> {
  if (!db) return [skip('database', 'none yet: the first start creates it')];
  const [row] = await rowsOf<{ number: string }>(
    db,
    sql`select current_setting('server_version_num') as number`,
  );
  const version = Math.floor(Number(row?.number ?? 0) / 10_000);
  return [
    version < LEAST_VERSION
      ? fail('database', `PostgreSQL ${version} is too old`, `use PostgreSQL ${LEAST_VERSION} or newer`)
      : ok('database', `PostgreSQL ${version} answers`),
    await checkMigrations(db),
  ];
}

async function checkMigrations(db: Executor): Promise<Check> {
  const { migrations, unknown } = await migrationsOf(db);
  const pending = migrations.filter(({ state }) => state === 'pending').length;
  if (unknown > 0)
    return warn(
      'migrations',
      `${counted(unknown, 'migration')} of a newer version`,
      'run the newer version everywhere, unless an upgrade is going on',
    );
  return pending > 0
    ? warn('migrations', `${counted(pending, 'migration')} pending`, 'doorward migrate, or start the service')
    : ok('migrations', `all ${migrations.length} are applied`);
}

/** Checks the roles and row-level security of a database server; the embedded database has a single user. */
export async function checkRoles(db: Executor): Promise<Check> {
  const rows = await rowsOf<{ role: string; member: boolean; bypass: boolean }>(
    db,
    sql`select rolname as role, pg_has_role(oid, 'member') as member, rolsuper or rolbypassrls as bypass
      from pg_roles where rolname in (${APP_ROLE}, ${TENANT_ROLE})`,
  );
  const fix = 'let the user of DATABASE_URL create roles once: docs/operating/postgresql.md';
  for (const name of [APP_ROLE, TENANT_ROLE]) {
    const row = rows.find(({ role }) => role === name);
    if (!row) return warn('roles', `${name} does not exist`, fix);
    if (!row.member) return warn('roles', `the user of DATABASE_URL is not a member of ${name}`, fix);
    if (row.bypass)
      return fail(
        'roles',
        `${name} bypasses row-level security`,
        `alter role ${name} nobypassrls nosuperuser`,
      );
  }
  const [nodes] = await rowsOf<{ on: boolean }>(
    db,
    sql`select relrowsecurity as "on" from pg_class where oid = 'nodes'::regclass`,
  );
  return nodes?.on === true
    ? ok('roles', 'the service has its own roles, and row-level security is on')
    : warn('roles', 'row-level security is off', fix);
}

/** Checks that NOTIFY reaches LISTEN, which a pooler in transaction mode prevents. */
export const checkPooling = (client: pg.Client, { database }: Config): Promise<Check[]> =>
  attempt('pooling', 'docs/operating/postgresql.md', async () => {
    const connection = { connectionString: database.url, connectionTimeoutMillis: database.acquireTimeoutMs };
    await assertSessionPooling(client, connection);
    return ok('pooling', 'each connection has its own session');
  });

export async function checkDisk(directory: string): Promise<Check[]> {
  return attempt('disk', 'create the directory, or correct DATA_DIR', async () => {
    const { bavail, bsize } = await diskOf(resolve(directory));
    const bytes = bavail * bsize;
    const text = `${(bytes / 1024 ** 3).toFixed(1)} GiB are free at DATA_DIR`;
    return bytes < LEAST_BYTES
      ? warn('disk', text, 'make room: a full disk stops every change')
      : ok('disk', text);
  });
}

/**
 * The disk of a directory. The first start creates the directory, so the nearest existing parent is used until then.
 */
async function diskOf(directory: string): Promise<StatsFs> {
  return statfs(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' || dirname(directory) === directory) throw error;
    return diskOf(dirname(directory));
  });
}

/** Compares the clocks of this machine and of the database. */
export async function checkDatabaseClock(db: Executor, now: () => number): Promise<Check> {
  const before = now();
  const [row] = await rowsOf<{ ms: string }>(
    db,
    sql`select (extract(epoch from clock_timestamp()) * 1000)::bigint::text as ms`,
  );
  const middle = (before + now()) / 2;
  return clockCheck('the database', Number(row?.ms ?? 0) - middle);
}

/** @param differenceMs how far the other clock is ahead */
function clockCheck(other: string, differenceMs: number): Check {
  const seconds = Math.abs(differenceMs) / 1000;
  const text = `this clock and that of ${other} differ by ${seconds.toFixed(1)} s`;
  const fix = 'synchronize the clocks with NTP: tokens and second factors depend on the time';
  if (seconds > 30) return fail('clock', text, fix);
  return seconds > 2 ? warn('clock', text, fix) : ok('clock', text);
}
